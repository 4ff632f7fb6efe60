package runner

import (
	"cmp"
	"slices"

	"github.com/turnspec/turnspec/conformance"
)

// shardJobs returns the jobs of the shard, in their order. All subjects of a case are
// in the same shard. Cases are dealt by falling cost, each to the shard with the
// least so far.
func shardJobs(s conformance.Shard, jobs []Job) []Job {
	if !s.Partial() {
		return jobs
	}
	costs := map[string]int{}
	for _, j := range jobs {
		costs[j.Case.ID] += jobCost(j)
	}
	ids := make([]string, 0, len(costs))
	for id := range costs {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(costs[b], costs[a]), cmp.Compare(a, b))
	})
	load := make([]int, s.Total)
	mine := map[string]bool{}
	for _, id := range ids {
		least := 0
		for i := range load {
			if load[i] < load[least] {
				least = i
			}
		}
		load[least] += costs[id]
		mine[id] = least == s.Index-1
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool { return !mine[j.Case.ID] })
}

// jobCost estimates how long a job takes. Each run plays the lines of the case, and
// all cases have about the same number of runs with a fault.
func jobCost(j Job) int {
	const fixed, faults = 10, 8 // in lines; runs with a fault for each without
	n := 0
	for _, l := range j.Case.Wire {
		n += len(l.Bytes)
	}
	n = fixed + len(j.Case.Wire) + n>>10
	if !j.WithoutFaults {
		n *= 1 + faults
	}
	return n
}
