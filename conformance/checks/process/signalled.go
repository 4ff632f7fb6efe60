package process

import (
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// The checks of a subject that is a program and is signalled itself.
var (
	SIGTERM = signalled("process.sigterm", proc.SIGTERM, "supervisors, which end a program so")
	SIGINT  = signalled("process.sigint", proc.SIGINT, "users who press ^C")
	SIGHUP  = signalled("process.sighup", proc.SIGHUP, "terminals that are closed")
)

// signalled returns the check of a signal. The broken programs that prove it are in the
// tests of packages sse and conversation.
func signalled(id string, s proc.Signal, source string) *conformance.Check {
	return &conformance.Check{
		ID: id, Source: source, Tiers: []conformance.Tier{conformance.TierWitness},
		Mend:          "At the signal, end the runtimes and write what is pending, then exit. A server that stores events closes on its next start what it finds open.",
		Sentence:      "If the subject's program gets " + string(s) + " in the middle of a turn, it exits soon and leaves no runtime behind. The sessions of a server have ended, or the next start has all their events and ends them.",
		JudgesWritten: true,
		ProgramsOnly:  true,
		AlternateSteps: func(scn *fixtures.Scenario) []fixtures.Step {
			if len(scn.Faults) == 0 { // those that name their own are plain
				return nil
			}
			for i, a := range scn.Client {
				if a.SendsMessage() {
					return append(append([]fixtures.Step{}, scn.Client[:i+1]...), perform.SignalProgram(s))
				}
			}
			return nil
		},
		Judge: judgeSignalled,
	}
}

func judgeSignalled(t *conformance.Trial, f *conformance.Finding) {
	if t.Alternate == nil || t.Alternate.Signalled == nil {
		return
	}
	s := t.Alternate.Signalled
	f.Asserted(2 + s.Compared)
	if !s.Exited {
		f.Failf("the program still ran %v after it got %s", s.Took, s.Signal)
		return // it was killed
	}
	if n := t.Alternate.LeftRunning; n > 0 {
		f.Failf("the program got %s and exited, but %d processes of the runtime still run", s.Signal, n)
	}
	if t.Alternate.Hang != "" {
		f.Failf("the program got %s: %s", s.Signal, t.Alternate.Hang)
	}
	for _, p := range s.Problems {
		f.Failf("the program got %s: %s", s.Signal, p)
	}
}
