// Command mutants measures whether the suite notices when an adapter is changed. It
// changes the adapters in thousands of small ways, one at a time, runs the corpus
// against each, and writes the changes that no check reported.
//
// All mutants are compiled into one program: each place asks a switch (package on)
// whether its mutant is on. So a mutant costs no compilation, only the cases that
// reach it, until the first case in which a check fails.
//
// Up to --cases cases are played without faults, then up to --faulty cases with
// them. `turnspec run` plays more, so a mutant that survives here may fail there,
// but one that is killed here also fails there. The cases are chosen by what they reach
// (see reach.choose).
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"sync"
)

type options struct {
	only          *regexp.Regexp
	sample        int
	seed          uint64
	cases, faulty int
	workers       int
	dir, results  string
	units         *regexp.Regexp // nil for none
	goldens       bool
}

func main() {
	var o options
	only := flag.String("only", "", "regular expression over mutants: adapters/codex/.* boundary")
	flag.IntVar(&o.sample, "sample", 0, "try so many mutants, picked by the seed; 0: all")
	flag.Uint64Var(&o.seed, "seed", 1, "picks the mutants of a sample, and the cases")
	flag.IntVar(&o.cases, "cases", 80, "play each mutant to so many cases without faults, those first that reach the rarest of its file; 0: to all that reach it")
	flag.IntVar(&o.faulty, "faulty", 12, "and to so many with faults; 0: to all that reach it")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "processes that play")
	flag.StringVar(&o.dir, "dir", ".tmp/mutants", "folder for the rewritten code and results.json")
	flag.StringVar(&o.results, "results", "", "write the figures and the survivors to this file, of which `make docs` makes a page")
	units := flag.String("units", "", "let the adapters' own tests try what the suite does not kill in these packages: a regular expression")
	flag.BoolVar(&o.goldens, "goldens", true, "compare what no check kills with the stored events and chats; without them a mutant is seen as an adapter of somebody else is")
	flag.Parse()
	err := func() (err error) {
		if o.only, err = regexp.Compile(*only); err != nil {
			return err
		}
		if *units != "" {
			if o.units, err = regexp.Compile(*units); err != nil {
				return err
			}
		}
		return o.runAll()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
}

// Outcome is the result of a mutant.
type Outcome struct {
	Mutant
	Status string   // killed, survived, unreached
	How    string   `json:",omitzero"` // how it was killed: checks, crash, spins, grows, hangs
	Case   string   `json:",omitzero"`
	Checks []string `json:",omitzero"`
	Faults bool     `json:",omitzero"` // only a fault killed it
	Plain  int      // number of cases that reach it without faults
	Faulty int      // and with faults
	Tried  int      // number of cases to which a survivor was to be played
	Code   string   // checksum of the changed code
	Unit   bool     `json:",omitzero"` // not the suite, but the adapters' own tests kill it
	Tested bool     `json:",omitzero"` // the adapters' own tests were run
	Golden bool     `json:",omitzero"` // it was to be compared with the stored events and chats if no check killed it
}

// The statuses of an Outcome.
const (
	Killed    = "killed"
	Survived  = "survived"
	Unreached = "unreached" // no case reaches it
)

func (o options) runAll() error {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mutants, overlay, sum, err := rewriteAll(dir)
	if err != nil {
		return err
	}
	program := filepath.Join(dir, "player")
	if err := goBuild(overlay, program, "build", "./conformance/lab/mutants/player"); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%d mutants\n", len(mutants))
	reach, err := o.reach(dir, program, sum)
	if err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(mutants), func(m Mutant) bool { return !o.only.MatchString(m.Key()) })
	rnd := rand.New(rand.NewPCG(o.seed, 0))
	rnd.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	if o.sample > 0 && o.sample < len(chosen) {
		chosen = chosen[:o.sample]
	}
	reach.groupByFile(mutants)
	out, err := o.tryAll(dir, program, reach, chosen)
	if err != nil {
		return err
	}
	slices.SortFunc(out, func(a, b Outcome) int { return cmp.Compare(a.ID, b.ID) })
	if o.units != nil {
		if err := o.unitTests(dir, overlay, out); err != nil {
			return err
		}
		if err := saveOutcomes(dir, out); err != nil {
			return err
		}
	}
	return o.report(out, len(mutants))
}

