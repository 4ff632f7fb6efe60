// Package faulted judges runs with a fault for the checks of several topics.
package faulted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// JudgeHarmless demands the events of the run without the fault, and exactly one more
// notice if the fault adds an unknown message.
func JudgeHarmless(plain, r *conformance.Run, f *conformance.Finding) {
	if !runindex.Played(plain, r.Fault.Line) || runindex.OpenFailed(plain, r.Fault.Line) {
		return // the run ended before the fault, or has no session
	}
	if Marked(r.Fault) && r.Hang == "" && !slices.ContainsFunc(r.Played, func(p conformance.PlayedLine) bool {
		return strings.Contains(string(p.Line.Bytes), UnknownMark)
	}) {
		return // the subject ended the runtime before that line
	}
	if at := runindex.LineOf(plain, r.Fault.Line); at.At > 0 && slices.ContainsFunc(plain.Steps, func(a conformance.StepResult) bool {
		return a.At <= at.At && (a.Step.Verb == fixtures.VerbArchive || a.Step.Verb == fixtures.VerbStop && r.Fault.Operator == "unknown-value")
	}) {
		return // an archived session has no listener, and late events of a stopped turn are dropped
	}
	f.Asserted(1)
	var p conformance.Problem
	if r.Hang != "" {
		p.Text, p.Hung = "the subject hangs: "+r.Hang, true
		Place(&p, r, len(r.Events))
		f.Problems = append(f.Problems, p)
		return
	}
	want := plain.Canonical()
	rest, notices := withoutNotices(want, r)
	switch {
	case r.Fault.Kind != fault.Noticed && !r.Fault.NoticeAllowed && len(notices) > 0, len(notices) > 1:
		last := notices[len(notices)-1]
		extra, _ := r.Events[last].Data.(event.Notice)
		p.Text = fmt.Sprintf("%d notices more than without the fault; the last is %s %q", len(notices), extra.Code, runindex.Clip(extra.Text))
		Place(&p, r, last)
		f.Problems = append(f.Problems, p)
	case !r.Supports("notice"):
	case r.Fault.Kind == fault.Noticed && len(notices) == 0:
		p.Text = "no notice reports the unknown message"
		f.Problems = append(f.Problems, p)
	case Marked(r.Fault):
		if d, _ := r.Events[notices[0]].Data.(event.Notice); !strings.Contains(runindex.Canonical(d.Raw), UnknownMark) {
			p.Text = "the notice of the unknown message does not hold it: raw is " + runindex.Clip(string(d.Raw))
			Place(&p, r, notices[0])
			f.Problems = append(f.Problems, p)
		}
	}
	if slices.Equal(rest, want) {
		return
	}
	got := fault.WithoutUnknown(strings.Join(rest, "\n"))
	gotEvents := strings.Split(got, "\n")
	if !SameEvents(want, gotEvents) && (r.Tier != conformance.TierProcess || !sameApart(want, gotEvents)) {
		p.Text = "the events differ"
		_, same := CommonEvents(want, r.Canonical())
		Place(&p, r, same)
		p.Diff = conformance.Diff("without the fault", strings.Join(want, "\n")+"\n", "with the fault", got+"\n")
		f.Problems = append(f.Problems, p)
	}
}

// Place says where a problem shows: at event i of the run, or at its last one if it has fewer,
// because what is missing was to follow that. A run without events shows it at the last line
// that was played, or at the first line of the case if none was.
func Place(p *conformance.Problem, r *conformance.Run, i int) {
	switch {
	case len(r.Events) > 0:
		p.Seq = r.Events[min(i, len(r.Events)-1)].Seq
	case len(r.Played) > 0:
		p.Line = r.Played[len(r.Played)-1].Line.Line
	case len(r.Case.Wire) > 0:
		p.Line = r.Case.Wire[0].Line
	}
}

// UnknownMark occurs in each message that a fault invents.
const UnknownMark = "weather"

// Marked reports whether a fault invents a message with UnknownMark.
func Marked(h *fault.Fault) bool {
	return h.Operator == "unknown-message" || h.Operator == "unknown-value" || h.Operator == "unknown-request"
}

// withoutNotices removes the notices that the plain run does not have, and returns the indexes of
// their events.
func withoutNotices(plain []string, r *conformance.Run) (rest []string, more []int) {
	if slices.Equal(r.Canonical(), plain) {
		return plain, nil
	}
	had := map[string]int{}
	for _, s := range plain {
		had[s]++
	}
	for i, s := range r.Canonical() {
		if r.Events[i].Type() == event.TypeNotice && had[fault.WithoutUnknown(s)] == 0 {
			more = append(more, i)
			continue
		}
		had[s]--
		rest = append(rest, s)
	}
	return rest, more
}
