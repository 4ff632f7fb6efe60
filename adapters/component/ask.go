package component

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// asked is an interrupt that is open.
type asked struct {
	name  string // of its component
	call  string
	at    place
	reply chan event.Raw // closed without a value when it is withdrawn
}

func (s *session) ask(ctx context.Context, who caller, d event.Interrupt) (event.Raw, error) {
	k := &asked{name: d.ComponentName, call: who.call, reply: make(chan event.Raw, 1)}
	err := s.perform(ctx, who, func(at place) ([]event.Data, error) {
		if err := s.stage.reg.Check(d.ComponentName, d.Surface, d.Props); err != nil {
			return nil, err
		}
		d.InterruptID = "component-" + who.call
		if who.call == "" || s.asks[d.InterruptID] != nil {
			d.InterruptID = fmt.Sprintf("component-%d", s.seq+1) // no other event has that, in no resume
		}
		k.at = at
		s.asks[d.InterruptID] = k
		return []event.Data{d}, nil
	})
	if err == nil {
		select {
		case v, answered := <-k.reply:
			if answered {
				return v, nil
			}
			err = errors.New("the question was withdrawn")
		case <-ctx.Done():
			err = ctx.Err()
		case <-s.done:
			return nil, adapters.ErrClosed
		}
	}
	select { // nobody waits for it any more
	case s.inbox <- func() { s.withdraw(func(x *asked) bool { return x == k }) }:
	case <-s.done:
	}
	return nil, err
}

// withdraw resolves open interrupts without an answer.
func (s *session) withdraw(which func(*asked) bool) {
	for _, id := range slices.Sorted(maps.Keys(s.asks)) {
		if k := s.asks[id]; which(k) {
			delete(s.asks, id)
			s.put(k.at, event.InterruptResolved{InterruptID: id, Value: event.Raw("null"), By: event.ByWithdrawn}, nil)
			close(k.reply)
		}
	}
}

// Answer implements adapters.Session. To an interrupt of this package's a decision
// without a value is {"approved":true}, or false with the message.
func (s *session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	mine := errors.New("mine")
	err := s.do(ctx, func(reply func(error)) {
		k := s.asks[id]
		if k == nil {
			reply(nil)
			return
		}
		v, by := valueOf(a), a.By
		if by == "" {
			by = event.ByUser
		}
		delete(s.asks, id)
		s.put(k.at, event.InterruptResolved{InterruptID: id, Value: v, By: by}, func() { k.reply <- v })
		reply(mine)
	})
	switch {
	case err == nil || errors.Is(err, adapters.ErrClosed):
		return s.inner.Answer(ctx, id, a)
	case !errors.Is(err, mine):
		return err
	case a.Decision == event.DecisionCancel:
		return s.inner.Stop(ctx)
	}
	return nil
}

func valueOf(a adapters.Answer) event.Raw {
	if len(a.Value) > 0 {
		return a.Value.Clone()
	}
	b, err := json.Marshal(struct {
		Approved bool   `json:"approved"`
		Message  string `json:"message,omitempty"`
	}{a.Decision == event.DecisionAllow, strings.ToValidUTF8(a.Message, "\uFFFD")})
	if err != nil {
		return event.Raw("null") // unreachable
	}
	return b
}
