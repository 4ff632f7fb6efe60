package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

func wireChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "wire.unknown", Severity: conformance.Must, Source: "claude-agent-sdk-python#599", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "An unknown type, subtype, field, enum value or method at any place does not end the turn, and is passed on as a notice.",
			Faults:     []string{"unknown-message", "unknown-field", "unknown-value"},
			JudgeFault: judgeHarmless,
		},
		{
			ID: "wire.split", Severity: conformance.Must, Source: "every line reader", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "Chunks cut anywhere, glued lines, CRLF and a missing last newline change nothing.",
			Faults:     []string{"split-every-byte", "split-random", "glue-lines", "crlf", "no-final-newline", "blank-lines"},
			JudgeFault: judgeHarmless,
		},
		{
			ID: "wire.same-chunk", Severity: conformance.Must, Source: "devspace#362", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "A response, the notifications behind it and the end of the file, read at once, lose nothing.",
			Faults:     []string{"burst"},
			JudgeFault: judgeHarmless,
		},
		{
			ID: "wire.long-line", Severity: conformance.Must, Source: "openclaw#71793: big frames kill the turn", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "Lines of 64 KiB, 1 MiB and 8 MiB arrive whole; one that has no end gives one notice, and the session lives on.",
			Faults:     []string{"long-line", "huge-line", "endless-line"},
			JudgeFault: judgeHarmless,
		},
		{
			ID: "wire.garbage", Severity: conformance.Must, Source: "runtimes and their wrappers that print warnings on stdout", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "A line that is no message is told in one notice and skipped.",
			Faults:     []string{"garbage-line"},
			JudgeFault: judgeHarmless,
		},
		{
			ID: "wire.stderr", Severity: conformance.Must, Source: "runtimes that log on stderr", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:   "What the runtime says on stderr is never taken for its protocol, and never blocks it.",
			Faults:     []string{"stderr-noise", "stderr-flood"},
			JudgeFault: judgeStderr,
		},
		{
			ID: "wire.own-lines", Severity: conformance.Must, Source: "the wires of Codex and Claude Code", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:      "What the subject writes is of the runtime's wire: whole messages, after the handshake, replies to what was asked and as it was told.",
			JudgesWritten: true,
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				f.Asserted(len(t.ClientActions))
				for _, v := range t.Violations {
					f.Failf("%s", v)
				}
			},
		},
	}
}

// judgeStderr: the same events, but that an error may quote what stands there.
func judgeStderr(plain, r *conformance.Run, f *conformance.Finding) {
	failing := slices.ContainsFunc(plain.Events, func(e conformance.Event) bool { return e.Type() == event.TypeError })
	if !failing || r.Hang != "" {
		judgeHarmless(plain, r, f)
		return
	}
	f.Asserted(1)
	kinds := func(r *conformance.Run) string {
		var b strings.Builder
		for i, e := range r.Events {
			line := r.Canonical()[i]
			if d, is := e.Data.(event.Error); is {
				line = fmt.Sprintf("error %s of turn %d", d.Code, e.Turn)
			}
			b.WriteString(line + "\n")
		}
		return b.String()
	}
	if want, got := kinds(plain), kinds(r); got != want {
		f.Problems = append(f.Problems, conformance.Problem{Fault: r.Fault, Text: r.Fault.String() + ": the events differ", Diff: conformance.Diff("undisturbed", want, "harmed", got)})
	}
}

// judgeHarmless: with the harm the same events, and one notice more where a
// message was unknown.
func judgeHarmless(plain, r *conformance.Run, f *conformance.Finding) {
	if !played(plain, r.Fault.Line) || refusedAt(plain, r.Fault.Line) {
		return // the run had ended before the place of the harm, or there is no session to tell of it
	}
	if marked(r.Fault) && r.Hang == "" && !slices.ContainsFunc(r.Played, func(p conformance.PlayedLine) bool {
		return strings.Contains(string(p.Line.Bytes), mark)
	}) {
		return // the subject ended the runtime before it could say it
	}
	if at := lineOf(plain, r.Fault.Line); at.At > 0 && slices.ContainsFunc(plain.Steps, func(a conformance.StepResult) bool {
		return a.At <= at.At && (a.Step.Verb == fixtures.VerbArchive || a.Step.Verb == fixtures.VerbStop && r.Fault.Operator == "unknown-value")
	}) {
		return // nobody listens to a session that was put away, and what comes of a stopped turn is dropped
	}
	f.Asserted(1)
	p := conformance.Problem{Fault: r.Fault}
	if r.Hang != "" {
		p.Text = r.Fault.String() + ": the subject hangs: " + r.Hang
		f.Problems = append(f.Problems, p)
		return
	}
	told := plain.Canonical()
	rest, notices := withoutNotices(told, r)
	switch {
	case r.Fault.Kind != fault.Noticed && !r.Fault.NoticeAllowed && len(notices) > 0, len(notices) > 1:
		p.Text = fmt.Sprintf("%s: %d notices too many", r.Fault, len(notices))
		f.Problems = append(f.Problems, p)
	case !r.Supports("notice"):
	case r.Fault.Kind == fault.Noticed && len(notices) == 0:
		p.Text = r.Fault.String() + ": no notice of it"
		f.Problems = append(f.Problems, p)
	case marked(r.Fault) && !strings.Contains(string(notices[0].Raw), mark):
		p.Text = r.Fault.String() + ": the notice of the unknown message does not hold it: raw is " + clip(string(notices[0].Raw))
		f.Problems = append(f.Problems, p)
	}
	if slices.Equal(rest, told) {
		return
	}
	undisturbed := strings.Join(told, "\n") + "\n"
	if harmed := fault.WithoutUnknown(strings.Join(rest, "\n")) + "\n"; harmed != undisturbed {
		p.Text = r.Fault.String() + ": the events differ"
		p.Diff = conformance.Diff("undisturbed", undisturbed, "harmed", harmed)
		f.Problems = append(f.Problems, p)
	}
}

// mark stands in each message that a fault makes up.
const mark = "weather"

func marked(h *fault.Fault) bool {
	return h.Operator == "unknown-message" || h.Operator == "unknown-value" || h.Operator == "unknown-request"
}

// withoutNotices takes out of the events the notices that the plain run does not
// have.
func withoutNotices(plain []string, r *conformance.Run) (rest []string, more []event.Notice) {
	if slices.Equal(r.Canonical(), plain) {
		return plain, nil
	}
	had := map[string]int{}
	for _, s := range plain {
		had[s]++
	}
	for i, s := range r.Canonical() {
		d, ok := r.Events[i].Data.(event.Notice)
		if ok && had[fault.WithoutUnknown(s)] == 0 {
			more = append(more, d)
			continue
		}
		had[s]--
		rest = append(rest, s)
	}
	return rest, more
}

// refusedAt reports whether a line is of a process that opened no session.
func refusedAt(r *conformance.Run, line int) bool {
	for _, p := range r.Played {
		if p.Line.Line == line && p.Line.Process <= len(r.Opens) {
			return r.Opens[p.Line.Process-1].Err != nil
		}
	}
	return false
}

// played reports whether a line of the case's file was played; 0 is the whole
// wire.
func played(r *conformance.Run, line int) bool {
	return line == 0 || slices.ContainsFunc(r.Played, func(p conformance.PlayedLine) bool { return p.Line.Line == line })
}
