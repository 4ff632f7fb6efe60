package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/turnspec/turnspec/adapters/replay"
	"github.com/turnspec/turnspec/fixtures"
)

// The golden tier: what the reference adapters made of a case when a person
// last looked. That they leave the recording is a change like any other (Wrote).
var (
	goldenEvents = &Check{
		ID: "golden.events", Severity: Must, Source: "fixtures/**/*.golden", Tiers: []Tier{TierGolden},
		Sentence: "The events of the reference adapter are the stored ones, times included.", JudgesWritten: true, JudgesDeclared: true,
	}
	goldenChat = &Check{
		ID: "golden.chat", Severity: Must, Source: "fixtures/**/*.golden", Tiers: []Tier{TierGolden},
		Sentence: "The chat of the reference adapter is the stored one, as it reads and as it is built.", JudgesWritten: true, JudgesDeclared: true,
	}
	goldenWrote = &Check{
		ID: "golden.wrote", Severity: Must, Source: "fixtures/**/*.golden", Tiers: []Tier{TierGolden},
		Sentence: "How the reference adapter starts its runtime, what it writes to it and when, and which acts fail, and why, is as stored.", JudgesWritten: true, JudgesDeclared: true,
	}
)

// GoldenChecks are the checks of the golden tier.
func GoldenChecks() []*Check { return []*Check{goldenEvents, goldenChat, goldenWrote} }

// Golden is the content of a run's golden file: events, one a line, the chat as
// it reads, how it is built, what it said of the session as the events came, and
// what the subject wrote to the runtime.
func Golden(r *Run) ([]byte, error) {
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
	chat, err := r.Chat()
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
	b.WriteString(r.course())
	b.WriteString("-- wrote --\n")
	b.WriteString(r.written())
	return fixtures.Shrink([]byte(r.Recorded(b.String())))
}

// splitGolden cuts a golden file into what each check compares. What was written
// stands last, and no line of it looks like a head.
func splitGolden(b []byte) map[*Check]string {
	events, rest, _ := strings.Cut(string(b), "-- chat --\n")
	const wrote = "\n-- wrote --\n"
	i := strings.LastIndex(rest, wrote)
	if i < 0 {
		return map[*Check]string{goldenEvents: strings.TrimPrefix(events, "-- events --\n"), goldenChat: rest}
	}
	return map[*Check]string{goldenEvents: strings.TrimPrefix(events, "-- events --\n"), goldenChat: rest[:i+1], goldenWrote: rest[i+len(wrote):]}
}

// judgeGolden compares a run with its golden file.
func (cfg Config) judgeGolden(r *Run) []Result {
	t := &Trial{Run: r}
	made, err := Golden(r)
	stored, err2 := cfg.Corpus.Golden(r.Case.ID)
	var out []Result
	for _, c := range GoldenChecks() {
		judged := *c
		judged.Judge = func(_ *Trial, f *Finding) {
			switch {
			case err != nil:
				f.Failf("%v", err)
				return
			case errors.Is(err2, fs.ErrNotExist):
				f.Failf("there is no golden file; `turnspec update %s` writes it", r.Case.ID)
				return
			case err2 != nil:
				f.Failf("%v", err2)
				return
			}
			got, want := splitGolden(made)[c], splitGolden(stored)[c]
			f.Asserted(strings.Count(want, "\n"))
			if got != want {
				f.Problems = append(f.Problems, Problem{
					Text: fmt.Sprintf("%s differ from the golden file", strings.TrimPrefix(c.ID, "golden.")),
					Diff: Diff(r.Case.ID+".golden", want, "now", got),
				})
			}
		}
		res := judged.Apply(t, TierGolden)
		res.Check = c
		out = append(out, res)
	}
	return out
}
