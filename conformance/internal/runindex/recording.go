package runindex

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Recording returns the case that was replayed, or the one that shows what the runtime writes in
// a live run; nil if there is none.
func Recording(r *conformance.Run) *fixtures.Case {
	if r.Case != nil {
		return r.Case
	}
	return r.Recording
}

type recordedLines []wire.Line

// RecordedShows reports whether a line of the recording shows something: what a wire does not
// show or adds, a check need not ask for. It is false without a recording.
func RecordedShows(r *conformance.Run, shows func(l *wire.Line) bool) bool {
	lines := recordedLinesOf(r)
	for i := range lines {
		if shows(&lines[i]) {
			return true
		}
	}
	return false
}

// RecordedTool reports whether a line of the recording that starts or ends a tool call shows
// something.
func RecordedTool(r *conformance.Run, shows func(t wire.Tool) bool) bool {
	return RecordedShows(r, func(l *wire.Line) bool { return slices.ContainsFunc(l.Tools, shows) })
}

func recordedLinesOf(r *conformance.Run) recordedLines {
	if r.Plain != nil {
		r = r.Plain
	}
	return conformance.Derive(r, func(r *conformance.Run) recordedLines {
		if c := Recording(r); c != nil {
			return c.Lines()
		}
		return nil
	})
}
