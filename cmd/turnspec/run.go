package main

import (
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/live"
	"github.com/turnspec/turnspec/conformance/report"
)

type runFlags struct {
	corpus, runtime     string
	cases, checks, tier []string
	json, verbose       bool
	exhaustive          bool
	places              int
}

func runCmd() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the checks on the reference adapters",
		Long: `Run plays every case to the reference adapter of its runtime, in virtual time,
and prints what failed and a table of checks by runtime.

The tiers witness, golden and timing play recordings and run anywhere. The tier
live drives the real runtimes offline against the scripted model: it needs Linux
and ` + "`turnspec runtimes install`" + `.

Faults are tried at a few places of each case; --exhaustive tries all places.

Exit codes: 0 every check passed, 1 a check failed, 2 it could not be run.`,
		Example: `  turnspec run
  turnspec run --case 'permission/*' --check permission -v
  turnspec run --runtime codex --check text.once --json
  turnspec run --exhaustive
  turnspec run --tier live --case text/plain`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return suite(cmd, f) },
	}
	fl := cmd.Flags()
	corpusFlag(cmd, &f.corpus)
	fl.StringArrayVar(&f.cases, "case", nil, "glob over case ids or parts of them: permission, codex/*/text/plain (again for more)")
	fl.StringArrayVar(&f.checks, "check", nil, "id or topic of a check: text.once, text (again for more)")
	fl.StringArrayVar(&f.tier, "tier", nil, "witness, golden, timing or live (again for more; default: all but live)")
	fl.StringVar(&f.runtime, "runtime", "", "only this runtime: codex or claude")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print each verdict")
	fl.BoolVar(&f.exhaustive, "exhaustive", false, "try faults at every place")
	fl.IntVar(&f.places, "places", 4, "try each fault at so many places of a case")
	cmd.MarkFlagsMutuallyExclusive("exhaustive", "places")
	completeFlag(cmd, "case", caseIDs)
	completeFlag(cmd, "check", checkNames)
	completeFlag(cmd, "tier", tierNames)
	completeFlag(cmd, "runtime", runtimeNames)
	return cmd
}

func suite(cmd *cobra.Command, f runFlags) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	step, wipe := progress(cmd.ErrOrStderr())
	cfg.Progress = step
	ctx, stop := interruptible(cmd)
	defer stop()
	var rep *conformance.Report
	if slices.Contains(cfg.Tiers, conformance.TierLive) {
		rep, err = runLive(ctx, cmd.ErrOrStderr(), cfg)
	} else {
		rep, err = cfg.Run(ctx)
	}
	wipe()
	if err == nil && len(rep.Results) == 0 {
		err = errors.New("nothing was judged: no check of these runs in these tiers; `turnspec explain CHECK` names its tiers")
	}
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if f.json {
		err = report.JSON(out, rep)
	} else {
		err = text(out, rep, f.verbose)
	}
	if err == nil && rep.Failed() {
		return errFailed
	}
	return err
}

func text(out io.Writer, rep *conformance.Report, verbose bool) error {
	st := styleOf(out)
	if verbose {
		for _, r := range rep.Results {
			if r.Verdict != conformance.NotApplicable {
				fmt.Fprintf(out, "%-10s %s [%s] %s, %d looked at\n", r.Verdict, r.Case, r.Tier, r.Check.ID, r.Looked)
			}
		}
		fmt.Fprintln(out)
	}
	if err := report.Failures(out, rep, st); err != nil {
		return err
	}
	if rep.Failed() {
		fmt.Fprintln(out)
	}
	return report.Table(out, rep, st)
}

// config makes the flags a configuration.
func (f runFlags) config() (conformance.Config, error) {
	var cfg conformance.Config
	var err error
	if f.places < 1 {
		return cfg, fmt.Errorf("--places %d: it is at least 1; --exhaustive tries all places", f.places)
	}
	if cfg.Corpus, err = openCorpus(f.corpus); err != nil {
		return cfg, err
	}
	if cfg.Subjects, err = references(f.runtime); err != nil {
		return cfg, err
	}
	for _, t := range f.tier {
		if !slices.Contains(tierNames(), t) {
			return cfg, fmt.Errorf("no tier %q, only %s", t, strings.Join(tierNames(), ", "))
		}
		cfg.Tiers = append(cfg.Tiers, conformance.Tier(t))
	}
	onReal := slices.Contains(cfg.Tiers, conformance.TierLive)
	if onReal && len(cfg.Tiers) > 1 {
		return cfg, errors.New("the tier live runs alone: what it drives is not a recording")
	}
	if cfg.Checks, cfg.Golden, err = named(f.checks); err != nil {
		return cfg, err
	}
	for _, glob := range f.cases {
		if onReal {
			break // there scenarios are run, not cases
		}
		if _, err := matching(cfg.Corpus, glob); err != nil {
			return cfg, err
		}
	}
	cfg.Cases, cfg.Workers, cfg.Places = f.cases, goruntime.GOMAXPROCS(0), f.places
	if f.exhaustive {
		cfg.Places = 0
	}
	return cfg, nil
}

// named returns the checks of these ids and topics, and whether the goldens
// belong to them. The check live.performed always belongs to its tier.
func named(names []string) (out []*conformance.Check, golden bool, err error) {
	if len(names) == 0 {
		return checks.All(), true, nil
	}
	var others []string
	for _, n := range names {
		switch {
		case among(n, conformance.GoldenChecks()):
			golden = true
		case among(n, live.Checks()):
		default:
			others = append(others, n)
		}
	}
	if len(others) > 0 {
		out, err = checks.Named(others...)
	}
	return out, golden, err
}

// among reports whether a name is the id or the topic of one of the checks.
func among(name string, all []*conformance.Check) bool {
	return slices.ContainsFunc(all, func(c *conformance.Check) bool {
		topic, _, _ := strings.Cut(c.ID, ".")
		return name == c.ID || strings.TrimSuffix(name, ".*") == topic
	})
}
