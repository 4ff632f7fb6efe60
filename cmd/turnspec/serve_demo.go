package main

import (
	"context"
	"os"
	"sync"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/fixtures"
)

// replayed is an adapter whose sessions replay a case: the runtime is the stand-in, and
// the messages are the recorded ones.
type replayed struct {
	adapters.Adapter
	command  []string
	messages []string
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
	return &replayedSession{Session: s, messages: r.messages}, nil
}

// replayedSession sends the recorded messages.
type replayedSession struct {
	adapters.Session
	mu       sync.Mutex
	messages []string
}

// Unwrap lets adapters.As find the abilities of the session.
func (r *replayedSession) Unwrap() adapters.Session { return r.Session }

// Send implements adapters.Session.
func (r *replayedSession) Send(ctx context.Context, m adapters.Message) error {
	r.mu.Lock()
	if len(r.messages) > 0 {
		m.Text, r.messages = r.messages[0], r.messages[1:]
	}
	r.mu.Unlock()
	return r.Session.Send(ctx, m)
}
