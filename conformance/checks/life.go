package checks

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

func lifeChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "session.resume-context", Severity: conformance.Must, Source: "public adapter test suites", Tiers: both,
			Sentence:      "After resume the model sees the earlier turns: judged by what reaches the scripted model, not by events.",
			JudgesWritten: true,
			Judge:         judgeResume,
		},
		{
			ID: "session.resume-no-replay", Severity: conformance.Must, Source: "codex-acp#206, zed codex-acp#191", Tiers: both,
			Sentence: "Resuming emits no old text as new events.",
			Judge:    judgeNoReplay,
		},
		{
			ID: "session.resume-unknown", Severity: conformance.Must, Source: "clients that begin anew when the old session is gone", Tiers: both,
			Sentence:      "Resuming or forking an id that the runtime does not know gives a typed error with its words, never a hang and never a silent fresh start.",
			JudgesWritten: true,
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				refusedOpens(t, f, "", func(a fixtures.Step) bool { return a.What != "" })
			},
		},
		{
			ID: "process.start-failure", Severity: conformance.Must, Source: "claude-agent-sdk-python#387", Tiers: both,
			Sentence:      "An early exit, a bad flag or a missing program gives a typed error with code start_failure, the stderr and the exit code, a runtime that says nothing one with code timeout, within the limit.",
			JudgesWritten: true,
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				refusedOpens(t, f, event.ErrorStartFailure, func(a fixtures.Step) bool { return len(a.Args) > 0 })
			},
			Faults:     []string{"no-handshake", "no-handshake-in-time", "no-program"},
			JudgeFault: judgeNoStart,
		},
		{
			ID: "session.fork-independent", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "A fork has its own id and the history up to the fork; a turn in one does not show in the other.",
			Judge:    judgeFork,
		},
		{
			ID: "session.archive-closes", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "A session that was put away ends: session_end is its last event, and the runtime's process is let go.",
			Judge:    judgeArchive,
		},
		{
			ID: "process.exit-code", Severity: conformance.Must, Source: "adapters that report a killed runtime as a good end", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence: "When the runtime ends by itself or by somebody's signal, session_end follows unasked and carries the exit code, and a turn that ran ends before it.",
			Judge:    judgeExit,
		},
	}
}

// anyID is an id of a session: a play gives its own in place of the recorded one.
var anyID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// past is what a session's model has heard when a message comes.
type past struct {
	known   []string // messages of the history, oldest first
	foreign []string // messages that were sent before, and not to this history
}

// lineage says, for each message that is sent, what its session knows then, as
// the acts of the scenario have it. What a summary holds is nobody's to say, nor
// whether a runtime that was killed had written down the turn that ran.
func lineage(s *fixtures.Scenario) (of map[string]past, resumed map[string]bool) {
	of, resumed = map[string]past{}, map[string]bool{}
	histories := [][]string{nil}
	at, again := 0, false
	var all, unended []string
	for i, a := range s.Client {
		switch a.Verb {
		case fixtures.VerbOpen:
			if a.Refused {
				continue
			}
			from := at
			if n, err := strconv.Atoi(a.ID); err == nil {
				from = n - 1
			}
			switch a.What {
			case "resume", "unarchive":
				at, again = from, true
			case "fork":
				h := slices.Clone(histories[from])
				if k := slices.Index(h, a.At); a.At != "" && k >= 0 {
					h = h[:k+1]
				}
				histories, again = append(histories, h), true
				at = len(histories) - 1
			default:
				if i > 0 && len(all) > 0 {
					histories = append(histories, nil)
					at = len(histories) - 1
				}
				again = false
			}
		case fixtures.VerbRevert:
			if k := slices.Index(histories[at], a.ID); !a.Refused && k >= 0 {
				histories[at] = slices.Clip(histories[at][:k])
			}
		case fixtures.VerbWait:
			if a.What == "end" {
				unended = nil
			}
		case fixtures.VerbKill:
			lost := func(m string) bool { return slices.Contains(unended, m) }
			all, histories[at], unended = slices.DeleteFunc(all, lost), slices.DeleteFunc(slices.Clone(histories[at]), lost), nil
		case fixtures.VerbCompact:
			return of, resumed
		case fixtures.VerbSend, fixtures.VerbSteer:
			p := past{known: slices.Clone(histories[at])}
			for _, m := range all {
				if !slices.Contains(p.known, m) {
					p.foreign = append(p.foreign, m)
				}
			}
			of[a.ID], resumed[a.ID] = p, again
			all, histories[at], unended = append(all, a.ID), append(histories[at], a.ID), append(unended, a.ID)
		}
	}
	return of, resumed
}

