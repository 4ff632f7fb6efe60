package broken_test

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// traps are defects that the wire of one runtime invites. In each scenario, on each of
// its versions that performs it, the checks must fail.
var traps = []struct {
	runtime, scenario string
	fails             []string
	adapter           broken.Adapter
}{
	{"pi", "model/server-error-once", []string{"turn.end-stated"}, endsWithTheFirstRun},
	{"pi", "model/cut-in-mid-text-then-retried", []string{"text.once"}, endsWithTheFirstRun},
	{"pi", "text/plain", []string{"text.once"}, emitsTheSnapshot},
	{"pi", "tool/output-while-it-runs", []string{"tool.streamed"}, emitsTheOutputSoFar},
	{"pi", "stop/mid-tool", []string{"turn.end-stated"}, reportsTheEmptyRound},
	{"pi", "queue/steer-and-follow-up", []string{"turn.not-before-end"}, endsBeforeTheQueue},
	{"pi", "session/opened-with-instructions", []string{"session.open-options"}, dropsTheInstructions},
	{"codexexec", "session/opened-with-instructions", []string{"session.open-options"}, dropsTheInstructions},
	{"pi", "session/opened-with-an-effort", []string{"session.open-options"}, dropsTheEffort},
	{"codexexec", "session/opened-with-an-effort", []string{"session.open-options"}, dropsTheEffort},
	{"opencode", "session/opened-with-an-effort", []string{"session.open-options"}, dropsTheEffort},
	{"acp", "session/opened-with-an-effort", []string{"session.call-results"}, dropsTheEffort},
	{"chat", "session/opened-with-an-effort", []string{"session.open-options"}, dropsTheEffort},
	{"chat", "limit/requests-with-a-client-tool", []string{"tool.client-answered"}, asksWithoutALimit},
	{"chat", "client/stopped-while-a-tool-runs", []string{"wire.valid-input"}, leavesACallOpen},
	{"chat", "model/stops-at-its-limit", []string{"turn.end-stated"}, hidesTheLimit},
	{"chat", "model/cut-in-mid-text-then-retried", []string{"text.once"}, keepsTheFailedAttempt},
}

// dropsTheInstructions opens a session without an option of its command line.
var dropsTheInstructions = broken.Adapter{
	Name: "drops-the-instructions", Sentence: "opens a session without the instructions for the model",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Instructions = "" }),
}

// dropsTheEffort opens a session without the option that chat completions and others send
// with each message.
var dropsTheEffort = broken.Adapter{
	Name: "drops-the-effort", Sentence: "opens a session without the level of reasoning",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Effort = "" }),
}

// asksWithoutALimit lets a turn ask the model as often as the model calls tools.
var asksWithoutALimit = broken.Adapter{
	Name: "asks-without-a-limit", Sentence: "opens a session without the limit of requests",
	Mutation: broken.Opening(func(o *conformance.Open) { o.MaxRequests = 0 }),
}

var toolMessage = regexp.MustCompile(`\{[^{}]*"role":"tool"[^{}]*\},?`)

// leavesACallOpen gives the model no result of a call.
var leavesACallOpen = broken.Adapter{
	Name: "leaves-a-call-open", Sentence: "sends a history in which a call has no result",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		_, err := w.Write(toolMessage.ReplaceAll(line, nil))
		return err
	}},
}

// hidesTheLimit takes each finish_reason for a complete reply.
var hidesTheLimit = broken.Adapter{
	Name: "hides-the-limit", Sentence: "ends a turn whose reply was cut as if it were complete",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Done); ok && d.Reason == "length" {
			d.Reason = "stop"
			e.Data = d
		}
		out(e)
	}),
}

// keepsTheFailedAttempt keeps the text of an attempt that is repeated.
var keepsTheFailedAttempt = broken.Adapter{
	Name: "keeps-the-failed-attempt", Sentence: "shows the text of a failed attempt and of the next one",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.BlockEnd); ok && d.Status == event.BlockRetracted {
			d.Status = event.BlockComplete
			e.Data = d
		}
		out(e)
	}),
}

