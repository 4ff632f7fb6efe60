package runner

import (
	"slices"
	"sync"

	"github.com/turnspec/turnspec/conformance"
)

// kept holds the results of all jobs. A run has more than a million, most of which say in few
// words that a check passed or was not tried: these are kept as numbers, which the collector of
// garbage does not read.
type kept struct {
	mu     sync.Mutex // guards what follows
	jobs   []keptJob
	checks []*conformance.Check
	words  []string // tiers, verdicts and reasons
	number map[any]uint32
}

// keptJob holds the results of a job, and the number of its runs with a fault.
type keptJob struct {
	caseID, subject string
	short           []shortResult
	whole           []conformance.Result // those that do not fit into a shortResult, in their order
	faultRuns       int
}

// shortResult is a result without problems. Its texts are indexes into the tables.
type shortResult struct {
	check, tier, verdict, reason, assertions uint32
	whole                                    bool // it is the next of the whole ones
}

func newKept(jobs int) *kept {
	return &kept{jobs: make([]keptJob, jobs), number: map[any]uint32{}}
}

// store keeps the results of a job in place of those that it had.
func (k *kept) store(i int, results []conformance.Result, faultRuns int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	j := keptJob{faultRuns: faultRuns, short: make([]shortResult, len(results))}
	for n, r := range results {
		if n == 0 {
			j.caseID, j.subject = r.Case, r.Subject
		}
		if len(r.Problems) > 0 || r.KnownFailure != nil || r.Trial != nil || r.Case != j.caseID || r.Subject != j.subject {
			j.whole = append(j.whole, r)
			j.short[n].whole = true
			continue
		}
		j.short[n] = shortResult{
			check: numberOf(k.number, &k.checks, r.Check),
			tier:  numberOf(k.number, &k.words, string(r.Tier)), verdict: numberOf(k.number, &k.words, string(r.Verdict)),
			reason: numberOf(k.number, &k.words, r.Reason), assertions: uint32(r.Assertions),
		}
	}
	k.jobs[i] = j
}

// numberOf returns the index of x in the table, to which it adds x if x is new.
func numberOf[T comparable](known map[any]uint32, table *[]T, x T) uint32 {
	n, old := known[x]
	if !old {
		n = uint32(len(*table))
		known[x] = n
		*table = append(*table, x)
	}
	return n
}

// of returns the results of a job: none if it was not done.
func (k *kept) of(i int) []conformance.Result {
	k.mu.Lock()
	defer k.mu.Unlock()
	j := &k.jobs[i]
	out, whole := make([]conformance.Result, len(j.short)), j.whole
	for n, s := range j.short {
		if s.whole {
			out[n], whole = whole[0], whole[1:]
			continue
		}
		out[n] = conformance.Result{
			Check: k.checks[s.check], Case: j.caseID, Subject: j.subject, Tier: conformance.Tier(k.words[s.tier]),
			Verdict: conformance.Verdict(k.words[s.verdict]), Assertions: int(s.assertions), Reason: k.words[s.reason],
		}
	}
	return out
}

// report adds all results to the report, and returns the number of jobs that have some.
func (k *kept) report(rep *conformance.Report) (done int) {
	n := 0
	for i := range k.jobs {
		n += len(k.jobs[i].short)
	}
	rep.Results = slices.Grow(rep.Results, n)
	for i := range k.jobs {
		if len(k.jobs[i].short) > 0 {
			done++
		}
		rep.Results = append(rep.Results, k.of(i)...)
		rep.FaultRuns += k.jobs[i].faultRuns
	}
	return done
}
