package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
)

// Contender is a subject or a control: it reads a stream.
type Contender struct {
	Name    string
	Control bool

	// perform runs one session and records it in w. It calls both waits of start, in
	// order.
	perform func(ctx context.Context, at place, st *start, w *watched) error
	// all runs all sessions in a separate program, instead of perform.
	all func(ctx context.Context, places []place, text string, o *observed) (usage, error)

	alone    bool // it reads no wire, so the stand-in plays alone
	external bool // its cost is not that of this program
	counts   bool // its allocations can be counted
	slow     bool // a slow listener affects it
}

// place is where a session finds its runtime.
type place struct {
	launch  proc.Launcher
	program string // its path
	socket  string // of a host, used instead of the program; "" if there is none
	env     []string
	dir     string // the working directory

	listen time.Duration // time that the listener takes for an event
	encode bool          // encode events as NDJSON
}

// Subject returns the contender for an adapter.
func Subject(s conformance.Subject) Contender {
	_, external := s.(conformance.External)
	return Contender{
		Name: s.Name(), external: external, counts: !external, slow: !external,
		perform: func(ctx context.Context, at place, st *start, w *watched) error {
			return performSubject(ctx, s, at, st, w)
		},
	}
}

func performSubject(ctx context.Context, s conformance.Subject, at place, st *start, w *watched) error {
	w.clicked = w.o.now()
	sess, err := s.Open(ctx, conformance.Open{
		Opening: op.Opening{
			Command: []string{at.program}, Dir: at.dir,
			SessionID: "s1", Mode: st.mode,
		},
		Launch: at.launch, Env: at.env,
		Ask: st.mode != adapters.ModeNever,
	})
	if err != nil {
		st.ready()
		return fmt.Errorf("open: %w", err)
	}
	terminal, drained := make(chan struct{}), make(chan struct{})
	go readEvents(sess, at, w, terminal, drained)
	w.bound = w.o.now()
	st.ready()
	if err := st.waitForAll(ctx); err != nil {
		return errors.Join(err, sess.Close(ctx))
	}
	w.sent = w.o.now()
	if err = sess.Send(ctx, adapters.Message{ID: "m1", Text: st.text}); err == nil {
		w.accepted = w.o.now()
		select {
		case <-terminal:
		case <-drained:
			err = errors.New("the events ended before the turn did")
		case <-ctx.Done():
			err = fmt.Errorf("the turn did not end: %d of %d deltas came", w.count, len(w.seen))
		}
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	err = errors.Join(err, sess.Close(closing))
	select {
	case <-drained:
	case <-closing.Done():
		err = errors.Join(err, errors.New("the events were not closed"))
	}
	return err
}

// readEvents reads the events of a session.
func readEvents(sess adapters.Session, at place, w *watched, terminal, drained chan<- struct{}) {
	defer close(drained)
	holds, _ := sess.(interface {
		Backlog() (int, time.Duration)
	})
	w.holds = holds != nil
	encoder := event.NewEncoder(io.Discard)
	for e := range sess.Events() {
		ended := w.terminal
		w.addEvent(e)
		if w.terminal && !ended {
			close(terminal)
		}
		if at.encode {
			_ = encoder.Encode(e) // writes to io.Discard
		}
		if holds != nil && w.o.plan.Rate > 0 {
			depth, age := holds.Backlog()
			w.heldDepth, w.heldAge = max(w.heldDepth, depth), max(w.heldAge, age)
		}
		if at.listen > 0 && !w.terminal {
			time.Sleep(at.listen)
		}
	}
}

// start lets the sessions of a trial send when all are open, spread over the time
// between two deltas.
type start struct {
	played
	ready  func()
	opened <-chan struct{} // closed when all sessions are open
	after  time.Duration
}

func (s *start) waitForAll(ctx context.Context) error {
	select {
	case <-s.opened:
	case <-ctx.Done():
		return ctx.Err()
	}
	time.Sleep(s.after)
	return nil
}
