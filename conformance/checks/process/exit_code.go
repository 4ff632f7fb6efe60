package process

import (
	"strconv"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// ExitCode is the check process.exit-code.
var ExitCode = &conformance.Check{
	ID: "process.exit-code", Source: "adapters that report a killed runtime as a good end", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"error", "session_end.exit_code"},
	Needs:    []string{"session_end.exit_code"},
	Mend:     "Wait for the process, and emit session_end with its exit code when it ends without a call. End a running turn first.",
	Sentence: "If the runtime exits by itself or by a signal, session_end follows without a call and holds the exit code. A turn that ran ends before it.",
	Judge:    judgeExit,
}

// judgeExit judges scenarios in which the runtime exits before the session is closed.
func judgeExit(t *conformance.Trial, f *conformance.Finding) {
	process, killed := 0, map[int]bool{}
	for _, a := range t.Scenario.Client {
		switch a.Verb {
		case fixtures.VerbOpen:
			process++
		case fixtures.VerbKill:
			killed[max(process, 1)] = true
		}
	}
	if len(killed) == 0 {
		return
	}
	if first := t.Scenario.Client[0]; first.Verb != fixtures.VerbOpen { // the first open is implied
		shifted := map[int]bool{}
		p := 1
		for _, a := range t.Scenario.Client {
			switch a.Verb {
			case fixtures.VerbOpen:
				p++
			case fixtures.VerbKill:
				shifted[p] = true
			}
		}
		killed = shifted
	}
	var ends []conformance.Event
	running := map[int]bool{}
	for _, e := range t.Events {
		switch {
		case e.Type() == event.TypeTurnStart:
			running[e.Turn] = true
		case e.Terminal() && e.SubagentID == "":
			delete(running, e.Turn)
		case e.Type() == event.TypeSessionEnd:
			if len(running) > 0 {
				f.At(e, "session_end is emitted while a turn runs")
			}
			ends = append(ends, e)
		}
	}
	for _, w := range t.Played {
		if w.Line.Dir != fixtures.Exit || !killed[w.Line.Process] {
			continue
		}
		f.Asserted(1)
		if w.Line.Process > len(ends) {
			f.Failf("process %d ended by %s, but there is no session_end", w.Line.Process, exitOfLine(w.Line))
			continue
		}
		e := ends[w.Line.Process-1]
		d, _ := e.Data.(event.SessionEnd)
		switch {
		case e.At-w.At > perform.EndLimit:
			f.At(e, "session_end is emitted %v after the end of the process, the limit is %v", e.At-w.At, perform.EndLimit)
		case w.Line.Signal == "" && (d.ExitCode == nil || *d.ExitCode != w.Line.Code):
			f.At(e, "the runtime ended with %s, but session_end has another exit code", exitOfLine(w.Line))
		case w.Line.Signal != "" && d.ExitCode != nil && *d.ExitCode == 0:
			f.At(e, "the runtime ended by %s, but session_end has exit code 0", w.Line.Signal)
		case d.Reason == "closed":
			f.At(e, "the client did not close the session, but session_end reports a close")
		}
	}
}

func exitOfLine(l fixtures.WireLine) string {
	if l.Signal != "" {
		return l.Signal
	}
	return "exit code " + strconv.Itoa(l.Code)
}
