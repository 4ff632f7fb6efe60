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

// jobCost estimates how long a job takes, in lines that are played. In virtual time all
// cases have about the same number of runs with a fault; in real time each job has its
// own. A case that the subject declines costs almost nothing.
func jobCost(j Job) int {
	const (
		fixed  = 10
		faults = 8  // runs with a fault for each without, in virtual time
		start  = 30 // of a process
		slow   = 8  // runs without a fault that a run with a slow fault takes
	)
	n := 0
	for _, l := range j.Case.Wire {
		n += len(l.Bytes)
	}
	n = fixed + len(j.Case.Wire) + n>>10
	switch {
	case j.WithoutFaults:
		return n
	case j.Faults == nil:
		return n * (1 + faults)
	case !performable(j):
		return 1
	}
	runs := 1
	for _, name := range j.Faults {
		if runs++; slices.Contains(slowFaults, name) {
			runs += slow - 1
		}
	}
	return (start + n) * runs
}
