package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
)

// Stderr is the check wire.stderr.
var Stderr = &conformance.Check{
	ID: "wire.stderr", Source: "runtimes that log on stderr", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:       "Read stderr in a goroutine of its own, to its end. Do not merge it with stdout.",
	Sentence:   "Output on stderr is never read as protocol, and never blocks the runtime.",
	Faults:     []string{"stderr-noise", "stderr-flood"},
	JudgeFault: judgeStderr,
}

// judgeStderr demands the same events, but an error may quote stderr.
func judgeStderr(plain, r *conformance.Run, f *conformance.Finding) {
	failing := slices.ContainsFunc(plain.Events, func(e conformance.Event) bool { return e.Type() == event.TypeError })
	if !failing || r.Hang != "" {
		faulted.JudgeHarmless(plain, r, f)
		return
	}
	f.Asserted(1)
	kinds := func(r *conformance.Run) (out []string) {
		for i, e := range r.Events {
			line := r.Canonical()[i]
			if d, is := e.Data.(event.Error); is {
				line = fmt.Sprintf("error %s of turn %d", d.Code, e.Turn)
			}
			out = append(out, line)
		}
		return out
	}
	if want, got := kinds(plain), kinds(r); !faulted.SameEvents(want, got) {
		f.Problems = append(f.Problems, conformance.Problem{Text: "the events differ",
			Diff: conformance.Diff("without the fault", strings.Join(want, "\n")+"\n", "with the fault", strings.Join(got, "\n")+"\n")})
	}
}
