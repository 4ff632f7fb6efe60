// Package golden compares runs of the reference adapters with golden files, which a
// person has reviewed. It is not part of the stable interface.
package golden

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/chats"
	"github.com/turnspec/turnspec/fixtures"
)

// Checks returns the checks that compare runs with the golden files of a corpus. They
// also judge runs that leave the recording (JudgesWritten).
func Checks(corpus fixtures.Corpus) []*conformance.Check {
	const change = "If the change is intended, write the goldens with `turnspec update` and read each difference. If not, mend "
	return []*conformance.Check{
		newCheck(corpus, "events", "The events of the reference adapter are the stored ones, times included.",
			change+"the reference adapter.", func(p parts) string { return p.events }),
		newCheck(corpus, "chat", "The chat of the reference adapter is the stored one, as it reads and as it is built.",
			change+"the reducer or the adapter.", func(p parts) string { return p.chat }),
		newCheck(corpus, "wrote", "How the reference adapter starts its runtime, what it writes to it and when, and which steps fail, and why, is as stored.",
			change+"what the adapter writes.", func(p parts) string { return p.wrote }),
	}
}

// newCheck returns the check of a part of golden files.
func newCheck(corpus fixtures.Corpus, name, sentence, mend string, part func(parts) string) *conformance.Check {
	return &conformance.Check{
		ID: "golden." + name, Severity: conformance.Must, Source: "fixtures/**/*.golden", Tiers: []conformance.Tier{conformance.TierGolden},
		Mend: mend, Sentence: sentence, JudgesWritten: true, JudgesDeclared: true, JudgesTranscript: true,
		Judge: func(t *conformance.Trial, f *conformance.Finding) {
			x := conformance.Derive(t.Run, func(r *conformance.Run) compared { return compare(corpus, r) })
			switch {
			case x.renderErr != nil:
				f.Failf("%v", x.renderErr)
				return
			case errors.Is(x.loadErr, fs.ErrNotExist):
				f.Failf("there is no golden file; `turnspec update %s` writes it", t.Case.ID)
				return
			case x.loadErr != nil:
				f.Failf("%v", x.loadErr)
				return
			}
			got, want := part(x.now), part(x.stored)
			f.Asserted(strings.Count(want, "\n"))
			if got != want {
				f.Problems = append(f.Problems, conformance.Problem{
					Text: name + " differ from the golden file",
					Diff: conformance.Diff(t.Case.ID+".golden", want, "now", got),
				})
			}
		},
	}
}

// compared is the golden file that a run would have, and the stored one.
type compared struct {
	now, stored        parts
	renderErr, loadErr error
}

func compare(corpus fixtures.Corpus, r *conformance.Run) compared {
	now, err := Render(r)
	stored, loadErr := corpus.Golden(r.Case.ID)
	return compared{splitParts(now), splitParts(stored), err, loadErr}
}

// Render returns the content of a run's golden file: the events, one per line, the
// chat as text, its blocks, how its state changed with the events, and what the
// subject wrote to the runtime.
func Render(r *conformance.Run) ([]byte, error) {
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
	chat, err := chats.Stored(r)
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

// parts are the parts of a golden file that the checks compare.
type parts struct{ events, chat, wrote string }

func splitParts(b []byte) (p parts) {
	events, rest, _ := strings.Cut(string(b), "-- chat --\n")
	p.events, p.chat = strings.TrimPrefix(events, "-- events --\n"), rest
	const wrote = "\n-- wrote --\n"
	if i := strings.LastIndex(rest, wrote); i >= 0 {
		p.chat, p.wrote = rest[:i+1], rest[i+len(wrote):]
	}
	return p
}
