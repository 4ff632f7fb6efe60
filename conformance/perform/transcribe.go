package perform

import (
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
	var at time.Duration
	lines := t.Transcribe("s1", func(e event.Event) {
		r.Events = append(r.Events, conformance.Event{Event: e, At: at, Line: len(r.Played)})
	})
	if lines == nil {
		return r
	}
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // the time at which a synctest bubble starts
	for i := range c.Wire {
		if w := &c.Wire[i]; w.Dir == fixtures.Out {
			at = w.T
			r.Played = append(r.Played, conformance.PlayedLine{Line: *w, At: at})
			lines.Line(start.Add(at), w.Bytes)
		}
	}
	lines.End()
	return r
}
