package main

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/fixtures"
)

// replayed is an adapter whose sessions replay a case: the runtime is the stand-in, and
// the messages are the recorded ones. If exact is set, sessions refuse a message or an answer that
// the recording does not have.
type replayed struct {
	adapters.Adapter
	exact    bool
	command  []string
	messages []string
	answers  []bool // whether each permission request of the recording was allowed
}

// newReplayed returns the adapter for the newest case that a pattern matches.
func newReplayed(pattern, speed string) (*replayed, error) {
	c, err := oneCase(fixtures.Embedded(), pattern)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	scn, err := fixtures.LoadScenario(c.Scenario)
	if err != nil {
		return nil, err
	}
	r := &replayed{
		Adapter: reference.Of(c.Runtime),
		command: []string{self, "play", c.Runtime, "--case", c.ID, "--speed", speed},
	}
	for _, s := range scn.Client {
		if s.SendsMessage() {
			r.messages = append(r.messages, s.Text)
		}
		if s.Verb == fixtures.VerbAnswer && s.What != fixtures.AnswerValue {
			r.answers = append(r.answers, s.Allows())
		}
	}
	return r, nil
}

// Open implements adapters.Adapter.
func (r *replayed) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	o.Command = r.command
	s, err := r.Adapter.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &replayedSession{Session: s, exact: r.exact, messages: r.messages, answers: r.answers}, nil
}

// replayedSession sends the recorded messages.
type replayedSession struct {
	adapters.Session
	exact    bool
	mu       sync.Mutex
	messages []string
	answers  []bool
}

// Unwrap lets adapters.As find the abilities of the session.
func (r *replayedSession) Unwrap() adapters.Session { return r.Session }

// Send implements adapters.Session.
func (r *replayedSession) Send(ctx context.Context, m adapters.Message) error {
	r.mu.Lock()
	if len(r.messages) == 0 && r.exact {
		r.mu.Unlock()
		return fmt.Errorf("%w: this is a demo, and its recording has no further message: open another session, or serve a runtime with --runtime", adapters.ErrRefused)
	}
	if len(r.messages) > 0 {
		m.Text, r.messages = r.messages[0], r.messages[1:]
	}
	r.mu.Unlock()
	return r.Session.Send(ctx, m)
}

// Answer implements adapters.Session.
func (r *replayedSession) Answer(ctx context.Context, id string, a adapters.Answer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.exact || a.Value != nil || len(r.answers) == 0 {
		return r.Session.Answer(ctx, id, a)
	}
	if allowed := r.answers[0]; allowed != (a.Decision == event.DecisionAllow) {
		what := map[bool]string{true: "allowed", false: "denied"}[allowed]
		return fmt.Errorf("%w: this is a demo, and in its recording the call was %s: answer so, or choose another recording with --case", adapters.ErrRefused, what)
	}
	err := r.Session.Answer(ctx, id, a)
	if err == nil {
		r.answers = r.answers[1:]
	}
	return err
}
