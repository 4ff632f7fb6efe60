package runindex

import (
	"slices"
	"time"

	"github.com/turnspec/turnspec/conformance"
)

// MomentSet is the set of the times of a run at which an event can be emitted without a
// delay.
type MomentSet struct {
	times []time.Duration // sorted
	calls []conformance.StepResult
}

// Moments returns when lines were played, and when the subject wrote to the runtime or
// ran a call of the client.
func Moments(r *conformance.Run) MomentSet { return conformance.Derive(r, newMoments) }

func newMoments(r *conformance.Run) MomentSet {
	m := MomentSet{calls: r.Steps}
	for _, p := range r.Played {
		m.times = append(m.times, p.At)
	}
	for _, w := range r.ClientActions {
		m.times = append(m.times, w.At.Sub(r.Start))
	}
	slices.Sort(m.times)
	return m
}

// Contain reports whether a time is in the set.
func (m MomentSet) Contain(at time.Duration) bool {
	if _, found := slices.BinarySearch(m.times, at); found {
		return true
	}
	return slices.ContainsFunc(m.calls, func(s conformance.StepResult) bool {
		return at == s.At || at == s.At+s.For
	})
}
