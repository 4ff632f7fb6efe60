package process

import (
	"errors"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/session"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// StartFailure is the check process.start-failure.
var StartFailure = &conformance.Check{
	ID: "process.start-failure", Source: "claude-agent-sdk-python#387", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Aliases:       []string{"time.limits"},
	Needs:         []string{"open.failed"},
	Mend:          "Wait for the exit while the handshake runs, and limit its time. Return an error with code start_failure, the end of stderr and the exit code, or with code timeout.",
	Sentence:      "An early exit, a bad flag or a missing program gives a typed error with code start_failure, the stderr and the exit code. A runtime that writes nothing gives one with code timeout, within the limit.",
	JudgesWritten: true,
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		session.JudgeRefusedOpens(t, f, event.ErrorStartFailure, func(a fixtures.Step) bool { return len(a.Args) > 0 })
	},
	Faults:     []string{"no-handshake", "no-handshake-in-time", "no-program"},
	JudgeFault: judgeNoStart,
}

// judgeNoStart judges an Open whose runtime writes nothing, or does not exist.
func judgeNoStart(_, r *conformance.Run, f *conformance.Finding) {
	if r.Hang != "" || len(r.Opens) == 0 {
		f.Asserted(1)
		f.Failf("Open does not return: %s", r.Hang)
		return
	}
	f.Asserted(1)
	var typed *adapters.OpenError
	want := event.ErrorTimeout
	if r.Fault.StartError != nil {
		want = event.ErrorStartFailure
	}
	switch err := r.Opens[0].Err; {
	case err == nil:
		f.Failf("Open succeeded, but the runtime wrote nothing")
	case perform.Unfinished(err):
		f.Failf("%v", err)
	case !errors.As(err, &typed) || typed.Code != want:
		f.Failf("the error of Open does not have the code %q: %v", want, err)
	case r.Fault.StartError != nil && r.Tier != conformance.TierProcess && !strings.Contains(runindex.ErrorText(err), r.Fault.StartError.Error()):
		f.Failf("the runtime could not be started, but the error does not hold the reason: %q", runindex.ErrorText(err))
	case r.Fault.StartError == nil && !strings.Contains(typed.Stderr+runindex.ErrorText(err), fault.SilentStartText):
		f.Failf("the runtime wrote to stderr, but the error does not hold it: %q", runindex.ErrorText(err))
	}
	if len(r.Events) > 0 && r.Events[0].Steps <= 1 {
		f.Failf("%s of a session that was not opened", r.Events[0].Type())
	}
}
