package component

import (
	"context"
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/internal/interleave"
	"github.com/turnspec/turnspec/adapters/event"
)

// maxAhead is how many events may be unread before a change by the user or the host
// is rejected. Agents wait instead.
const maxAhead = 1024

// ErrBacklog is returned if too many events are unread.
var ErrBacklog = errors.New("too many events are unread")

// session inserts events between those of another session. The goroutine of the
// interleave.Session owns the stage too.
type session struct {
	*interleave.Session

	stage      *Stage
	interrupts map[string]*openInterrupt // by interrupt_id
}

// caller is who changes the stage: an agent with a call, or the user or the host.
type caller struct {
	agent bool
	call  string // the id of the call, if the runtime sends it
}

func newSession(stage *Stage, o adapters.Options) *session {
	s := &session{stage: stage, interrupts: map[string]*openInterrupt{}}
	s.Session = interleave.New(o, interleave.Hooks{
		Before: s.beforeEvent,
		Added:  func(e event.Event) { stage.Add(e) },
		End:    func() { s.withdrawInterrupts(func(*openInterrupt) bool { return true }) },
	})
	return s
}

// beforeEvent withdraws the interrupts that an event of the inner session ends.
func (s *session) beforeEvent(e event.Event) {
	switch d := e.Data.(type) {
	case event.ToolResult:
		s.withdrawInterrupts(func(k *openInterrupt) bool { return k.call == d.ToolUseID })
	case event.Done, event.Error:
		if e.SubagentID == "" {
			s.withdrawInterrupts(func(k *openInterrupt) bool { return k.at.Subagent == "" && k.at.Turn == e.Turn || e.Turn == 0 })
		}
	}
}

// changeStage makes a change of the stage and queues its events. A change by an agent's
// call is made after the tool_start of the call, and changeStage returns when its
// events have been read. Any other change belongs to the running turn.
func (s *session) changeStage(ctx context.Context, who caller, change func(at interleave.Place) ([]event.Data, error)) error {
	return s.Do(ctx, func(reply func(error)) {
		makeChange := func(at interleave.Place, err error) {
			if err == nil {
				err = ctx.Err()
			}
			var events []event.Data
			if err == nil {
				events, err = change(at)
			}
			if !who.agent || len(events) == 0 {
				defer reply(err)
			}
			for i, d := range events {
				var then func()
				if who.agent && i == len(events)-1 {
					then = func() { reply(nil) }
				}
				s.Insert(at, d, then)
			}
		}
		switch {
		case s.Ended():
			reply(adapters.ErrClosed)
		case !who.agent && s.Unread() >= maxAhead:
			reply(ErrBacklog)
		case who.call == "":
			makeChange(interleave.Place{Turn: s.Turn()}, nil)
		default:
			s.AtCall(who.call, makeChange)
		}
	})
}

// The operations of the tools.

func (s *session) updateComponent(ctx context.Context, who caller, d event.ComponentUpdate) error {
	return s.changeStage(ctx, who, func(interleave.Place) ([]event.Data, error) {
		if _, err := s.stage.updated(d); err != nil {
			return nil, err
		}
		if d.ComponentID == adapters.StateComponentID {
			return nil, errors.New("only patches change the state")
		}
		d.Props = d.Props.Clone()
		return []event.Data{d}, nil
	})
}

func (s *session) removeComponent(ctx context.Context, who caller, id string) error {
	return s.changeStage(ctx, who, func(interleave.Place) ([]event.Data, error) {
		if id == adapters.StateComponentID || s.stage.component(id) == nil {
			return nil, nil
		}
		return []event.Data{event.ComponentRemove{ComponentID: id}}, nil
	})
}

func (s *session) changeState(ctx context.Context, who caller, c Change) (State, error) {
	by := ByUser
	if who.agent {
		by = ByAgent
	}
	var now State
	err := s.changeStage(ctx, who, func(interleave.Place) ([]event.Data, error) {
		next, events, err := s.stage.planChange(c, by)
		now = next
		return events, err
	})
	if err != nil {
		return State{}, err
	}
	return now, nil
}

func (s *session) readState(ctx context.Context) (State, error) {
	var now State
	err := s.Do(ctx, func(reply func(error)) {
		now = s.stage.State()
		reply(nil)
	})
	if err != nil {
		return State{}, err
	}
	return now, nil
}
