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
	Progress func(done, total int)
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

// Run plays the cases and returns the facts that some case has, the weakest first.
func (s *Sweep) Run(ctx context.Context) ([]Strength, error) {
	all := All(s.Checks)
	if len(s.Facts) > 0 {
		all = slices.DeleteFunc(all, func(f Fact) bool { return !slices.Contains(s.Facts, f.Name) })
	}
	must := slices.DeleteFunc(slices.Clone(s.Checks), func(c *conformance.Check) bool { return c.Severity != conformance.Must })
	values := Values{}
	runs := make([]*conformance.Run, len(s.Cases))
	for i, id := range s.Cases {
		run, err := s.Play(id)
		if err != nil {
			return nil, err
		}
		if runs[i] = run; run != nil {
			values.Add(run, all)
		}
	}
	type count struct {
		tried  int
		missed []string
	}
	counts := map[string]map[Change]*count{}
	var mu sync.Mutex
	done := 0
	err := worker.Each(ctx, s.Workers, len(runs), func(i int) error {
		run := runs[i]
		if run == nil {
			return nil
		}
		sound := slices.DeleteFunc(slices.Clone(must), func(c *conformance.Check) bool { return Fails(c, run) })
		for _, f := range all {
			ordered := slices.Clone(sound)
			slices.SortStableFunc(ordered, func(a, b *conformance.Check) int {
				return cmp.Compare(rank(a, f), rank(b, f))
			})
			for _, how := range Changes() {
				changed := Changed(run, f, how, values, seedOf(s.Cases[i]))
				if changed == nil {
					continue
				}
				caught := slices.ContainsFunc(ordered, func(c *conformance.Check) bool { return Fails(c, changed) })
				mu.Lock()
				if counts[f.Name] == nil {
					counts[f.Name] = map[Change]*count{}
				}
				n := counts[f.Name][how]
				if n == nil {
					n = &count{}
					counts[f.Name][how] = n
				}
				n.tried++
				if !caught {
					n.missed = append(n.missed, s.Cases[i])
				}
				mu.Unlock()
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if done++; s.Progress != nil {
			s.Progress(done, len(runs))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []Strength
	for _, f := range all {
		x := Strength{Fact: f.Name}
		for _, how := range Changes() {
			n := counts[f.Name][how]
			if n == nil {
				continue
			}
			x.Tried += n.tried
			x.Caught += n.tried - len(n.missed)
			if len(n.missed) > 0 {
				slices.Sort(n.missed)
				x.Missed = append(x.Missed, Missed{how, n.tried, n.missed})
			}
		}
		if x.Tried > 0 {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Strength) int { return cmp.Compare(a.Share(), b.Share()) })
	return out, nil
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
