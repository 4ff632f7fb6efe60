// Package bench answers one question: how fast is an adapter, against the floor of
// the machine?
//
// Contenders take the same load in the same run, one after the other and in
// turns: the adapter, a reader of the raw pipe, one that cuts lines, and Node's
// readline with JSON.parse. What is told of an adapter is its ratio to a control,
// repeat by repeat; absolute figures are this machine's.
//
// A load (package load) plays a case of the corpus, stretched to any length and
// rate, with a stamp in each delta. Delays count from when a delta was due, not
// from when it was sent: a stand-in, or a pipe, that a slow reader held back
// makes the delay longer, and hides nothing. BENCH.md says how figures are taken
// and where they mislead.
package bench

import "time"

// Document is the outcome of a run.
type Document struct {
	Format   int       `json:"format"`   // 1
	Turnspec string    `json:"turnspec"` // the version that measured
	Started  time.Time `json:"started"`
	Machine  Machine   `json:"machine"`
	Repeats  int       `json:"repeats"`
	Cases    []string  `json:"cases"` // what was played
	Loads    []Load    `json:"loads"`
	Series   []Series  `json:"series"`
	Curves   []Curve   `json:"curves"`
	Notes    []string  `json:"notes"` // what was left out, and why
}

// Machine is where the figures are from.
type Machine struct {
	OS         string  `json:"os"`
	Arch       string  `json:"arch"`
	Processors int     `json:"processors"`
	Go         string  `json:"go"`
	Node       string  `json:"node,omitempty"`
	LoadBefore float64 `json:"load_before"` // of the last minute, where the system tells
	LoadAfter  float64 `json:"load_after"`
}

// Series is what one contender has shown of one measure, a figure a repeat. The
// same places of two series are of the same repeat.
type Series struct {
	Runtime   string    `json:"runtime"`
	Load      string    `json:"load"`
	Contender string    `json:"contender"`
	Control   bool      `json:"control"`
	Measure   string    `json:"measure"`
	Unit      Unit      `json:"unit"`
	More      bool      `json:"more,omitzero"` // more is better
	Samples   []float64 `json:"samples"`
}

// Curve is something to be plotted. The points are of the delays of all repeats
// (X: which part of them, Y: seconds), or of a backlog (X: seconds, Y: deltas).
type Curve struct {
	Runtime   string       `json:"runtime"`
	Load      string       `json:"load"`
	Contender string       `json:"contender"`
	Kind      CurveKind    `json:"kind"`
	Points    [][2]float64 `json:"points"`
}

// CurveKind says what a curve is of.
type CurveKind string

// The kinds of curves.
const (
	CurveDelay   CurveKind = "delay"
	CurveBacklog CurveKind = "backlog"
)

// Find returns a series, or nil.
func (d *Document) Find(runtime, load, contender, measure string) *Series {
	for i := range d.Series {
		s := &d.Series[i]
		if s.Runtime == runtime && s.Load == load && s.Contender == contender && s.Measure == measure {
			return s
		}
	}
	return nil
}
