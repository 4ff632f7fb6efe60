// Package curve measures how a cost grows: with the deltas of a turn, the turns of a
// session, the sessions of a process, the events of a log and the cases of a suite. It is
// not part of the stable interface.
//
// Each curve takes the same work at growing sizes. A cost for each unit that stays the
// same is linear; Curve.Growth says by how much it changes.
package curve

import "math"

// Point is the cost of one size.
type Point struct {
	N      int     `json:"n"`
	CPU    float64 `json:"cpu"`             // seconds of processor time, all of it
	Wall   float64 `json:"wall"`            // seconds
	Memory float64 `json:"memory,omitzero"` // bytes that are held at the end, or at most: see the curve
	Stored float64 `json:"stored,omitzero"` // bytes on disk
	Open   float64 `json:"open,omitzero"`   // seconds until the newest 100 events are read
	Read   float64 `json:"read,omitzero"`   // seconds until everything is read
}

// Curve is a cost at growing sizes.
type Curve struct {
	Name   string  `json:"name"`   // what grows, such as "turns a session"
	Of     string  `json:"of"`     // what does the work: a runtime, or a store
	Memory string  `json:"memory"` // what Point.Memory is
	Points []Point `json:"points"`
}

// Growth returns by how much the processor time of a unit grows with each tenfold size,
// from the smallest size of which the cost is more than startup to the largest: 1 is linear.
// It returns NaN if no two such sizes were measured.
func (c Curve) Growth(startup float64) float64 {
	var from *Point
	for i := range c.Points {
		p := &c.Points[i]
		if p.CPU <= startup {
			continue
		}
		if from == nil {
			from = p
			continue
		}
		if i == len(c.Points)-1 {
			times := (p.CPU / float64(p.N)) / (from.CPU / float64(from.N))
			return math.Pow(times, 1/math.Log10(float64(p.N)/float64(from.N)))
		}
	}
	return math.NaN()
}

// Sizes returns 10 to the power of from, of from+1 and so on, up to most, or most alone if
// it is less.
func Sizes(from, most int) []int {
	var out []int
	for n := int(math.Pow10(from)); n <= most; n *= 10 {
		out = append(out, n)
	}
	if out == nil {
		out = append(out, most)
	}
	return out
}
