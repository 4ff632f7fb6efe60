package perform

import (
	"fmt"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// Transcribed returns the run of a case that no subject can perform: its events are
// those that the subject derives from the runtime's recorded stdout. It holds no events if
// the subject is no adapters.Transcriber.
func Transcribed(s conformance.Subject, scn *fixtures.Scenario, c *fixtures.Case) *conformance.Run {
	r := &conformance.Run{Tier: conformance.TierWitness, Subject: s.Name(), Runtime: c.Runtime, Scenario: scn, Case: c, Witness: c.Witness}
	t, ok := s.(adapters.Transcriber)
	if !ok {
		return r
	}
	lines := t.Transcribe("s1", func(e event.Event) {
		at := time.Duration(0)
		if n := len(r.Played); n > 0 {
			at = r.Played[n-1].At
		}
		r.Events = append(r.Events, conformance.Event{Event: e, At: at, Line: len(r.Played)})
	})
	if lines == nil {
		return r
	}
	for i := range c.Wire {
		if w := &c.Wire[i]; w.Dir == fixtures.Out {
			r.Played = append(r.Played, conformance.PlayedLine{Line: *w, At: w.T})
			lines.Line(bubbleStart.Add(w.T), w.Bytes)
		}
	}
	lines.End()
	return r
}

// bubbleStart is the time at which a synctest bubble starts.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// transcriptOf returns the function for Run.Transcribe, or nil if the subject reads no
// transcripts.
func transcriptOf(s conformance.Subject, r *conformance.Run) func() ([]conformance.Event, error) {
	t, ok := s.(adapters.Transcriber)
	if !ok || t.Transcribe("", func(event.Event) {}) == nil {
		return nil
	}
	return func() (out []conformance.Event, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%w: %v", errPanicked, p)
			}
		}()
		last := map[int]int{} // by session: the index after its last line
		for i := range r.Played {
			last[r.SessionOf(r.Played[i].Line.Process)] = i + 1
		}
		open := map[int]adapters.Transcript{}
		n := 0 // the number of lines up to the current one
		for i := range r.Played {
			n = i + 1
			p := &r.Played[i]
			session := r.SessionOf(p.Line.Process)
			if open[session] == nil {
				open[session] = t.Transcribe("s1", func(e event.Event) {
					out = append(out, conformance.Event{Event: e, At: r.Played[n-1].At, Line: n})
				})
			}
			if p.Line.Dir == fixtures.Out {
				open[session].Line(r.Start.Add(p.At), p.Line.Bytes)
			}
			if n == last[session] {
				open[session].End()
			}
		}
		return out, nil
	}
}
