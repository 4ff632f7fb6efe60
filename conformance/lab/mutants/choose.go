package main

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/turnspec/turnspec/fixtures"
)

// groupByFile fills neighbours.
func (r *reach) groupByFile(mutants []Mutant) {
	files := map[string][]int{}
	for _, m := range mutants {
		files[m.File] = append(files[m.File], m.ID)
	}
	r.neighbours = map[int][]int{}
	for _, m := range mutants {
		r.neighbours[m.ID] = files[m.File]
	}
}

// choose returns up to n of the cases that reach a mutant, or all if n is 0, in the
// order in which they are played. A mutant shows in few of the cases that reach it:
// those that do what is unusual in its file. So choose takes the mutant of the file
// that the fewest of the cases reach, of these cases the one that reaches most of
// the file, and then the rarest mutant that no chosen case reaches, and so on.
// With faults, the cases whose scenarios name a fault come first.
func (r *reach) choose(m Mutant, from []int, n int, faults bool) []string {
	if n == 0 || n > len(from) {
		n = len(from)
	}
	reached := r.Plain
	if faults {
		reached = r.Faulty
	}
	left := map[int]bool{}
	for _, i := range from {
		left[i] = true
	}
	byMutant, byCase := map[int][]int{}, map[int][]int{}
	for _, id := range r.neighbours[m.ID] {
		for _, i := range reached[id] {
			if left[i] {
				byMutant[id] = append(byMutant[id], i)
				byCase[i] = append(byCase[i], id)
			}
		}
	}
	rarest := slices.Clone(r.neighbours[m.ID])
	slices.SortStableFunc(rarest, func(a, b int) int { return cmp.Compare(len(byMutant[a]), len(byMutant[b])) })
	var out []string
	covered := map[int]bool{}
	take := func(i int) {
		delete(left, i)
		for _, id := range byCase[i] {
			covered[id] = true
		}
		out = append(out, r.Cases[i])
	}
	if faults {
		scenarios := map[string]bool{}
		for _, i := range from {
			if s := scenarioOf(r.Cases[i]); len(out) < n && namesFaults(s) && !scenarios[s] {
				scenarios[s] = true
				take(i)
			}
		}
	}
	for len(out) < n {
		before := len(out)
		for _, id := range rarest {
			if covered[id] || len(out) == n {
				continue
			}
			if i, ok := best(byMutant[id], left, byCase, covered); ok {
				take(i)
			}
		}
		clear(covered) // the next round takes other cases
		if len(out) == before {
			break
		}
	}
	for _, i := range from { // of a mutant that is reached before main
		if left[i] && len(out) < n {
			take(i)
		}
	}
	return out
}

// best returns the case that reaches the most mutants that are not covered.
func best(cases []int, left map[int]bool, byCase map[int][]int, covered map[int]bool) (i int, ok bool) {
	most := -1
	for _, c := range cases {
		if !left[c] {
			continue
		}
		gain := 0
		for _, id := range byCase[c] {
			if !covered[id] {
				gain++
			}
		}
		if gain > most {
			i, most, ok = c, gain, true
		}
	}
	return i, ok
}

// namesFaults reports whether the scenario names faults that are tried only on it.
func namesFaults(scenario string) bool {
	return slices.ContainsFunc(faultScenarios(), func(id string) bool { return strings.HasSuffix(scenario, "/"+id) })
}

var faultScenarios = sync.OnceValue(func() []string {
	all, _ := fixtures.Scenarios() // the player reports a scenario that cannot be read
	var out []string
	for _, s := range all {
		if len(s.Faults) > 0 {
			out = append(out, s.ID)
		}
	}
	return out
})
