package broken

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
)

// telling are broken in what their acts return.
func telling() []Adapter {
	return []Adapter{
		{
			Name: "answers-and-fails", Sentence: "says of an answer that it could not be given, and has given it",
			Fails:    []string{"session.acts-told"},
			mutation: mutation{answered: func(error) error { return errors.New("answer: no reply") }},
		},
		{
			Name: "takes-what-comes-late", Sentence: "takes a message when the session has ended, and drops it",
			Fails: []string{"session.ended-refuses"},
			mutation: mutation{sent: func(err error) error {
				if errors.Is(err, adapters.ErrClosed) {
					return nil
				}
				return err
			}},
		},
		{
			Name: "abandons-its-tools", Sentence: "leaves a tool alone whose answer nobody wants any more, and does not wait for it",
			Fails: []string{"session.leaves-nothing"},
			mutation: opening(func(o *conformance.Open) {
				o.Tools = slices.Clone(o.Tools)
				for i, t := range o.Tools {
					o.Tools[i].Call = func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
						done := make(chan func() (adapters.ToolAnswer, error), 1)
						go func() { a, err := t.Call(ctx, c); done <- func() (adapters.ToolAnswer, error) { return a, err } }()
						select {
						case reply := <-done:
							return reply()
						case <-ctx.Done():
							return adapters.ToolAnswer{}, ctx.Err()
						}
					}
				}
			}),
		},
		{
			Name: "ends-what-is-idle", Sentence: "closes the runtime's stdin when nobody has asked for anything for ten minutes",
			Fails: []string{"session.idle-lives"},
			mutation: mutation{launched: func(p proc.Process) proc.Process {
				timer := time.AfterFunc(10*time.Minute, func() { _ = p.Stdin().Close() })
				go func() { p.Wait(); timer.Stop() }()
				return p
			}},
		},
		{
			Name: "waits-to-be-heard", Sentence: "closes a session when all of its events were taken, and not before",
			Fails:    []string{"session.close-unheard"},
			mutation: mutation{heard: true},
		},
		{
			Name: "waits-for-every-reply", Sentence: "does not look whether the context of an Open or a message has ended",
			Fails:    []string{"session.gives-up"},
			mutation: mutation{within: context.WithoutCancel},
		},
	}
}

// passOn passes events on, however long nobody takes them, and tells when all were
// taken.
func passOn(in <-chan event.Event) (<-chan event.Event, chan struct{}) {
	out, passed := make(chan event.Event), make(chan struct{})
	go func() {
		defer close(passed)
		defer close(out)
		for e := range in {
			out <- e
		}
	}()
	return out, passed
}