// judgeResume: after a resume or a fork the model hears what its history holds,
// and nothing else.
func judgeResume(t *conformance.Trial, f *conformance.Finding) {
	of, resumed := lineage(t.Scenario)
	resumes := 0
	for _, a := range t.Scenario.Client {
		if a.Verb == fixtures.VerbOpen && a.What != "" && a.What != "bare" && !a.Refused {
			resumes++
		}
	}
	reverts := has(t.Run, fixtures.VerbRevert)
	if resumes == 0 && !reverts {
		return
	}
	if t.Tier != conformance.TierLive {
		// In play the stand-in lets only the right id through the barrier.
		f.Sent = true
		accepted := 0
		for i, o := range t.Opens {
			if o.Resume == "" || o.Step.Refused {
				continue
			}
			f.Asserted(1)
			if accepted++; o.Err != nil {
				f.Failf("open %d: %s of %q was not accepted: %v", i+1, o.Step.What, o.Resume, o.Err)
			}
		}
		if accepted < resumes {
			f.Asserted(1)
			f.Failf("the session was not opened again with the id that the runtime gave")
		}
		if sent, taken := count(t.Run, fixtures.VerbSend), sendsTaken(t.Run); len(f.Problems) == 0 && resumes > 0 && taken < sent {
			f.Failf("%d messages were to be sent before and after the resume, the runtime took %d: %s", sent, taken, strings.Join(t.Unrecorded, "; "))
		}
		return
	}
	seen := resumes > 0
	for _, q := range t.Witness {
		for _, id := range q.New {
			if p, ok := of[id]; ok && (resumed[id] || reverts) {
				f.Asserted(1)
				seen = false
				judgeHistory(f, q, id, p)
			}
		}
	}
	if seen && len(resumed) > 0 && slices.ContainsFunc(sortedIDs(resumed), func(id string) bool { return resumed[id] }) {
		f.Asserted(1)
		f.Failf("no request with a message of after the resume reached the model")
	}
}

func sortedIDs(m map[string]bool) []string {
	var out []string
	for id := range m {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

func judgeHistory(f *conformance.Finding, q fixtures.Request, id string, p past) {
	for _, m := range p.known {
		if !slices.Contains(q.History, m) {
			f.Failf("request %d brings %s, but holds no message %s of before", q.Req, id, m)
		}
	}
	for _, m := range p.foreign {
		if slices.Contains(q.History, m) {
			f.Failf("request %d brings %s, and holds %s, which is not of this history", q.Req, id, m)
		}
	}
}

// judgeNoReplay: between the opening of a session that has a history and the
// first message that it is sent, nothing of old is told.
func judgeNoReplay(t *conformance.Trial, f *conformance.Finding) {
	for i, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbOpen || a.Step.What == "" || a.Err != nil {
			continue
		}
		f.Asserted(1)
		for _, e := range t.Events {
			if e.Steps != i+1 {
				continue
			}
			switch e.Type() {
			case event.TypeDelta, event.TypeThinking, event.TypeUserMessage, event.TypeTurnStart, event.TypeToolStart,
				event.TypeToolResult, event.TypeResult, event.TypeDone, event.TypePermissionRequest:
				f.At(e, "%s follows the %s, before anything was sent", e.Type(), a.Step.What)
				return
			}
		}
	}
}

// judgeFork: each session of the run has an id of its own from the runtime, a
// fork says what it was forked from, and what was said to one is told by none of
// the others.
func judgeFork(t *conformance.Trial, f *conformance.Finding) {
	var forks []conformance.OpenResult
	for _, o := range t.Opens {
		if o.Step.What == "fork" && !o.Step.Refused {
			forks = append(forks, o)
		}
	}
	if len(forks) == 0 {
		return
	}
	own := map[string]string{} // ours → the runtime's
	by := map[string]string{}  // the runtime's → ours
	n := 0
	for _, e := range t.Events {
		d, ok := e.Data.(event.SessionReady)
		if !ok {
			continue
		}
		id := d.ProviderSessionID
		if was, known := own[e.SessionID]; known && was != id {
			f.At(e, "session %s is %s now, it was %s", e.SessionID, id, was)
		}
		if was, known := by[id]; known && was != e.SessionID {
			f.At(e, "sessions %s and %s both are %s", was, e.SessionID, id)
		}
		own[e.SessionID], by[id] = id, e.SessionID
		if d.ForkedFrom == "" {
			continue
		}
		f.Asserted(1)
		if n < len(forks) && d.ForkedFrom != forks[n].Resume {
			f.At(e, "forked_from is %q, it was forked from %q", d.ForkedFrom, forks[n].Resume)
		}
		n++
	}
	if n < len(forks) {
		f.Asserted(1)
		f.Failf("%d forks were opened, %d sessions say that they are forks", len(forks), n)
	}
}

// judgeExit: somebody ends the runtime in the scenario.
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
				f.At(e, "session_end comes while a turn runs")
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
			f.Failf("process %d ended by %s, and there is no session_end", w.Line.Process, exitOfLine(w.Line))
			continue
		}
		e := ends[w.Line.Process-1]
		d, _ := e.Data.(event.SessionEnd)
		switch {
		case e.At-w.At > perform.EndLimit:
			f.At(e, "session_end comes %v after the end of the process, the limit is %v", e.At-w.At, perform.EndLimit)
		case w.Line.Signal == "" && (d.ExitCode == nil || *d.ExitCode != w.Line.Code):
			f.At(e, "the runtime ended with %s, session_end has another exit code", exitOfLine(w.Line))
		case w.Line.Signal != "" && d.ExitCode != nil && *d.ExitCode == 0:
			f.At(e, "the runtime ended by %s, session_end has exit code 0", w.Line.Signal)
		case d.Reason == "closed":
			f.At(e, "nobody closed the session, session_end says so")
		}
	}
}

func exitOfLine(l fixtures.WireLine) string {
	if l.Signal != "" {
		return l.Signal
	}
	return "exit code " + strconv.Itoa(l.Code)
}