// endsWithTheFirstRun takes agent_end for the end although a retry is pending.
var endsWithTheFirstRun = broken.Adapter{
	Name: "ends-with-the-first-run", Sentence: "ends the turn in an error when the runtime is about to try again",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		ended := 0
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.Notice); ok && d.Code == event.NoticeRetry && e.Turn != ended {
				ended, e.Data = e.Turn, event.Error{Code: event.ErrorModel, Message: d.Text}
				out(e)
			} else if e.Turn == 0 || e.Turn != ended {
				out(e)
			}
		}
	}},
}

// emitsTheSnapshot takes the message so far, which each update repeats, for what is new.
var emitsTheSnapshot = broken.Adapter{
	Name: "emits-the-snapshot", Sentence: "emits the text so far with each delta",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		soFar := map[string]string{}
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.Delta); ok {
				soFar[d.BlockID] += d.Text
				d.Text = soFar[d.BlockID]
				e.Data = d
			}
			out(e)
		}
	}},
}

// emitsTheOutputSoFar takes partialResult for what is new.
var emitsTheOutputSoFar = broken.Adapter{
	Name: "emits-the-output-so-far", Sentence: "emits the whole output of a tool again with each piece",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		soFar := map[string]string{}
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.ToolOutput); ok {
				soFar[d.ToolUseID] += d.Text
				d.Text = soFar[d.ToolUseID]
				e.Data = d
			}
			out(e)
		}
	}},
}

// reportsTheEmptyRound takes the round without content after an aborted tool, which the newer
// dialect calls an error, for a failure.
var reportsTheEmptyRound = broken.Adapter{
	Name: "reports-the-empty-round", Sentence: "ends a stopped turn in an error",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Done); ok && d.Stopped {
			e.Data = event.Error{Code: event.ErrorUnknown, Message: "This operation was aborted"}
		}
		out(e)
	}),
}

// endsBeforeTheQueue takes the end of a reply for the end of the turn although messages wait.
var endsBeforeTheQueue = broken.Adapter{
	Name: "ends-before-the-queue", Sentence: "ends the turn when a queued message comes",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		ended := 0
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.UserMessage); ok && d.Via != event.ViaTurn && ended != e.Turn {
				ended, e.Data = e.Turn, event.Done{}
				out(e)
			} else if e.Turn == 0 || e.Turn != ended {
				out(e)
			}
		}
	}},
}

func TestTraps(t *testing.T) {
	for _, x := range traps {
		t.Run(x.adapter.Name+"/"+x.scenario, func(t *testing.T) {
			g := NewWithT(t)
			all, err := fixtures.Embedded().CaseIDs()
			g.Expect(err).NotTo(HaveOccurred())
			ids := slices.DeleteFunc(slices.Clone(all), func(id string) bool {
				return !strings.HasPrefix(id, x.runtime+"/") || !strings.HasSuffix(id, "/"+x.scenario)
			})
			g.Expect(ids).NotTo(BeEmpty())
			for _, id := range x.fails {
				named, err := checks.Named(id)
				g.Expect(err).NotTo(HaveOccurred())
				reference := conformance.Adapter(x.runtime, reference.Of(x.runtime))
				g.Expect(failingCases(t, reference, named, ids)).To(BeEmpty(), "%s on the reference", id)
				g.Expect(failingCases(t, x.adapter.Subject(reference), named, ids)).To(HaveLen(len(ids)), "%s on %v", id, ids)
			}
		})
	}
}

// failingCases returns the cases in which the subject fails a check.
func failingCases(t *testing.T, s conformance.Subject, judges []*conformance.Check, ids []string) (out []string) {
	t.Helper()
	rep, err := runner.Run(context.Background(), conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{s}, Checks: judges, Cases: ids, Tiers: []conformance.Tier{conformance.TierWitness}, Exhaustive: false,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rep.Results {
		if r.Verdict == conformance.Fail && !slices.Contains(out, r.Case) {
			out = append(out, r.Case)
		}
	}
	return out
}
