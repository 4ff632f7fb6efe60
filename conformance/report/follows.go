package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/turnspec/turnspec/conformance"
)

// runOf returns the run of a result that shows a problem, or nil if it was not kept.
func runOf(r *conformance.Result, p conformance.Problem) *conformance.Run {
	switch {
	case r.Trial == nil:
		return nil
	case p.Fault == nil:
		return r.Trial.Run
	}
	for _, run := range r.Trial.Faulted {
		if run.Fault == p.Fault {
			return run
		}
	}
	return nil
}

// wirePosition returns how many lines of the run had been played when the problem showed,
// or 0 if that is not known.
func wirePosition(run *conformance.Run, p conformance.Problem) int {
	if run == nil {
		return 0
	}
	if p.Seq > 0 {
		for _, e := range run.Events {
			if e.Seq == p.Seq {
				return e.Line
			}
		}
		return 0
	}
	if p.Line > 0 {
		return 1 + slices.IndexFunc(run.Played, func(l conformance.PlayedLine) bool { return l.Line.Line == p.Line })
	}
	return 0
}

// fileLine returns the line of the case's file at which a problem shows, or 0. The line
// of a problem at an event is a number of played lines.
func fileLine(run *conformance.Run, p conformance.Problem) int {
	if p.Seq == 0 {
		return p.Line
	}
	if at := wirePosition(run, p); at > 0 && at <= len(run.Played) {
		return run.Played[at-1].Line.Line
	}
	return 0
}

// setFollows sets Follows of the entries, which are those of the results, in the same
// order. Within one run, the failed check that shows first on the wire heads the others:
// they may fail because of it. If the run did not end, the check that reports that heads
// them. A check that heads no run follows the head of its first run. A warning heads no
// check that fails the run, and a run whose first failure has no known place has no head.
func (d *Document) setFollows(results []conformance.Result) {
	firsts := map[playKey][]shown{}
	keys := make([][]playKey, len(results)) // the runs of each result, in the order of its problems
	for i := range results {
		r := &results[i]
		if !r.Verdict.BadOnce() || r.KnownFailure != nil {
			continue
		}
		for _, p := range r.Problems {
			k := playKey{name: r.Case, subject: r.Subject, live: r.Tier == conformance.TierLive}
			if p.Fault != nil {
				k.operator, k.place = p.Fault.Operator, p.Fault.Place
			}
			position := wirePosition(runOf(r, p), p)
			switch {
			case p.Hung:
				position = -1
			case position == 0:
				position = math.MaxInt
			}
			all := firsts[k]
			if n := len(all); n > 0 && all[n-1].entry == i {
				all[n-1].position = min(all[n-1].position, position)
				continue
			}
			firsts[k] = append(all, shown{i, position, !d.Fails(d.Results[i])})
			keys[i] = append(keys[i], k)
		}
	}
	heads := map[playKey]int{}
	isHead := map[int]bool{}
	for k, all := range firsts {
		if head := slices.MinFunc(all, compareShown); head.position < math.MaxInt {
			heads[k] = head.entry
			isHead[head.entry] = true
		}
	}
	for i, runs := range keys {
		for _, k := range runs {
			if head, ok := heads[k]; ok && !isHead[i] && d.Results[i].Follows == "" {
				d.Results[i].Follows = d.Results[head].Check
			}
		}
	}
}

// shown is where a failed check first shows a problem in a run.
type shown struct {
	entry, position int
	warns           bool // it does not fail the run
}

// compareShown orders the failures of a run: those that fail it first, then by the wire.
func compareShown(a, b shown) int {
	if a.warns != b.warns {
		if a.warns {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.entry, b.entry))
}

// followers returns a function that returns the entries that follow a failure of their
// case. A check that heads them in two tiers has them in the first.
func (d *Document) followers() func(Entry) []Entry {
	type key struct{ subject, name, check string }
	all := map[key][]Entry{}
	tiers := map[key]string{}
	for _, e := range d.Results {
		if e.Follows != "" {
			k := key{e.Subject, e.Case, e.Follows}
			all[k] = append(all[k], e)
		} else if k := (key{e.Subject, e.Case, e.Check}); e.BadOnce() && e.Known == nil && tiers[k] == "" {
			tiers[k] = e.Tier
		}
	}
	return func(head Entry) []Entry {
		k := key{head.Subject, head.Case, head.Check}
		if head.Follows != "" || tiers[k] != head.Tier {
			return nil
		}
		return all[k]
	}
}
