package conformance_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// mine is a minimal third-party adapter for Claude Code: it supports only text.
type mine struct{}

func (mine) Name() string    { return "mine" }
func (mine) Runtime() string { return "claude" }

func (mine) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	const id = "11111111-1111-4111-8111-111111111111"
	p, err := o.Launch.Launch(ctx, proc.Command{Dir: o.Dir, Env: o.Env, Argv: append([]string{"claude", "-p", "--verbose",
		"--input-format", "stream-json", "--output-format", "stream-json", "--include-partial-messages", "--session-id", id}, o.Args...)})
	if err != nil {
		return nil, err
	}
	s := &session{process: p, events: make(chan event.Event)}
	go s.read(id)
	return s, nil
}

type session struct {
	process proc.Process
	events  chan event.Event
	seq     int64
}

func (s *session) emit(turn int, d event.Data) {
	s.seq++
	s.events <- event.Event{Seq: s.seq, TS: time.Now().UTC(), SessionID: "s1", Turn: turn, Data: d}
}

// read turns the runtime's lines into events.
func (s *session) read(id string) {
	defer close(s.events)
	go func() { _, _ = io.Copy(io.Discard, s.process.Stderr()) }()
	s.emit(0, event.SessionReady{SessionID: "s1", Runtime: "claude", ProviderSessionID: id})
	turn := 0
	for lines := bufio.NewScanner(s.process.Stdout()); lines.Scan(); {
		var m struct {
			Type, Subtype string
			Event         struct{ Delta struct{ Text string } }
		}
		switch err := json.Unmarshal(lines.Bytes(), &m); {
		case err != nil:
		case m.Subtype == "init":
			turn++
			s.emit(turn, event.TurnStart{Cause: event.CauseUser})
		case m.Event.Delta.Text != "":
			s.emit(turn, event.Delta{Text: m.Event.Delta.Text, MessageID: "a", BlockID: "b"})
		case m.Type == "result":
			s.emit(turn, event.Done{})
		}
	}
	s.emit(0, event.SessionEnd{Reason: "closed"})
}

func (s *session) Send(_ context.Context, m adapters.Message) error {
	if len(m.Attachments) > 0 {
		return adapters.ErrUnsupported // a step that mine cannot run is not expressible
	}
	content, err := json.Marshal(m.Text)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.process.Stdin(), `{"type":"user","message":{"role":"user","content":%s}}`+"\n", content)
	return err
}

func (s *session) Events() <-chan event.Event { return s.events }

func (s *session) Close(context.Context) error {
	proc.End(s.process, proc.Grace{Stdin: time.Second, Term: time.Second})
	return nil
}

var errNotYet = errors.New("mine cannot do that yet")

func (s *session) Answer(context.Context, string, adapters.Answer) error { return errNotYet }
func (s *session) Stop(context.Context) error                            { return errNotYet }

// The suite compares a third-party adapter's events with what the model sent. This
// adapter delivers the text, but fails when the runtime crashes.
func Example() {
	judges, err := checks.Named("text.once", "turn.one-terminal", "turn.crash-ends")
	if err != nil {
		fmt.Println(err)
		return
	}
	rep, err := runner.Run(context.Background(), conformance.Config{
		Corpus:   fixtures.Embedded(),
		Subjects: []conformance.Subject{mine{}},
		Checks:   judges,
		Cases:    []string{"claude/newest/text/plain"},
		Tiers:    []conformance.Tier{conformance.TierWitness},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rep.Results {
		fmt.Println(r.Check.ID, r.Verdict)
	}
	// Output:
	// text.once pass
	// turn.one-terminal pass
	// turn.crash-ends fail
}
