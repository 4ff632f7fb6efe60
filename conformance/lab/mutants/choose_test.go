package main

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestRareCasesAreChosenFirst(t *testing.T) {
	g := gomega.NewWithT(t)
	mutants := []Mutant{{ID: 1, File: "a.go"}, {ID: 2, File: "a.go"}, {ID: 3, File: "a.go"}, {ID: 4, File: "b.go"}}
	r := reach{
		Cases: []string{"x/1/t/a", "x/1/t/b", "x/1/t/c", "x/1/t/d", "x/1/t/e"},
		Plain: map[int][]int{1: {0, 1, 2, 3}, 2: {2, 3, 4}, 3: {3}, 4: {0}},
	}
	r.groupByFile(mutants)
	// Only d reaches mutant 3, and it reaches all others of the file. The next round
	// takes c, which reaches the rest.
	g.Expect(r.choose(mutants[0], r.Plain[1], 2, false)).To(gomega.Equal([]string{"x/1/t/d", "x/1/t/c"}))
	g.Expect(r.choose(mutants[0], r.Plain[1], 0, false)).To(gomega.ConsistOf("x/1/t/a", "x/1/t/b", "x/1/t/c", "x/1/t/d"))
	// A mutant that is reached before main is played to all cases.
	g.Expect(r.choose(mutants[3], []int{0, 1, 2, 3, 4}, 0, false)).To(gomega.HaveLen(5))
}
