package checks

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/fault"
)

func wireChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "wire.unknown", Severity: conformance.Must, Source: "claude-agent-sdk-python#599", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence: "An unknown type, subtype, field, enum value or method at any place does not end the turn, and is passed on as a notice.",
			Harm:     []string{"unknown-message", "unknown-field"},
			Judge:    judgeHarmless,
		},
		{
			ID: "wire.split", Severity: conformance.Must, Source: "every line reader", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence: "Chunks cut anywhere, glued lines, CRLF and a missing last newline change nothing.",
			Harm:     []string{"split-every-byte", "split-random", "glue-lines", "crlf", "no-final-newline"},
			Judge:    judgeHarmless,
		},
		{
			ID: "wire.own-lines", Severity: conformance.Must, Source: "the wires of Codex and Claude Code", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence: "What the subject writes is of the runtime's wire: whole messages, after the handshake, replies to what was asked and as it was told.",
			Wrote:    true,
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				f.Look(len(t.Wrote))
				for _, v := range t.Violations {
					f.Failf("%s", v)
				}
			},
		},
	}
}

// judgeHarmless: with the harm the same events, and one notice more where a
// message was unknown.
func judgeHarmless(t *conformance.Trial, f *conformance.Finding) {
	plain := strings.Join(stripped(t.Run), "\n") + "\n"
	for _, r := range t.Harmed {
		if !played(t.Run, r.Harm.Line) {
			continue // the run had ended before the place of the harm
		}
		f.Look(1)
		notices := 0
		if r.Harm.Kind == fault.Noticed {
			notices = 1
		}
		p := conformance.Problem{Harm: r.Harm}
		if r.Hang != "" {
			p.Text = r.Harm.String() + ": the subject hangs: " + r.Hang
			f.Problems = append(f.Problems, p)
			continue
		}
		var rest []string
		got := 0
		for i, s := range stripped(r) {
			if d, ok := r.Events[i].Data.(event.Notice); ok && d.Code == event.NoticeUnknownMessage && got < notices {
				got++
				if !strings.Contains(string(d.Raw), "weather") {
					p.Text = r.Harm.String() + ": the notice of the unknown message does not hold it: raw is " + clip(string(d.Raw))
					f.Problems = append(f.Problems, p)
				}
				continue
			}
			rest = append(rest, s)
		}
		if got != notices {
			p.Text = r.Harm.String() + ": no notice of the unknown message"
			f.Problems = append(f.Problems, p)
		}
		if harmed := fault.WithoutUnknown(strings.Join(rest, "\n")) + "\n"; harmed != plain {
			p.Text = r.Harm.String() + ": the events differ"
			p.Diff = conformance.Diff("undisturbed", plain, "harmed", harmed)
			f.Problems = append(f.Problems, p)
		}
	}
}

// played reports whether a line of the case's file was played; 0 is the whole
// wire.
func played(r *conformance.Run, line int) bool {
	return line == 0 || slices.ContainsFunc(r.Played, func(p conformance.Played) bool { return p.Line.Line == line })
}
