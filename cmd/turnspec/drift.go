package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/drift"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/schema"
	"github.com/turnspec/turnspec/fixtures/wire"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/registry"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

type driftFlags struct {
	corpus, from, to, failOn string
	scenarios                []string
	json, markdown, all      bool
	stored, again            bool
}

func driftCmd() *cobra.Command {
	var f driftFlags
	cmd := &cobra.Command{
		Use:   "drift RUNTIME --to VERSION|latest|PROGRAM",
		Short: "Compare two versions of a runtime, and report whether adapters break",
		Long: `Drift records every scenario on the new version and compares it with the old one
on three levels: what the runtime declares (messages, fields, values), what it
sends (messages added, removed, reordered), and what matters: for which scenarios
the reference adapter emits other events, and which checks fail.

Versions that are not installed come from the npm registry. The old side is taken
from the corpus, or recorded if the corpus lacks it. What record --check ignores
is no difference. What differs is recorded again, on the new version and, if it is
installed, on the old one, and counts only if it differs each time.

If both sides are the same version, nothing is recorded, unless --again is set.

The verdict is one of
  none         nothing differs
  additive     only additions; every scenario gives the same events
  behavioural  something was removed, reordered or has another form, or events differ
  breaking     a check fails, or a scenario could not run

Exit codes: 0 better than --fail-on, 1 --fail-on or worse, 2 the comparison failed.`,
		Example: `  turnspec drift codex --to latest
  turnspec drift codex --from 0.98.0 --to 0.120.0 --all
  turnspec drift claude --to ./claude --markdown
  turnspec drift claude --from 2.1.197 --to newest --stored --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: complete(runtimeNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return runDrift(cmd, args[0], f) },
	}
	fl := cmd.Flags()
	corpusFlag(cmd, &f.corpus)
	fl.StringVar(&f.from, "from", "", "the old version, newest is that of the corpus (default: the newest other version in the corpus)")
	fl.StringVar(&f.to, "to", "latest", "the new version, latest, or the path of a program")
	fl.StringVar(&f.failOn, "fail-on", string(drift.Behavioural), "fail from this verdict on: additive, behavioural or breaking")
	fl.StringArrayVar(&f.scenarios, "scenario", nil, "glob over scenarios: permission, text/plain (again for more; default: all)")
	fl.BoolVar(&f.stored, "stored", false, "take the new side from the corpus too, without running anything")
	fl.BoolVar(&f.again, "again", false, "compare a version with itself: record it although the old side is the same")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.BoolVar(&f.markdown, "markdown", false, "print Markdown for a pull request")
	fl.BoolVar(&f.all, "all", false, "print every schema finding, and differences in full")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "all")
	completeFlag(cmd, "scenario", scenarioIDs)
	completeFlag(cmd, "fail-on", func() []string { return []string{"additive", "behavioural", "breaking"} })
	return cmd
}

func runDrift(cmd *cobra.Command, runtime string, f driftFlags) error {
	if !slices.Contains(drift.Verdicts()[1:], drift.Verdict(f.failOn)) {
		return fmt.Errorf("--fail-on %s: must be additive, behavioural or breaking", f.failOn)
	}
	c, err := openCorpus(f.corpus)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	step, wipe := progress(cmd.ErrOrStderr())
	defer wipe()
	for _, version := range []*string{&f.from, &f.to} {
		if !strings.ContainsRune(*version, os.PathSeparator) { // it is no program
			_, *version, _ = fixtures.SplitCaseID(c.Resolve(runtime + "/" + *version))
		}
	}
	cfg, err := sides(ctx, cmd.ErrOrStderr(), c, runtime, f, step)
	out := cmd.OutOrStdout()
	if same, ok := errors.AsType[*sameVersionError](err); ok {
		rep := &drift.Report{Runtime: runtime, From: same.version, To: same.version, Verdict: drift.None, Changes: []drift.Change{}}
		switch {
		case f.json:
			return printJSON(out, rep)
		case f.markdown:
			_, err = fmt.Fprintf(out, "### Drift: %s %s: none\n\n%s\n", runtime, same.version, same)
		default:
			_, err = fmt.Fprintln(out, same)
		}
		return err
	}
	if err != nil {
		return err
	}
	cfg.Progress = step
	rep, err := drift.Compare(ctx, *cfg)
	if err != nil {
		return err
	}
	wipe()
	switch {
	case f.json:
		err = printJSON(out, rep)
	case f.markdown:
		err = rep.Markdown(out)
	default:
		err = rep.Text(out, f.all)
	}
	if err == nil && rep.Verdict.Worse(drift.Verdict(f.failOn)) {
		return errFailed
	}
	return err
}

// sameVersionError reports that there is nothing to compare.
type sameVersionError struct {
	runtime, version, hint string
}

func (e *sameVersionError) Error() string {
	return fmt.Sprintf("%s %s is the same version on both sides: nothing to compare. %s", e.runtime, e.version, e.hint)
}

// checkVersions returns a sameVersionError if both sides are the same version.
// Without --from, that is so if the corpus has the latest version.
func (f driftFlags) checkVersions(c fixtures.Corpus, runtime, to string) error {
	if f.again || strings.ContainsRune(f.to, os.PathSeparator) {
		return nil
	}
	if f.from == to {
		return &sameVersionError{runtime, to, "--again records it and compares it with itself."}
	}
	if versions, err := c.Versions(runtime); f.from == "" && f.to == latestVersion && err == nil && slices.Contains(versions, to) {
		hint := "--again records it and compares it with itself."
		if older := before(c, runtime, to); older != "" {
			hint = fmt.Sprintf("It is the latest, and the corpus has it; --from %s compares it with an older one.", older)
		}
		return &sameVersionError{runtime, to, hint}
	}
	return nil
}

const latestVersion = "latest"

// sides finds, installs and records both versions. It uses the network before it
// enters the namespace.
func sides(ctx context.Context, errOut io.Writer, c fixtures.Corpus, runtime string, f driftFlags, step func(int, int, string)) (*drift.Config, error) {
	refs, err := references(runtime)
	if err != nil {
		return nil, err
	}
	scenarios, err := f.chosen(c)
	if err != nil {
		return nil, err
	}
	if rt := wires.Find(runtime); rt != nil && len(rt.Unrecorded) > 0 {
		// What neither version has shown yet is no difference between them.
		if scenarios, err = c.RecordedScenarios(scenarios, runtime, ""); err != nil {
			return nil, err
		}
	}
	cfg := &drift.Config{Runtime: runtime, Scenarios: scenarios, Subject: refs[0], Checks: checks.All()}
	var to runtimes.Runtime
	newest := f.to
	if f.to == latestVersion && !f.stored {
		if err := f.nameAgent(c, runtime); err != nil {
			return nil, err
		}
		if newest, err = runtimes.Latest(ctx, runtime, f.from); err != nil {
			return nil, err
		}
	}
	if err := f.checkVersions(c, runtime, newest); err != nil {
		return nil, err
	}
	if f.stored {
		to = runtimes.Runtime{Name: runtime, Version: f.to}
	} else if to, err = newSide(ctx, errOut, runtime, newest); err != nil {
		return nil, err
	}
	if f.from == "" && f.again && f.to == latestVersion {
		f.from = to.Version
	}
	if f.from == "" {
		if f.from = before(c, runtime, to.Version); f.from == "" {
			return nil, fmt.Errorf("the corpus has no recordings of %s other than %s: name the old version with --from", runtime, to.Version)
		}
	}
	var have, both bool
	if cfg.From, have, err = drift.Stored(c, scenarios, runtime, f.from); err != nil {
		return nil, err
	}
	var from runtimes.Runtime
	if !have {
		if f.stored {
			return nil, fmt.Errorf("the corpus has no recordings of %s %s", runtime, f.from)
		}
		if from, err = runtimes.Ensure(ctx, "", runtime, f.from, errOut); err != nil {
			return nil, err
		}
	}
	if f.stored {
		if cfg.To, both, err = drift.Stored(c, scenarios, runtime, f.to); err == nil && !both {
			err = fmt.Errorf("the corpus has no recordings of %s %s", runtime, f.to)
		}
		if err != nil {
			return nil, err
		}
	}
	old, err1 := schemaOf(ctx, c, from, runtime, f.from)
	now, err2 := schemaOf(ctx, c, to, runtime, to.Version)
	cfg.SchemaError = errors.Join(err1, err2)
	if f.stored {
		cfg.From.Schema, cfg.To.Schema = old, now
		return cfg, nil
	}
	// This starts the program again inside a namespace, with versions that are known
	// and installed.
	if err := enter(ctx, func([]string) (bool, int, error) { return isolate.Enter(f.insideArgs(runtime, to)) }); err != nil {
		return nil, err
	}
	if !have {
		if cfg.From, err = drift.Recorded(ctx, scenarios, from, step); err != nil {
			return nil, err
		}
	}
	if cfg.To, err = drift.Recorded(ctx, scenarios, to, step); err != nil {
		return nil, err
	}
	cfg.Again = func(ctx context.Context, old bool, scenarios []*fixtures.Scenario) (drift.Side, error) {
		rt := to
		if old {
			found, err := runtimes.Find("", runtime, f.from)
			if err != nil {
				return drift.Side{}, nil //nolint:nilerr // it is not installed: the corpus has one recording of each scenario
			}
			rt = found
		}
		return drift.RecordedScenarios(ctx, scenarios, rt, step)
	}
	cfg.From.Schema, cfg.To.Schema = old, now
	return cfg, nil
}

// insideArgs returns the arguments for the program inside the namespace, with the
// versions that were looked up.
func (f driftFlags) insideArgs(runtime string, to runtimes.Runtime) []string {
	args := []string{"drift", runtime, "--from", f.from, "--to", f.to, "--fail-on", f.failOn}
	if f.to == latestVersion {
		args[5] = to.Version
	}
	if f.corpus != "" {
		args = append(args, "--corpus", f.corpus)
	}
	for _, g := range f.scenarios {
		args = append(args, "--scenario", g)
	}
	for flag, on := range map[string]bool{"--json": f.json, "--markdown": f.markdown, "--all": f.all, "--again": f.again} {
		if on {
			args = append(args, flag)
		}
	}
	return args
}

// chosen returns the scenarios that the flags name, or all.
func (f driftFlags) chosen(c fixtures.Corpus) ([]*fixtures.Scenario, error) {
	all, err := c.Scenarios()
	if err != nil {
		return nil, err
	}
	matched := map[string]bool{}
	all = slices.DeleteFunc(all, func(s *fixtures.Scenario) bool { return !wanted(f.scenarios, matched, s.ID) })
	for _, g := range f.scenarios {
		if !matched[g] {
			return nil, fmt.Errorf("no scenario matches %q%s; `turnspec list scenarios` prints all", g, near(g, scenarioIDs()))
		}
	}
	return all, nil
}

// newSide finds the new program by its path, or by its version, which it installs
// if needed.
func newSide(ctx context.Context, errOut io.Writer, runtime, to string) (runtimes.Runtime, error) {
	if strings.ContainsRune(to, os.PathSeparator) {
		return runtimes.AtPath(ctx, runtime, to)
	}
	return runtimes.Ensure(ctx, "", runtime, to, errOut)
}

// nameAgent demands --from if the runtime's versions are those of several agents.
func (f driftFlags) nameAgent(c fixtures.Corpus, runtime string) error {
	versions, err := c.Versions(runtime)
	if err != nil || f.from != "" {
		return err
	}
	agents := map[string]bool{}
	for _, v := range versions {
		agent, _ := wire.SplitVersion(v)
		agents[agent] = true
	}
	if len(agents) < 2 {
		return nil
	}
	return fmt.Errorf("%s has several agents: name one by its old version, such as --from %s (%s)", runtime, versions[0], strings.Join(versions, ", "))
}

// before returns the newest version in the corpus other than version, of the same agent.
func before(c fixtures.Corpus, runtime, version string) string {
	ids, err := c.CaseIDs()
	if err != nil {
		return ""
	}
	agent, _ := wire.SplitVersion(version)
	best := ""
	for _, id := range ids {
		rt, v, _ := fixtures.SplitCaseID(id)
		if of, _ := wire.SplitVersion(v); rt == runtime && of == agent && v != version && (best == "" || fixtures.CompareVersions(v, best) > 0) {
			best = v
		}
	}
	return best
}

// schemaOf returns the stored schema of a version, or the one that the runtime
// prints. The latter is kept with the installed runtimes, because the registry is
// not reachable inside the namespace. It is nil if the vendor publishes none: then the
// recordings show what the wire is.
func schemaOf(ctx context.Context, c fixtures.Corpus, rt runtimes.Runtime, runtime, version string) (*schema.Schema, error) {
	if s, err := drift.StoredSchema(c, runtime, version); s != nil || err != nil {
		return s, err
	}
	if r, err := registry.Get(runtime); err == nil && r.ReadSchema == nil {
		return nil, nil
	}
	if rt.Binary == "" {
		return nil, fmt.Errorf("the corpus has no schema of %s %s; `turnspec schema %s@%s --write` stores it", runtime, version, runtime, version)
	}
	dir, err := runtimes.Dir()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "schema", runtime+"-"+version+".txt")
	if b, err := os.ReadFile(file); err == nil {
		return schema.Parse(file, b)
	}
	s, err := registry.ReadSchema(ctx, rt)
	if err != nil {
		return nil, fmt.Errorf("the schema of %s %s: %w", runtime, version, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	return s, os.WriteFile(file, s.Format(), 0o644)
}