// tryAll tries mutants and appends each outcome to results.json, so that an
// interrupted run continues where it ended.
func (o options) tryAll(dir, program string, r *reach, chosen []Mutant) ([]Outcome, error) {
	file, err := os.OpenFile(filepath.Join(dir, "results.json"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // every outcome was written already
	had := map[string]Outcome{}
	for d := json.NewDecoder(file); ; {
		var x Outcome
		if err := d.Decode(&x); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w; remove it", file.Name(), err)
		}
		if x.Code == r.Code && x.Golden == o.goldens && (x.Status != Survived || x.Tried >= o.cases+o.faulty) {
			had[fmt.Sprint(x.ID)] = x
		}
	}
	var mu sync.Mutex
	var out []Outcome
	var todo []Mutant
	for _, m := range chosen {
		if x, ok := had[fmt.Sprint(m.ID)]; ok {
			out = append(out, x)
		} else {
			todo = append(todo, m)
		}
	}
	err = runParallel(o.workers, len(todo), func() func(i int) error {
		w := &worker{program: program}
		return func(i int) error {
			x, err := o.tryMutant(w, r, todo[i])
			x.Code, x.Golden = r.Code, o.goldens
			mu.Lock()
			defer mu.Unlock()
			out = append(out, x)
			return errors.Join(err, json.NewEncoder(file).Encode(x))
		}
	})
	return out, err
}

// saveOutcomes appends the outcomes for which the adapters' own tests were run.
func saveOutcomes(dir string, out []Outcome) error {
	var b bytes.Buffer
	for _, x := range out {
		if !x.Tested {
			continue
		}
		if err := json.NewEncoder(&b).Encode(x); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(filepath.Join(dir, "results.json"), os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(b.Bytes())
	return errors.Join(err, file.Close())
}

// runParallel calls n functions on some workers and shows the progress.
func runParallel(workers, n int, start func() func(i int) error) error {
	var mu sync.Mutex
	var errs []error
	next, done := 0, 0
	var wg sync.WaitGroup
	for range workers {
		do := start()
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= n || len(errs) > 0
				mu.Unlock()
				if stop {
					return
				}
				err := do(i)
				mu.Lock()
				if err != nil {
					errs = append(errs, err)
				}
				if done++; done%200 == 0 || done == n {
					fmt.Fprintf(os.Stderr, "%d of %d\n", done, n)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// reach holds which cases reach which mutants.
type reach struct {
	Cases   []string
	Started []int         // mutants that are reached before main
	Plain   map[int][]int // by mutant: indices of cases
	Faulty  map[int][]int
	Code    string // checksum of the changed code
	Most    int64  // the most questions that a case asks

	// neighbours are the mutants of the same file, by mutant.
	neighbours map[int][]int
}

// reach runs every case in the player, or reads the result of the previous run.
func (o options) reach(dir, program, sum string) (*reach, error) {
	file := filepath.Join(dir, "reach-"+sum+".json")
	var r reach
	if b, err := os.ReadFile(file); err == nil {
		return &r, json.Unmarshal(b, &r)
	}
	first := &worker{program: program}
	a, err := first.ask(Ask{})
	first.endPlayer()
	if err != nil {
		return nil, err
	}
	r = reach{Cases: a.Cases, Started: a.Traced, Plain: map[int][]int{}, Faulty: map[int][]int{}, Code: sum}
	var mu sync.Mutex
	err = runParallel(o.workers, len(r.Cases), func() func(int) error {
		w := &worker{program: program}
		return func(i int) error {
			for _, plain := range []bool{true, false} {
				a, err := w.ask(Ask{Cases: r.Cases[i : i+1], Plain: plain, Trace: true})
				if err != nil {
					return err
				}
				if a.Killed {
					return fmt.Errorf("%s fails %v without a mutant: mend that first", a.Case, a.Checks)
				}
				to := r.Faulty
				if plain {
					to = r.Plain
				}
				mu.Lock()
				for _, id := range a.Traced {
					to[id] = append(to[id], i)
				}
				r.Most = max(r.Most, a.Questions)
				mu.Unlock()
			}
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return &r, os.WriteFile(file, b, 0o644)
}

// spinFactor is the factor: a mutant that asks so many times more questions than the
// longest case is taken to loop for ever.
const spinFactor = 20

// tryMutant plays cases against a mutant until one fails: without faults, with
// faults, and then compared with the stored events and chats. So a mutant that only
// these kill is one that the checks do not see.
func (o options) tryMutant(w *worker, r *reach, m Mutant) (Outcome, error) {
	out := Outcome{Mutant: m, Plain: len(r.Plain[m.ID]), Faulty: len(r.Faulty[m.ID])}
	plain, faulty := r.Plain[m.ID], r.Faulty[m.ID]
	if slices.Contains(r.Started, m.ID) {
		w = &worker{program: w.program, from: m.ID}
		defer w.endPlayer()
		plain = allIndices(len(r.Cases))
		faulty = plain
	}
	if len(faulty) == 0 {
		out.Status = Unreached
		return out, nil
	}
	for _, round := range []struct {
		cases           []string
		faults, goldens bool
	}{{r.choose(m, plain, o.cases, false), false, false}, {r.choose(m, faulty, o.faulty, true), true, false}, {r.choose(m, plain, o.cases, false), false, true}} {
		if len(round.cases) == 0 || round.goldens && !o.goldens {
			continue
		}
		a, err := w.ask(Ask{Mutant: m.ID, Cases: round.cases, Plain: !round.faults, Goldens: round.goldens, Limit: spinFactor * r.Most})
		var d *deathError
		switch {
		case errors.As(err, &d):
			out.Status, out.How, out.Faults = Killed, d.how, round.faults
			return out, nil
		case err != nil:
			return out, err
		case a.Killed:
			out.Status, out.How, out.Case, out.Checks, out.Faults = Killed, "checks", a.Case, a.Checks, round.faults
			return out, nil
		}
	}
	out.Status, out.Tried = Survived, o.cases+o.faulty
	return out, nil
}

func allIndices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
