package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// Config configures Run.
type Config struct {
	Runtime runtimes.Runtime
	Corpus  fixtures.Corpus // what it shows is not new
	Subject conformance.Subject
	Checks  []*conformance.Check
	Dir     string // what was tried is kept here, and the findings
	Seed    uint64
	Count   int           // how many scenarios to try; 0: no limit
	For     time.Duration // how long to try; 0: no limit
	// Command returns the command that runs a finding again: run, with what names the subject.
	Command func(run string) string
	// Progress is called after each scenario.
	Progress func(Summary, string)
}

// Summary is what was found in a folder, by all runs.
type Summary struct {
	Runtime      string         `json:"runtime"`
	Version      string         `json:"version"`
	Subject      string         `json:"subject"`
	Seconds      int            `json:"seconds"`
	Tried        int            `json:"tried"` // by this run
	Performed    int            `json:"performed"`
	NotPerformed int            `json:"not_performed"`
	Reasons      map[string]int `json:"reasons,omitempty"` // why, and how often
	Kept         int            `json:"kept"`              // scenarios that showed something new
	Shapes       int            `json:"new_shapes"`
	Findings     []Finding      `json:"findings"`
}

// Failed reports whether the subject failed a check of severity MUST twice.
func (s Summary) Failed() bool {
	for _, f := range s.Findings {
		if f.Severity == "" && !f.Flaky {
			return true
		}
	}
	return false
}

// mutantPercent is how many scenarios are mutants of those that showed something new, if
// there are any.
const mutantPercent = 60

// Run composes and performs scenarios until the time or the count is reached, or ctx is
// cancelled. Isolate the process first (package isolate).
func Run(ctx context.Context, cfg Config) (Summary, error) {
	st, err := openState(cfg.Dir, cfg.Runtime.Name)
	if err != nil {
		return Summary{}, err
	}
	defer func() { _ = st.file.Close() }()
	known, err := corpusShapes(cfg.Corpus, cfg.Runtime.Name)
	if err != nil {
		return Summary{}, err
	}
	maps.Copy(st.seen, known)
	ground, err := NewGround(cfg.Corpus, cfg.Runtime.Name, cfg.Runtime.Version)
	if err != nil {
		return Summary{}, err
	}
	x := &explorer{cfg, st, &performer{
		runtime: cfg.Runtime, ground: ground, corpus: cfg.Corpus, subject: cfg.Subject,
		checks: cfg.Checks, seed: cfg.Seed, limit: recordLimit,
	}, 0}
	if cfg.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, cfg.For, errTime)
		defer cancel()
	}
	for i := st.next[cfg.Seed]; cfg.Count == 0 || x.tried < cfg.Count; i++ {
		if err := x.explore(ctx, i); err != nil {
			if errors.Is(context.Cause(ctx), errTime) {
				err = nil
			}
			return x.summary(), err
		}
	}
	return x.summary(), nil
}

var errTime = errors.New("the time is up")

// explorer is a run of Run.
type explorer struct {
	Config
	*state
	*performer
	tried int
}

// explore tries the scenario with that index.
func (x *explorer) explore(ctx context.Context, index int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	plan, mutant := x.plan(index)
	text := plan.Compose(x.ground)
	e := entry{Runtime: x.Runtime.Name, Version: x.Runtime.Version, Seed: x.Seed, Index: index, Fingerprint: Fingerprint(text), Plan: plan, Mutant: mutant}
	if x.state.tried[e.Fingerprint] {
		return nil
	}
	x.tried++
	start := time.Now()
	out, err := x.perform(ctx, text)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case out == nil:
		return fmt.Errorf("seed %d, scenario %d: %w\n%s", x.Seed, index, err, text)
	case err != nil:
		return fmt.Errorf("seed %d, scenario %d: %w", x.Seed, index, err)
	}
	var line string
	if e.Reason = out.notPerformed; e.Reason != "" {
		line = "not performed: " + reason(e.Reason)
		err = x.store("not-performed", e, text)
	} else {
		line, err = x.examine(ctx, &e, out)
	}
	if err != nil {
		return err
	}
	e.Took = time.Since(start).Milliseconds()
	if err := x.write(e); err != nil {
		return err
	}
	x.report(fmt.Sprintf("%d %s: %s", index, plan, line))
	return nil
}

// examine judges what was performed and keeps a scenario that showed something new. It
// returns a line for the log.
func (x *explorer) examine(ctx context.Context, e *entry, out *outcome) (string, error) {
	line := "performed"
	if err := x.judge(ctx, e, e.Plan, out); err != nil {
		return "", err
	}
	for h := range shapesOf(out.recorded) {
		if !x.seen[h] {
			e.Shapes = append(e.Shapes, h)
		}
	}
	if e.Finding != nil {
		line += ", FAILED " + e.Finding.Check
	}
	if len(e.Shapes) == 0 {
		return line, nil
	}
	return fmt.Sprintf("%s, %d new shapes", line, len(e.Shapes)), x.store("kept", *e, out.text)
}

func (x *explorer) report(line string) {
	if x.Progress != nil {
		x.Progress(x.summary(), line)
	}
}

// plan returns the plan with that index: a new one, or a mutant.
func (x *explorer) plan(index int) (p Plan, mutant bool) {
	rng := newRand("mutant", x.Seed, uint64(index))
	if n := len(x.kept); n > 0 && rng.IntN(100) < mutantPercent {
		// The newer ones are chosen more often.
		parent := x.kept[max(rng.IntN(n), rng.IntN(n))]
		return parent.mutate(x.ground, rng, x.kept[rng.IntN(n)]), true
	}
	return Fresh(x.ground, x.Seed, index), false
}

// judge performs a failing scenario again, makes it smaller and writes the finding. One
// of a known kind is only counted.
func (x *explorer) judge(ctx context.Context, e *entry, plan Plan, out *outcome) error {
	e.Failures = out.failures
	for _, f := range out.failures {
		if _, known := x.known[f.signature()]; known {
			continue
		}
		x.report(fmt.Sprintf("%d %s: %s [%s]: %s", e.Index, plan, f.Check, f.Tier, f.Problem))
		again, err := x.perform(ctx, out.text)
		if err != nil {
			return err
		}
		flaky := !again.has(f)
		smallest := out
		if !flaky {
			smallest = x.shrink(ctx, plan, out, f, x.report)
		}
		e.Finding, err = writeFinding(x.Dir, x.Command, smallest, f, *e, flaky)
		return err // another failure of the scenario is found with another one
	}
	return nil
}

// store writes the scenario of an entry into a folder, to be looked at.
func (x *explorer) store(folder string, e entry, text []byte) error {
	dir := filepath.Join(x.Dir, folder, Topic)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, Name(e.Fingerprint)+".txtar"), text, 0o644)
}

func (x *explorer) summary() Summary {
	return Summary{
		Runtime: x.Runtime.Name, Version: x.Runtime.Version, Subject: x.Subject.Name(), Seconds: int(x.spent.Seconds()), Tried: x.tried,
		Performed: x.counts.performed, NotPerformed: x.counts.notPerformed, Reasons: x.reasons,
		Kept: len(x.kept), Shapes: x.counts.shapes, Findings: x.findings,
	}
}
