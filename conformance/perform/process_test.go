package perform_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/chat"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

func TestMain(m *testing.M) {
	conformance.Main()
	os.Exit(m.Run())
}

// performed lets a reference adapter perform a case.
func performed(t *testing.T, id string, play func(conformance.Subject, perform.Recording, *fault.Fault) *conformance.Run) *conformance.Run {
	t.Helper()
	c, err := fixtures.LoadCase(id)
	if err != nil {
		t.Fatal(err)
	}
	scn, err := fixtures.LoadScenario(c.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	life, err := fixtures.LoadReadReplies(c.Runtime, c.Version)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a runtime may answer no reads
		t.Fatal(err)
	}
	s := backend.Adapter("claude", claude.New())
	switch c.Runtime {
	case "codex":
		s = backend.Adapter("codex", codex.New())
	case "chat":
		s = backend.Adapter("chat", chat.New())
	}
	return play(s, perform.Recording{Case: c, Scenario: scn, Lifecycle: life}, nil)
}

func inProcess(s conformance.Subject, rec perform.Recording, f *fault.Fault) *conformance.Run {
	return perform.Process(context.Background(), s, rec, f)
}

// TestProcessEmitsTheEventsOfVirtual checks that a replay in real time has the event
// types of the replay in virtual time.
func TestProcessEmitsTheEventsOfVirtual(t *testing.T) {
	for _, id := range []string{
		"claude/newest/text/plain", "codex/newest/permission/deny-then-stop", "claude/newest/stop/mid-text",
		"claude/newest/session/resume-in-a-new-process", "codex/newest/session/resume-in-a-new-process",
		"chat/1-plain/queue/one-of-two-withdrawn",
		"chat/1-plain/mcp/with-variables", "chat/1-plain/mcp/over-server-sent-events-with-a-header", "chat/1-plain/mcp/fails-to-start",
		"chat/1-plain/mcp/tells-of-progress", "chat/1-plain/mcp/stopped-in-mid-call",
	} {
		t.Run(id, func(t *testing.T) {
			g := gomega.NewWithT(t)
			r := performed(t, id, inProcess)
			for _, a := range r.Steps {
				t.Log(a.Step.Verb, a.Step.What, a.At, a.Err)
			}
			g.Expect(r.Harness).To(gomega.BeEmpty())
			g.Expect(r.Hang).To(gomega.BeEmpty())
			g.Expect(r.Unrecorded).To(gomega.BeEmpty())
			g.Expect(r.Violations).To(gomega.BeEmpty())
			g.Expect(r.LeftRunning).To(gomega.BeZero())
			virtual := performed(t, id, perform.Virtual)
			g.Expect(typesOf(r)).To(gomega.Equal(typesOf(virtual)))
		})
	}
}

func typesOf(r *conformance.Run) (out []event.Type) {
	for _, e := range r.Events {
		out = append(out, e.Type())
	}
	return out
}
