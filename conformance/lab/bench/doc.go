// Package bench measures how fast an adapter is, relative to controls that show what the
// machine allows. It is not part of the stable interface.
//
// Contenders read the same load in the same run, in turns: the adapter, a reader of
// the raw pipe, one that splits lines, and Node's readline with JSON.parse. The
// result for an adapter is its ratio to a control, repeat by repeat; absolute
// figures hold only for this machine.
//
// A load (package load) plays a case of the corpus, stretched to any length and
// rate, with a stamp in each delta. A delay counts from when the delta was due, not
// from when it was sent: if a slow reader holds back the stand-in or the pipe, the
// delay grows. BENCH.md describes how figures are measured and where they mislead.
package bench

import "time"

// Document is the result of a run.
type Document struct {
	Format   int       `json:"format"`   // 1
	Turnspec string    `json:"turnspec"` // the version that measured
	Started  time.Time `json:"started"`
	Machine  Machine   `json:"machine"`
	Repeats  int       `json:"repeats"`
	Cases    []string  `json:"cases"` // the cases that were played
	Loads    []Load    `json:"loads"`
	Series   []Series  `json:"series"`
	Curves   []Curve   `json:"curves"`
	Notes    []string  `json:"notes"` // what was skipped, and why
}

// Machine describes where the figures were measured.
type Machine struct {
	OS         string  `json:"os"`
	Arch       string  `json:"arch"`
	Processors int     `json:"processors"`
	Go         string  `json:"go"`
	Node       string  `json:"node,omitempty"`
	LoadBefore float64 `json:"load_before"` // of the last minute, if the system reports it
	LoadAfter  float64 `json:"load_after"`
	// Others are the processors that other programs had in each repeat, on average, if the
	// system reports it.
	Others []float64 `json:"others,omitempty"`
}

// Series holds the figures of one measure of one contender, one for each repeat. The
// same index in two series is the same repeat.
type Series struct {
	Runtime   string    `json:"runtime"`
	Load      string    `json:"load"`
	Contender string    `json:"contender"`
	Control   bool      `json:"control"`
	Measure   string    `json:"measure"`
	Unit      Unit      `json:"unit"`
	More      bool      `json:"more,omitzero"` // higher is better
	Samples   []float64 `json:"samples"`
}

// Curve is a curve to plot. Its points are the delays of all repeats (X: percentile,
// Y: seconds), or a backlog (X: seconds, Y: deltas).
type Curve struct {
	Runtime   string       `json:"runtime"`
	Load      string       `json:"load"`
	Contender string       `json:"contender"`
	Kind      CurveKind    `json:"kind"`
	Points    [][2]float64 `json:"points"`
}

// CurveKind is what a curve shows.
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
