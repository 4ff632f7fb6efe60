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
	"github.com/turnspec/turnspec/adapters/backend/internal/interleave"
	"github.com/turnspec/turnspec/adapters/event"
)

// openInterrupt is an interrupt without an answer.
type openInterrupt struct {
	name  string // of its component
	call  string
	at    interleave.Place
	reply chan event.Raw // closed without a value if it is withdrawn
}

func (s *session) askUser(ctx context.Context, who caller, d event.Interrupt) (event.Raw, error) {
	k := &openInterrupt{name: d.ComponentName, call: who.call, reply: make(chan event.Raw, 1)}
	err := s.changeStage(ctx, who, func(at interleave.Place) ([]event.Data, error) {
		if err := s.stage.reg.Check(d.ComponentName, d.Surface, d.Props); err != nil {
			return nil, err
		}
		d.InterruptID = "component-" + who.call
		if who.call == "" || s.interrupts[d.InterruptID] != nil {
			d.InterruptID = fmt.Sprintf("component-%d", s.LastSeq()+1) // unique, also if the session is resumed
		}
		k.at = at
		s.interrupts[d.InterruptID] = k
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
		case <-s.Done():
			return nil, adapters.ErrClosed
		}
	}
	// No caller waits for the answer any more. If the stream has ended, neither does the interrupt.
	_ = s.Do(context.WithoutCancel(ctx), func(reply func(error)) {
		s.withdrawInterrupts(func(x *openInterrupt) bool { return x == k })
		reply(nil)
	})
	return nil, err
}

// withdrawInterrupts resolves the matching open interrupts without an answer.
func (s *session) withdrawInterrupts(which func(*openInterrupt) bool) {
	for _, id := range slices.Sorted(maps.Keys(s.interrupts)) {
		if k := s.interrupts[id]; which(k) {
			delete(s.interrupts, id)
			s.Insert(k.at, event.InterruptResolved{InterruptID: id, Value: event.Raw("null"), By: event.ByWithdrawn}, nil)
			close(k.reply)
		}
	}
}

// Answer implements adapters.Session. If an interrupt of this package is answered by
// a decision without a value, the value is {"approved":true}, or false with the
// message.
func (s *session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	answered := errors.New("answered here")
	err := s.Do(ctx, func(reply func(error)) {
		k := s.interrupts[id]
		if k == nil {
			reply(nil)
			return
		}
		v, by := valueOf(a), a.By
		if by == "" {
			by = event.ByUser
		}
		delete(s.interrupts, id)
		s.Insert(k.at, event.InterruptResolved{InterruptID: id, Value: v, By: by}, func() { k.reply <- v })
		reply(answered)
	})
	switch {
	case err == nil || errors.Is(err, adapters.ErrClosed):
		return s.Session.Answer(ctx, id, a)
	case !errors.Is(err, answered):
		return err
	case a.Decision == event.DecisionCancel:
		return s.Stop(ctx)
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
