// Command mutants answers one question: does the suite notice when an adapter is
// changed? It changes the adapters in thousands of small ways, one at a time,
// plays the corpus to each, and writes down which changes no check objected to.
//
// All mutants are compiled into one program: each place asks a switch (package
// on) whether its mutant is on. So a mutant costs the cases that reach it and no
// compiler, until the first case in which a check fails.
//
// A case is played without faults first, to as many cases as --cases says, and
// then with them, to as many as --faulty says. `turnspec run` plays more, so what
// survives here may fail there; what is killed here fails there.
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
	"strings"
	"sync"

	"github.com/turnspec/turnspec/fixtures"
)

type options struct {
	only          *regexp.Regexp
	sample        int
	seed          uint64
	cases, faulty int
	workers       int
	dir, page     string
	units         *regexp.Regexp // nil: none
}

func main() {
	var o options
	only := flag.String("only", "", "regular expression over mutants: adapters/codex/.* boundary")
	flag.IntVar(&o.sample, "sample", 0, "try so many mutants, picked by the seed; 0: all")
	flag.Uint64Var(&o.seed, "seed", 1, "picks the mutants of a sample, and the cases")
	flag.IntVar(&o.cases, "cases", 80, "play each mutant to so many cases without faults; 0: to all that reach it")
	flag.IntVar(&o.faulty, "faulty", 12, "and to so many with faults; 0: to all that reach it")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "processes that play")
	flag.StringVar(&o.dir, "dir", ".tmp/mutants", "folder for the rewritten code and results.json")
	flag.StringVar(&o.page, "page", "", "write the page to this file")
	units := flag.String("units", "", "let the adapters' own tests try what the suite does not kill in these packages: a regular expression")
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
		return o.run()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
}

// Outcome is what became of a mutant.
type Outcome struct {
	Mutant
	Status string   // killed, survived, unreached
	How    string   `json:",omitzero"` // of a killed one: checks, crash, spins, grows, hangs
	Case   string   `json:",omitzero"`
	Checks []string `json:",omitzero"`
	Faults bool     `json:",omitzero"` // it took faults
	Plain  int      // how many cases reach it without faults
	Faulty int      // and with them
	Tried  int      // how many cases a survivor was to be played to
	Code   string   // the checksum of what was changed
	Unit   bool     `json:",omitzero"` // the adapters' own tests kill it, and not the suite
	Tested bool     `json:",omitzero"` // they have tried
}

// What becomes of a mutant.
const (
	Killed    = "killed"
	Survived  = "survived"
	Unreached = "unreached" // no case comes by
)

func (o options) run() error {
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
	if err := build(overlay, program, "build", "./conformance/mutants/player"); err != nil {
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
	out, err := o.tryAll(dir, program, reach, chosen)
	if err != nil {
		return err
	}
	slices.SortFunc(out, func(a, b Outcome) int { return cmp.Compare(a.ID, b.ID) })
	if o.units != nil {
		if err := o.unitTests(dir, overlay, out); err != nil {
			return err
		}
		if err := save(dir, out); err != nil {
			return err
		}
	}
	return o.tell(out, len(mutants))
}

// tryAll tries mutants, and keeps what came of each in results.json, so that a run
// that was ended goes on where it was.
func (o options) tryAll(dir, program string, r *reach, chosen []Mutant) ([]Outcome, error) {
	file, err := os.OpenFile(filepath.Join(dir, "results.json"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // each outcome was written at once
	had := map[string]Outcome{}
	for d := json.NewDecoder(file); ; {
		var x Outcome
		if err := d.Decode(&x); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w; remove it", file.Name(), err)
		}
		if x.Code == r.Code && (x.Status != Survived || x.Tried >= o.cases+o.faulty) {
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
	err = each(o.workers, len(todo), func() func(i int) error {
		w := &worker{program: program}
		return func(i int) error {
			x, err := o.try(w, r, todo[i])
			x.Code = r.Code
			mu.Lock()
			defer mu.Unlock()
			out = append(out, x)
			return errors.Join(err, json.NewEncoder(file).Encode(x))
		}
	})
	return out, err
}

// save writes the outcomes anew of which the tests of the adapters had to say.
func save(dir string, out []Outcome) error {
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

// each does n things on some workers and shows how far it is.
func each(workers, n int, start func() func(i int) error) error {
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

// reach is which cases reach which mutants.
type reach struct {
	Cases   []string
	Started []int         // mutants that lie in what is done before main
	Plain   map[int][]int // by mutant: indices of cases
	Faulty  map[int][]int
	Code    string // the checksum of what was changed
	Most    int64  // questions that a case asks at most
}

// reach asks the player for each case, or reads what it said last time.
func (o options) reach(dir, program, sum string) (*reach, error) {
	file := filepath.Join(dir, "reach-"+sum+".json")
	var r reach
	if b, err := os.ReadFile(file); err == nil {
		return &r, json.Unmarshal(b, &r)
	}
	first := &worker{program: program}
	a, err := first.ask(Ask{})
	first.end()
	if err != nil {
		return nil, err
	}
	r = reach{a.Cases, a.Traced, map[int][]int{}, map[int][]int{}, sum, 0}
	var mu sync.Mutex
	err = each(o.workers, len(r.Cases), func() func(int) error {
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

// spins is how many times what the longest case asks a mutant may ask before it
// is taken to spin.
const spins = 20

// try plays cases to a mutant until one fails.
func (o options) try(w *worker, r *reach, m Mutant) (Outcome, error) {
	out := Outcome{Mutant: m, Plain: len(r.Plain[m.ID]), Faulty: len(r.Faulty[m.ID])}
	plain, faulty := r.Plain[m.ID], r.Faulty[m.ID]
	if slices.Contains(r.Started, m.ID) {
		w = &worker{program: w.program, from: m.ID}
		defer w.end()
		plain = everything(len(r.Cases))
		faulty = plain
	}
	if len(faulty) == 0 {
		out.Status = Unreached
		return out, nil
	}
	for _, round := range []struct {
		cases  []string
		faults bool
	}{{r.pick(plain, o.cases, o.seed, nil), false}, {r.pick(faulty, o.faulty, o.seed, plain), true}} {
		if len(round.cases) == 0 {
			continue
		}
		a, err := w.ask(Ask{Mutant: m.ID, Cases: round.cases, Plain: !round.faults, Limit: spins * r.Most})
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

func everything(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// namesFaults reports whether some faults are tried on the scenario alone.
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

// pick is some of the cases: those of scenarios on which alone some faults are tried,
// then those that are not among late, and each of another scenario as long as there
// are any. Where only a fault leads to a mutant, no play without faults has tried it.
func (r *reach) pick(from []int, n int, seed uint64, late []int) []string {
	rnd := rand.New(rand.NewPCG(seed, uint64(len(from))))
	from = slices.Clone(from)
	slices.Sort(from)
	rnd.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
	nth := map[string]int{}
	round := map[int]int{}
	for _, i := range from {
		s := scenario(r.Cases[i])
		switch round[i] = nth[s]; {
		case nth[s] == 0 && namesFaults(s):
			round[i] = -1
		case slices.Contains(late, i):
			round[i] += len(from)
		}
		nth[s]++
	}
	slices.SortStableFunc(from, func(a, b int) int { return round[a] - round[b] })
	if n > 0 && n < len(from) {
		from = from[:n]
	}
	out := make([]string, 0, len(from))
	for _, i := range from {
		out = append(out, r.Cases[i])
	}
	return out
}
