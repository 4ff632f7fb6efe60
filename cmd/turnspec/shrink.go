package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/defects"
	"github.com/turnspec/turnspec/conformance/lab/shrink"
	"github.com/turnspec/turnspec/fixtures"
)

type shrinkFlags struct {
	subject      subjectFlags
	corpus       string
	check, fault string
	broken       string
	out          string
	limit        time.Duration
	tries        int
	seed         uint64
}

func shrinkCmd() *cobra.Command {
	var f shrinkFlags
	cmd := &cobra.Command{
		Use:   "shrink CASE --check ID -o FILE",
		Short: "Make a case smaller on which an adapter fails a check",
		Long: `Shrink removes turns, steps and lines from a case, and shortens what is left, as long
as the adapter fails the same check in the same words. The reference adapter must
pass the check on the smaller case, so that it shows a defect of the adapter and
nothing else.

CASE may be a file, such as ` + "`turnspec import`" + ` writes.

What -o names is a corpus to attach to a bug report: a zip archive if the name ends in
.zip, a folder otherwise. It holds the scenario, the case, and a README.txt with the
command that fails. ` + "`turnspec run --corpus bug.zip`" + ` plays it. The case is a made one: it
is no recording any more, and its head says so.

--subject, --dialect and a command after -- choose the adapter as in ` + "`turnspec run`" + `.

Exit codes: 0 a smaller case was written, 2 the adapter passes the check on the case, or
it could not run.`,
		Example: `  turnspec shrink claude/newest/text/plain --check text.once --subject 'python3 my_adapter.py' -o bug.zip
  turnspec shrink claude/newest/text/plain --check wire.unknown --fault unknown-message --subject acp:my-agent -o bug.zip
  turnspec shrink claude/newest/text/plain --check text.once --dialect my.json -o bug.zip -- python3 my_adapter.py
  turnspec shrink session.txtar --check turn.one-terminal -o bug.zip -- python3 my_adapter.py
  turnspec run --corpus bug.zip --runtime claude --subject 'python3 my_adapter.py'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name the case, such as codex/newest/tool/parallel; `turnspec list cases` prints all")
			}
			return f.subject.parse(cmd, args[1:], cmd.ArgsLenAtDash() == 1)
		},
		ValidArgsFunction: complete(caseIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runShrink(cmd, args[0], f)
		},
	}
	fl := cmd.Flags()
	corpusFlag(cmd, &f.corpus)
	fl.StringVar(&f.check, "check", "", "id of the check that fails (required)")
	fl.StringVar(&f.fault, "fault", "", "fail with this fault; without it, as the first failure of the case does")
	f.subject.declare(cmd)
	fl.StringVar(&f.broken, "broken", "", "a broken adapter of the suite, to try it out; `turnspec explain CHECK` names those of a check")
	fl.StringVarP(&f.out, "output", "o", "", "the archive or folder to write (required)")
	fl.DurationVar(&f.limit, "for", 2*time.Minute, "stop after this time with the smallest case so far")
	fl.IntVar(&f.tries, "tries", 0, "stop after so many tries (default: no limit)")
	fl.Uint64Var(&f.seed, "seed", 1, "pick the places of the faults by this number")
	completeFlag(cmd, "check", checkIDs)
	return cmd
}

func runShrink(cmd *cobra.Command, id string, f shrinkFlags) error {
	collectSeldom()
	file := id
	corpus, err := openCorpus(f.corpus)
	if err != nil {
		return err
	}
	if isCaseFile(file) {
		one, err := openCaseFile(corpus, file)
		if err != nil {
			return err
		}
		defer one.remove()
		corpus, id = one.Corpus, one.id
	}
	cfg, err := f.config(corpus, id)
	if err != nil {
		return err
	}
	if _, err := os.Stat(f.out); err == nil {
		return fmt.Errorf("%s exists: name another file with -o", f.out)
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	step, wipe := progress(cmd.ErrOrStderr())
	if step != nil {
		total := 0
		cfg.Progress = func(tries, lines int) {
			total = max(total, lines)
			step(total-lines, total, fmt.Sprintf("%d lines left, %d tries", lines, tries))
		}
	}
	res, err := shrink.Shrink(ctx, *cfg)
	wipe()
	if err != nil {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	again := f.rerun(cfg, res.Case.ID)
	files, err := res.Files(about(cfg, res, file, again))
	if err != nil {
		return err
	}
	if err := shrink.Write(f.out, files); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %d of %d lines, %d of %d steps, %d of %d bytes after %d tries\n  %s\n  %s\n", f.out,
		res.After.Lines, res.Before.Lines, res.After.Steps, res.Before.Steps, res.After.Bytes, res.Before.Bytes, res.Tries, oneLine(res.Problem), again)
	return nil
}

func (f *shrinkFlags) config(corpus fixtures.Corpus, id string) (*shrink.Config, error) {
	switch {
	case f.check == "":
		return nil, errors.New("--check is missing: name the check that fails; the failures of `turnspec run` name it")
	case f.out == "":
		return nil, errors.New("-o is missing: name the file to write, such as bug.zip")
	}
	chosen, err := backend.Named(f.check)
	if err != nil {
		return nil, err
	}
	if len(chosen) != 1 {
		return nil, fmt.Errorf("--check %s names %d checks: name one", f.check, len(chosen))
	}
	f.subject.runtime, _, _ = strings.Cut(id, "/")
	cfg := &shrink.Config{
		Corpus: corpus, Case: id, Check: chosen[0], Fault: f.fault, Seed: f.seed, Tries: f.tries, Limit: f.limit,
	}
	if ids, err := matching(corpus, id); err != nil {
		return nil, err
	} else if len(ids) == 1 {
		cfg.Case = ids[0]
	} else {
		return nil, fmt.Errorf("%q matches %d cases: name one", id, len(ids))
	}
	f.subject.runtime, _, _ = fixtures.SplitCaseID(cfg.Case)
	guard, err := references(f.subject.runtime)
	if err != nil {
		return nil, err
	}
	if f.broken != "" {
		d, err := defects.Named(f.broken)
		if err != nil {
			return nil, err
		}
		cfg.Subject, cfg.Guard = d.Subject(guard[0]), guard[0]
		return cfg, nil
	}
	subjects, err := f.subject.subjects()
	if err != nil {
		return nil, err
	}
	cfg.Subject = subjects[0]
	if f.subject.external() {
		cfg.Guard = guard[0]
	}
	return cfg, nil
}

// rerun returns the command that fails on the smaller case.
func (f *shrinkFlags) rerun(cfg *shrink.Config, id string) string {
	return f.subject.subjectCommand(fmt.Sprintf("turnspec run --corpus %s --case %s --check %s", quoted(f.out), id, cfg.Check.ID))
}

func about(cfg *shrink.Config, res *shrink.Result, id, again string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s fails the check %s.\n\n%s\n\n%s\n", cfg.Subject.Name(), cfg.Check.ID, cfg.Check.Sentence, res.Problem)
	if res.Fault != "" {
		fmt.Fprintf(&b, "\nIt fails with the fault %s.\n", res.Fault)
	}
	fmt.Fprintf(&b, "\nThe case was made from %s by `turnspec shrink`: %d of its %d lines are left. It is no recording any more.\n", id, res.After.Lines, res.Before.Lines)
	fmt.Fprintf(&b, "\n  %s\n", again)
	return b.String()
}

// zippedCorpus opens a corpus that is a zip archive.
func zippedCorpus(file string) (fixtures.Corpus, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return fixtures.Corpus{}, fmt.Errorf("%s: %w", file, err)
	}
	return fixtures.Corpus{FS: z, Root: file}, nil // it stays open until the program exits
}
