package session

import (
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// ResumeContext is the check session.resume-context.
var ResumeContext = &conformance.Check{
	ID: "session.resume-context", Source: "public adapter test suites", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:          "Start the runtime with the id of the earlier session, as its own command line or resume request wants it, and not with a new id.",
	Sentence:      "After a resume the model receives the earlier turns. This is judged at the scripted model, not by events.",
	JudgesWritten: true,
	Judge:         judgeResume,
}

// past lists the earlier messages when a message is sent.
type past struct {
	known   []string // messages of the history, oldest first
	foreign []string // messages that are not of this history
}

// lineage returns the past of each message, by the steps of the scenario. It leaves
// out what is unknown: the content of a summary, and the turn that ran when a runtime
// was killed or closed, because the runtime may not have stored it.
func lineage(s *fixtures.Scenario) (of map[string]past, resumed map[string]bool) {
	of, resumed = map[string]past{}, map[string]bool{}
	histories := [][]string{nil}
	at, again := 0, false
	var all, unended []string
	group := map[string]string{} // the first of the messages that may share a turn
	forget := func(lost func(m string) bool) {
		all, histories[at] = slices.DeleteFunc(all, lost), slices.DeleteFunc(slices.Clone(histories[at]), lost)
	}
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
				// What went into the turn of an earlier message goes with that turn.
				first := max(0, slices.Index(histories[at], group[a.ID]))
				shared := histories[at][first:k]
				histories[at] = slices.Clip(histories[at][:first])
				all = slices.DeleteFunc(all, func(m string) bool { return slices.Contains(shared, m) })
			}
		case fixtures.VerbWithdraw:
			forget(func(m string) bool { return m == a.ID })
		case fixtures.VerbWait:
			if a.What == "end" {
				unended = nil
			}
		case fixtures.VerbKill, fixtures.VerbClose:
			forget(func(m string) bool { return slices.Contains(unended, m) })
			unended = nil
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
			group[a.ID] = unended[0]
		}
	}
	return of, resumed
}

// judgeResume demands that after a resume or a fork the model receives the messages
// of that history and no others.
func judgeResume(t *conformance.Trial, f *conformance.Finding) {
	of, resumed := lineage(t.Scenario)
	resumes := 0
	for _, a := range t.Scenario.Client {
		if a.Verb == fixtures.VerbOpen && a.What != "" && a.What != "bare" && !a.Refused {
			resumes++
		}
	}
	reverts := runindex.HasStep(t.Run, fixtures.VerbRevert)
	if resumes == 0 && !reverts {
		return
	}
	if t.Tier != conformance.TierLive {
		// In a replay the barrier of the stand-in accepts only the right id.
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
		if sent, taken := runindex.CountSteps(t.Run, fixtures.VerbSend), sendsTaken(t.Run); len(f.Problems) == 0 && resumes > 0 && taken < sent {
			f.Failf("%d messages had to be sent before and after the resume, the runtime received %d: %s", sent, taken, strings.Join(t.Unrecorded, "; "))
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
		f.Failf("no request with a message sent after the resume reached the model")
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
			f.Failf("request %d holds message %s, but not the earlier message %s", q.Req, id, m)
		}
	}
	for _, m := range p.foreign {
		if slices.Contains(q.History, m) {
			f.Failf("request %d holds message %s, and also %s, which is not of this history", q.Req, id, m)
		}
	}
}

// sendsTaken counts the messages that the stand-in accepted as those of the case.
func sendsTaken(r *conformance.Run) int {
	n := 0
	for _, w := range r.ClientActions {
		if w.Kind == standin.KindSend && w.Matched != nil {
			n++
		}
	}
	return n
}
