// Command player plays cases of the suite with a mutant on, and prints the checks
// that failed. Package mutants builds it from the rewritten code.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/metrics"
	"time"

	"github.com/turnspec/turnspec/conformance/runner"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/mutants/on"
	"github.com/turnspec/turnspec/fixtures"
)

// Ask is a request to play cases.
type Ask struct {
	Mutant  int
	Cases   []string // empty: return the names of all cases
	Plain   bool     // without faults
	Goldens bool     // compare with the stored events and chats
	Trace   bool     // return the mutants that were reached
	Limit   int64    // the most questions that a case may ask; 0 for no limit
}

// Answer is the result.
type Answer struct {
	Killed    bool     `json:",omitzero"`
	Case      string   `json:",omitzero"` // the case that failed
	Checks    []string `json:",omitzero"` // the checks that failed in it
	Hung      bool     `json:",omitzero"` // this program cannot be used any more
	Cases     []string `json:",omitzero"`
	Traced    []int    `json:",omitzero"`
	Questions int64    `json:",omitzero"`
	Err       string   `json:",omitzero"`
}

// heap bounds the memory of a mutant, in bytes.
const heap = 2 << 30

func main() {
	started, _ := on.Traced() // while packages were initialized
	on.Trace(false)
	go watch()
	p, err := load()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<22)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var q Ask
		a := Answer{Traced: started}
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			a.Err = err.Error()
		} else if len(q.Cases) > 0 {
			a = p.play(q)
		} else {
			a.Cases = p.ids
		}
		if err := out.Encode(a); err != nil || a.Hung {
			return
		}
	}
}

// watch ends the program when it uses too much memory.
func watch() {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for range time.Tick(50 * time.Millisecond) {
		if metrics.Read(sample); sample[0].Value.Uint64() > heap {
			os.Exit(on.Grows)
		}
	}
}

type player struct {
	cfg  conformance.Config
	ids  []string
	jobs map[string]runner.Job
}

func load() (*player, error) {
	p := &player{cfg: conformance.Config{
		Corpus: fixtures.Embedded(),
		Checks: checks.All(), Places: 1, Seed: 1, RealTimeLimit: 20 * time.Second,
	}}
	for _, a := range reference.All() {
		p.cfg.Subjects = append(p.cfg.Subjects, backend.Adapter(a.Capabilities().Runtime, a))
	}
	ids, err := p.cfg.Corpus.CaseIDs()
	for _, id := range ids {
		if runtime, _, _ := fixtures.SplitCaseID(id); reference.Of(runtime) != nil {
			p.ids = append(p.ids, id)
		}
	}
	return p, err
}

// job returns the job of a case, with the faults that a run of all cases tries on it. The jobs
// are read when one is first used: a mutant that ends this program makes the worker start
// another one.
func (p *player) job(id string) (runner.Job, error) {
	if p.jobs == nil {
		jobs, err := runner.Jobs(p.cfg)
		if err != nil {
			return runner.Job{}, err
		}
		p.jobs = make(map[string]runner.Job, len(jobs))
		for _, j := range jobs {
			p.jobs[j.Case.ID] = j
		}
	}
	return p.jobs[id], nil
}

// play stops at the first case in which a check fails.
func (p *player) play(q Ask) (a Answer) {
	for _, id := range q.Cases {
		j, err := p.job(id)
		if err != nil {
			a.Err = err.Error()
			return a
		}
		j.WithoutFaults = q.Plain
		if q.Trace {
			on.Trace(true)
		}
		if q.Mutant != 0 || q.Trace {
			on.Set(q.Mutant, q.Limit)
		}
		cfg := p.cfg
		if q.Goldens {
			cfg.Checks = backend.WithGoldens(cfg.Corpus)
		}
		results, _, err := runner.Do(cfg, j)
		if q.Trace {
			a.Traced, a.Questions = on.Traced()
		}
		if err != nil {
			a.Err = err.Error()
			return a
		}
		for _, r := range results {
			if !r.Verdict.Bad() || r.Check.Severity != conformance.Must {
				continue
			}
			a.Killed, a.Case = true, id
			a.Checks = append(a.Checks, r.Check.ID)
			a.Hung = a.Hung || r.Trial != nil && hung(r.Trial)
		}
		if a.Killed {
			return a
		}
	}
	return a
}

func hung(t *conformance.Trial) bool {
	bad := t.Hang != ""
	for _, r := range t.Faulted {
		bad = bad || r.Hang != ""
	}
	return bad
}
