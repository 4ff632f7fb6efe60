package main

import (
	"context"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"slices"

	"github.com/turnspec/turnspec/conformance/runner"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/lab/live"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// runLive runs the live tier: the subjects drive the real runtimes.
func runLive(ctx context.Context, errOut io.Writer, beat *heartbeat, cfg conformance.Config, version string) (*conformance.Report, error) {
	if err := errNoLive(); err != nil {
		return nil, err
	}
	all, err := cfg.Corpus.Scenarios()
	if err != nil {
		return nil, err
	}
	// Report what cannot run before the program isolates itself.
	chosen := make([][]*fixtures.Scenario, len(cfg.Subjects))
	matched := map[string]bool{}
	for i, s := range cfg.Subjects {
		rt, err := runtimes.Find("", s.Runtime(), version)
		if err != nil {
			return nil, err
		}
		chosen[i] = slices.DeleteFunc(slices.Clone(all), func(scn *fixtures.Scenario) bool {
			return !wanted(cfg.Cases, matched, rt.Name+"/"+scn.ID, rt.Name+"/"+rt.Version+"/"+scn.ID)
		})
	}
	for _, g := range cfg.Cases {
		if !matched[g] {
			return nil, fmt.Errorf("no scenario matches %q%s; `turnspec list scenarios` prints all", g, near(g, scenarioIDs()))
		}
	}
	if err := beat.during(func() error { return enter(ctx, isolate.Enter) }); err != nil {
		return nil, err
	}
	for _, line := range isolate.Report() {
		fmt.Fprintln(errOut, line)
	}
	if cfg.Progress == nil { // the run takes minutes: show progress in a log too
		cfg.Progress = func(done, total int, id string) { fmt.Fprintf(errOut, "%d/%d %s\n", done, total, id) }
	}
	rep := &conformance.Report{FailOnFlaky: cfg.FailOnFlaky}
	for i, s := range cfg.Subjects {
		one, err := live.Run(ctx, live.Config{Corpus: cfg.Corpus, Version: version, Scenarios: chosen[i], Subjects: []conformance.Subject{s}, Checks: cfg.Checks, Workers: goruntime.GOMAXPROCS(0), Progress: cfg.Progress})
		if err != nil {
			return nil, err
		}
		rep.Results = append(rep.Results, one.Results...)
		rep.Cases += one.Cases
		rep.Timings = append(rep.Timings, one.Timings...)
	}
	rep.KnownFailures, err = runner.ApplyKnownFailures(cfg, rep.Results)
	return rep, err
}

// wanted reports whether a glob matches one of a scenario's names.
func wanted(globs []string, matched map[string]bool, ids ...string) bool {
	hit := len(globs) == 0
	for _, g := range globs {
		for _, id := range ids {
			if conformance.Match(g, id) {
				matched[g], hit = true, true
			}
		}
	}
	return hit
}

// errNoLive returns an error if the live tier cannot run here.
func errNoLive() error {
	if goruntime.GOOS == "linux" {
		return nil
	}
	return fmt.Errorf("the tier live needs the network namespaces of Linux; this is %s", goruntime.GOOS)
}

// enter runs this program again inside a namespace and returns its exit code as an
// error.
func enter(ctx context.Context, enterNamespace func([]string) (bool, int, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	inner, code, err := enterNamespace(os.Args[1:])
	switch {
	case err != nil:
		return err
	case inner:
		return exitError(code)
	}
	return nil
}
