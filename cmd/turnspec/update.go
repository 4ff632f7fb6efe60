package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/runner"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/golden"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fixtures"
)

func updateCmd() *cobra.Command {
	var dir string
	var places int
	cmd := &cobra.Command{
		Use:   "update [CASE…|FILE]",
		Short: "Write the goldens: the events of the reference adapters",
		Long: `Update replays cases to the reference adapters and writes their events, the chat,
and what they write to the runtime beside each case. Read what changed: users and
runtimes will see it.

Update refuses a case that fails the witness tier, since its golden would store a
defect. It refuses to run in CI, where goldens are compared and not written.

Exit codes: 0 all goldens are written, 1 a case was refused, 2 update could not run.`,
		Example: `  turnspec update
  turnspec update 'permission/*'
  turnspec update my/claude/2.1.197/text/plain.txtar
  turnspec update --corpus ./fixtures codex/newest/text/plain`,
		ValidArgsFunction: complete(caseIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if os.Getenv("CI") != "" {
				return errors.New("CI is set: goldens are written by people who read them; run `turnspec update` on your machine and commit the changes")
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			if len(args) == 1 && isCaseFile(args[0]) {
				one, err := openCaseFile(fixtures.Embedded(), args[0])
				if err != nil {
					return err
				}
				defer one.remove()
				return updateGoldens(ctx, cmd, one.Corpus, []string{one.id}, places, func(string) string { return goldenFile(args[0]) })
			}
			dir, corpus, err := corpusOnDisk(dir)
			if err != nil {
				return err
			}
			for _, glob := range args {
				if _, err := matching(corpus, glob); err != nil {
					return err
				}
			}
			err = updateGoldens(ctx, cmd, corpus, args, places, func(id string) string {
				return filepath.Join(dir, filepath.FromSlash(id)+".golden")
			})
			return errors.Join(err, packAgain(cmd.OutOrStdout(), dir))
		},
	}
	cmd.Flags().StringVar(&dir, "corpus", "", "folder with scenarios and cases (default: fixtures, here or above)")
	cmd.Flags().IntVar(&places, "places", 2, "how often each fault is tried in each situation of the runtime; 0 is at all places")
	return cmd
}

// updateGoldens replays the cases and writes their goldens to the files that fileOf
// names.
func updateGoldens(ctx context.Context, cmd *cobra.Command, corpus fixtures.Corpus, cases []string, places int, fileOf func(id string) string) error {
	refs, err := references("")
	if err != nil {
		return err
	}
	step, wipe := progress(cmd.ErrOrStderr())
	rep, err := runner.Run(ctx, conformance.Config{
		Corpus: corpus, Subjects: refs, Checks: checks.All(), Tiers: []conformance.Tier{conformance.TierWitness},
		Cases: cases, Places: places, Exhaustive: places == 0, Workers: goruntime.GOMAXPROCS(0), Progress: step, KeepRuns: true,
	})
	wipe()
	if err != nil {
		return err
	}
	return writeGoldens(cmd.OutOrStdout(), corpus, rep, fileOf)
}

// writeGoldens writes the goldens that changed and prints their files. A case that
// fails keeps its golden.
func writeGoldens(out io.Writer, corpus fixtures.Corpus, rep *conformance.Report, fileOf func(id string) string) error {
	refused := map[string]bool{}
	for _, r := range rep.Results {
		if r.Verdict.Bad() && r.Check.Severity == conformance.Must {
			refused[r.Case] = true
			if err := report.Failure(out, r, styleOf(out)); err != nil {
				return err
			}
		}
	}
	changed := 0
	seen := map[string]bool{}
	for _, r := range rep.Results {
		if refused[r.Case] || seen[r.Case] {
			continue
		}
		seen[r.Case] = true
		data, err := golden.Render(r.Trial.Run)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Case, err)
		}
		if stored, err := corpus.Golden(r.Case); err == nil && bytes.Equal(stored, data) {
			continue
		}
		file := fileOf(r.Case)
		if err := replaceFile(file, data); err != nil {
			return err
		}
		changed++
		fmt.Fprintln(out, file)
	}
	fmt.Fprintf(out, "%d of %d goldens changed\n", changed, len(seen))
	if len(refused) > 0 {
		fmt.Fprintf(out, "refused, the witness tier fails: %s\n", strings.Join(slices.Sorted(maps.Keys(refused)), ", "))
		return errFailed
	}
	return nil
}

// replaceFile replaces a file atomically.
func replaceFile(file string, b []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), "."+strings.TrimSuffix(filepath.Base(file), ".golden")+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(b)
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
