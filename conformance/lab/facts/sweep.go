package facts

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/worker"
)

// Sweep measures which untrue facts the checks see: it changes each fact in each case that
// has it, and applies the checks to the changed events.
type Sweep struct {
	Checks  []*conformance.Check
	Cases   []string
	Play    func(id string) (*conformance.Run, error) // performs a case; nil: the runtime cannot
	Facts   []string                                  // the names of the facts to change; none: all
	Workers int
	// Progress is called after each case, by one goroutine at a time.
	Progress func(done, total int, id string)
}

// Strength is how often the checks fail if a fact is untrue.
type Strength struct {
	Fact   string   `json:"fact"`
	Tried  int      `json:"tried"`           // pairs of a case and a change
	Caught int      `json:"caught"`          // those in which a check fails
	Missed []Missed `json:"missed,omitzero"` // by change
}

// Missed are cases in which no check fails after a change of a fact.
type Missed struct {
	Change Change   `json:"change"`
	Tried  int      `json:"tried"`
	Cases  []string `json:"cases"`
}

// Share returns the part of the changes that a check sees, from 0 to 1.
func (s *Strength) Share() float64 {
	if s.Tried == 0 {
		return 1
	}
	return float64(s.Caught) / float64(s.Tried)
}

// pair is a fact and a change of it.
type pair struct {
	fact string
	how  Change
}

// tried counts the cases in which a pair was tried.
type tried struct {
	cases  int
	missed []string // those in which no check failed
}

// Run plays the cases and returns the facts that some case has, the weakest first. It plays
// each case twice, because all runs together take gigabytes.
func (s *Sweep) Run(ctx context.Context) ([]Strength, error) {
	all := All(s.Checks)
	if len(s.Facts) > 0 {
		all = slices.DeleteFunc(all, func(f Fact) bool { return !slices.Contains(s.Facts, f.Name) })
	}
	values, err := s.values(ctx, all)
	if err != nil {
		return nil, err
	}
	counts, err := countTries(ctx, s.Workers, s.Cases, s.Progress, func(id string) (map[pair]bool, error) {
		run, err := s.Play(id)
		if err != nil || run == nil {
			return nil, err
		}
		return s.judge(run, all, values, seedOf(id)), nil
	})
	if err != nil {
		return nil, err
	}
	return strengths(all, counts), nil
}

// countTries calls judge for each case, in several workers, and counts the pairs that it
// returns: tried, and whether a check failed.
func countTries(ctx context.Context, workers int, cases []string, progress func(done, total int, id string), judge func(id string) (map[pair]bool, error)) (map[pair]*tried, error) {
	var mu sync.Mutex
	counts, done := map[pair]*tried{}, 0
	err := worker.Each(ctx, workers, len(cases), func(i int) error {
		id := cases[i]
		seen, err := judge(id)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for p, caught := range seen {
			n := counts[p]
			if n == nil {
				n = &tried{}
				counts[p] = n
			}
			n.cases++
			if !caught {
				n.missed = append(n.missed, id)
			}
		}
		if done++; progress != nil {
			progress(done, len(cases), id)
		}
		return nil
	})
	return counts, err
}

// values collects the values of the facts in the cases. Their order decides which are kept,
// so that it plays one case after the other.
func (s *Sweep) values(ctx context.Context, all []Fact) (Values, error) {
	out := Values{}
	for _, id := range s.Cases {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		run, err := s.Play(id)
		if err != nil {
			return nil, err
		}
		if run != nil {
			out.Add(run, all)
		}
	}
	return out, nil
}

// judge returns, for each pair that is possible in a run, whether a check fails that does
// not fail without the change.
func (s *Sweep) judge(run *conformance.Run, all []Fact, values Values, seed uint64) map[pair]bool {
	sound := slices.DeleteFunc(slices.Clone(s.Checks), func(c *conformance.Check) bool {
		return c.Severity != conformance.Must || Fails(c, run)
	})
	out := map[pair]bool{}
	for _, f := range all {
		slices.SortStableFunc(sound, func(a, b *conformance.Check) int { return cmp.Compare(rank(a, f), rank(b, f)) })
		for _, how := range Changes() {
			if changed := Changed(run, f, how, values, seed); changed != nil {
				out[pair{f.Name, how}] = slices.ContainsFunc(sound, func(c *conformance.Check) bool { return Fails(c, changed) })
			}
		}
	}
	return out
}

func strengths(all []Fact, counts map[pair]*tried) []Strength {
	var out []Strength
	for _, f := range all {
		x := Strength{Fact: f.Name}
		for _, how := range Changes() {
			n := counts[pair{f.Name, how}]
			if n == nil {
				continue
			}
			x.Tried += n.cases
			x.Caught += n.cases - len(n.missed)
			if len(n.missed) > 0 {
				slices.Sort(n.missed)
				x.Missed = append(x.Missed, Missed{how, n.cases, n.missed})
			}
		}
		if x.Tried > 0 {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Strength) int { return cmp.Compare(a.Share(), b.Share()) })
	return out
}

// rank puts the checks that judge a fact first: they are the likeliest to fail.
func rank(c *conformance.Check, f Fact) int {
	if slices.Contains(c.Judges, f.Name) {
		return 0
	}
	return 1
}

func seedOf(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return h.Sum64()
}
