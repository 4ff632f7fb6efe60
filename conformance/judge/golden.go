package judge

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// The checks of the golden tier compare the reference adapters with files that a
// person has reviewed. They also judge runs that leave the recording (JudgesWritten).
var (
	goldenEvents = &conformance.Check{
		ID: "golden.events", Severity: conformance.Must, Source: "fixtures/**/*.golden", Tiers: []conformance.Tier{conformance.TierGolden},
		Mend:     "If the change is intended, write the goldens with `turnspec update` and read each difference. If not, mend the reference adapter.",
		Sentence: "The events of the reference adapter are the stored ones, times included.", JudgesWritten: true, JudgesDeclared: true,
	}
	goldenChat = &conformance.Check{
		ID: "golden.chat", Severity: conformance.Must, Source: "fixtures/**/*.golden", Tiers: []conformance.Tier{conformance.TierGolden},
		Mend:     "If the change is intended, write the goldens with `turnspec update` and read each difference. If not, mend the reducer or the adapter.",
		Sentence: "The chat of the reference adapter is the stored one, as it reads and as it is built.", JudgesWritten: true, JudgesDeclared: true,
	}
	goldenWrote = &conformance.Check{
		ID: "golden.wrote", Severity: conformance.Must, Source: "fixtures/**/*.golden", Tiers: []conformance.Tier{conformance.TierGolden},
		Mend:     "If the change is intended, write the goldens with `turnspec update` and read each difference. If not, mend what the adapter writes.",
		Sentence: "How the reference adapter starts its runtime, what it writes to it and when, and which steps fail, and why, is as stored.", JudgesWritten: true, JudgesDeclared: true,
	}
)

// GoldenChecks returns the checks of the golden tier.
func GoldenChecks() []*conformance.Check {
	return []*conformance.Check{goldenEvents, goldenChat, goldenWrote}
}

// Golden returns the content of a run's golden file: the events, one per line, the
// chat as text, its blocks, how its state changed with the events, and what the
// subject wrote to the runtime.
func Golden(r *conformance.Run) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("-- events --\n")
	for _, e := range r.Events {
		line, err := e.MarshalJSON()
		if err != nil {
			return nil, err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteString("-- chat --\n")
	chat, err := Chat(r)
	if err != nil {
		return nil, err
	}
	if err := chat.Render(&b, replay.RenderOptions{Thinking: true, Output: true}); err != nil {
		return nil, err
	}
	if n := b.Len(); n > 0 && b.Bytes()[n-1] != '\n' {
		b.WriteByte('\n')
	}
	b.WriteString("-- blocks --\n")
	b.WriteString(outline(chat))
	b.WriteString("-- course --\n")
	labels, err := course(r)
	if err != nil {
		return nil, err
	}
	b.WriteString(labels)
	b.WriteString("-- wrote --\n")
	b.WriteString(renderWritten(r))
	return fixtures.CompressRepeats([]byte(r.Recorded(b.String())))
}

// splitGolden splits a golden file into the parts that the checks compare.
func splitGolden(b []byte) map[*conformance.Check]string {
	events, rest, _ := strings.Cut(string(b), "-- chat --\n")
	const wrote = "\n-- wrote --\n"
	i := strings.LastIndex(rest, wrote)
	if i < 0 {
		return map[*conformance.Check]string{goldenEvents: strings.TrimPrefix(events, "-- events --\n"), goldenChat: rest}
	}
	return map[*conformance.Check]string{goldenEvents: strings.TrimPrefix(events, "-- events --\n"), goldenChat: rest[:i+1], goldenWrote: rest[i+len(wrote):]}
}

// Goldens compares a run with its golden file.
func Goldens(cfg conformance.Config, r *conformance.Run) []conformance.Result {
	t := &conformance.Trial{Run: r}
	made, err := Golden(r)
	stored, loadErr := cfg.Corpus.Golden(r.Case.ID)
	var out []conformance.Result
	for _, c := range GoldenChecks() {
		judged := *c
		judged.Judge = func(_ *conformance.Trial, f *conformance.Finding) {
			switch {
			case err != nil:
				f.Failf("%v", err)
				return
			case errors.Is(loadErr, fs.ErrNotExist):
				f.Failf("there is no golden file; `turnspec update %s` writes it", r.Case.ID)
				return
			case loadErr != nil:
				f.Failf("%v", loadErr)
				return
			}
			got, want := splitGolden(made)[c], splitGolden(stored)[c]
			f.Asserted(strings.Count(want, "\n"))
			if got != want {
				f.Problems = append(f.Problems, conformance.Problem{
					Text: fmt.Sprintf("%s differ from the golden file", strings.TrimPrefix(c.ID, "golden.")),
					Diff: conformance.Diff(r.Case.ID+".golden", want, "now", got),
				})
			}
		}
		res := Apply(&judged, t, conformance.TierGolden)
		res.Check = c
		out = append(out, res)
	}
	return out
}
