package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// job describes the recordings to make.
type job struct {
	recorder.Options
	corpus    fixtures.Corpus
	runtimes  []runtimes.Pin
	scenarios []*fixtures.Scenario
	check     bool // compare with the stored cases, write nothing
	lifecycle bool // the replies to reads too
	shard     conformance.Shard
	disk      string // the folder of the corpus; "" if there is none
}

// folderOf returns the folder that holds the cases of a scenario: --out, or that of
// the corpus, or the working directory for a scenario that is not in the corpus.
func (j job) folderOf(s *fixtures.Scenario) string {
	if j.Out != "" {
		return j.Out
	}
	if _, err := fs.Stat(j.corpus.FS, "scenarios/"+s.ID+".txtar"); err != nil || j.disk == "" {
		return "."
	}
	file, err1 := filepath.Abs(s.File)
	own, err2 := filepath.Abs(filepath.Join(j.disk, "scenarios", filepath.FromSlash(s.ID)+".txtar"))
	if err1 != nil || err2 != nil || file != own {
		return "."
	}
	return j.disk
}

// size returns the number of recordings of all shards.
func (j job) size() int {
	n := 0
	for _, pin := range j.runtimes {
		for _, s := range j.scenarios {
			if s.Excluded(pin.Name, pin.Version) == "" {
				n++
			}
		}
		if j.readsOf(pin) {
			n++
		}
	}
	return n
}

// scenariosOf returns the scenarios to record on a version. If the corpus has only a part
// of those that the version can perform, only that part is compared.
func (j job) scenariosOf(pin runtimes.Pin) ([]*fixtures.Scenario, error) {
	if !j.check || !isPartlyRecorded(pin) {
		return j.scenarios, nil
	}
	return j.corpus.RecordedScenarios(j.scenarios, pin.Name, pin.Version)
}

// pinsWithCases returns the versions that the corpus has cases of, and a line about each of the
// others. It is an error if there is none.
func pinsWithCases(corpus fixtures.Corpus, pins []runtimes.Pin) (with []runtimes.Pin, without []string, err error) {
	for _, pin := range pins {
		versions, err := corpus.Versions(pin.Name)
		if err != nil {
			return nil, nil, err
		}
		if slices.Contains(versions, pin.Version) {
			with = append(with, pin)
		} else {
			without = append(without, fmt.Sprintf("skip  %s: the corpus has no case of it", pin))
		}
	}
	if len(with) == 0 {
		return nil, nil, errors.New("the corpus has no case of these versions; `turnspec record --all` writes some")
	}
	return with, without, nil
}

// isPartlyRecorded reports whether the corpus has only a part of what the version can perform.
func isPartlyRecorded(pin runtimes.Pin) bool {
	rt := wires.Find(pin.Name)
	return rt != nil && rt.Unrecorded[pin.Version] != ""
}

// readsOf reports whether the replies to reads of a version are recorded too. Without stored ones
// of a version that is recorded in part there is nothing to compare.
func (j job) readsOf(pin runtimes.Pin) bool {
	if !j.lifecycle || !answersReads(pin.Name) {
		return false
	}
	_, err := j.corpus.LoadReadReplies(pin.Name, pin.Version)
	return !j.check || !isPartlyRecorded(pin) || !errors.Is(err, fs.ErrNotExist)
}

// record records every scenario on every runtime that performs it. It continues
// after a failure.
func record(ctx context.Context, out io.Writer, j job) error {
	failed, differ := 0, 0
	count := func(same bool, err error) {
		switch {
		case err != nil:
			failed++
			fmt.Fprintf(out, "FAIL  %v\n", err)
		case !same:
			differ++
		}
	}
	next := 0
	ours := func() bool { next++; return (next-1)%j.shard.Total == j.shard.Index-1 }
	for _, pin := range j.runtimes {
		o := j.Options
		o.Runtime, o.Version = pin.Name, pin.Version
		scenarios, err := j.scenariosOf(pin)
		if err != nil {
			return err
		}
		for _, s := range j.scenarios {
			if j.shard.Index == 1 && !slices.Contains(scenarios, s) {
				fmt.Fprintf(out, "skip  %s on %s: %s\n", s.ID, pin, cmp.Or(s.Excluded(pin.Name, pin.Version), "not recorded"))
			}
		}
		for _, s := range scenarios {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !ours() {
				continue
			}
			if why := s.Excluded(pin.Name, pin.Version); why != "" {
				fmt.Fprintf(out, "skip  %s on %s: %s\n", s.ID, pin, why)
				continue
			}
			o.Scenario, o.Out = s, j.folderOf(s)
			cases := j.corpus
			if j.Out == "" && o.Out != j.disk {
				cases = fixtures.Corpus{FS: os.DirFS(o.Out), Root: o.Out}
			}
			same, err := recordOne(ctx, out, o, cases, j.check)
			if err == nil && !j.check && isScenarioFile(s.File) {
				err = storeScenario(o.Out, s)
			}
			count(same, err)
		}
		if j.readsOf(pin) && ours() {
			o.Out = cmp.Or(j.Out, j.disk)
			count(recordReads(ctx, out, o, j.corpus, j.check))
		}
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d recordings failed, %d differ", failed, differ)
	case differ > 0:
		fmt.Fprintf(out, "%d recordings differ; `turnspec record SCENARIO` writes the new one\n", differ)
		return errFailed
	}
	return nil
}

// answersReads reports whether a runtime answers requests at all.
func answersReads(runtime string) bool {
	rt := wires.Find(runtime)
	return rt == nil || rt.Process.Message == nil
}

// storeScenario copies the file of a scenario beside the cases that were recorded, so
// that their folder is a corpus.
func storeScenario(dir string, s *fixtures.Scenario) error {
	b, err := os.ReadFile(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is of the embedded corpus, which every command knows
	}
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "scenarios", filepath.FromSlash(s.ID)+".txtar")
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644)
}

func recordReads(ctx context.Context, out io.Writer, o recorder.Options, corpus fixtures.Corpus, check bool) (same bool, err error) {
	if o.Scenario, err = corpus.LoadScenario(recorder.ReadsScenario); err != nil {
		return false, err
	}
	if !check {
		_, rep, err := recorder.RecordReads(ctx, o)
		if err == nil {
			fmt.Fprintf(out, "ok    %s  %d answers, %.1fs\n", rep.File, rep.Lines, rep.Took.Seconds())
		}
		return true, err
	}
	stored, err := corpus.LoadReadReplies(o.Runtime, o.Version)
	if err != nil {
		return false, err
	}
	return checkRepeatedly(ctx, out, stored.File, func() (string, *recorder.Report, error) { return recorder.CheckReads(ctx, o, stored) })
}

// tries is how often a case is recorded before it counts as different: a difference
// that does not occur each time is chance.
const tries = 3

// checkRepeatedly compares a recording with the stored case, and repeats that if it
// differs or fails. It prints each difference.
func checkRepeatedly(ctx context.Context, out io.Writer, file string, check func() (string, *recorder.Report, error)) (same bool, err error) {
	for n := 1; ; n++ {
		diff, rep, err := check()
		if n == tries || err == nil && diff == "" || ctx.Err() != nil {
			return compared(out, file, diff, rep, err)
		}
		if err != nil {
			diff = err.Error()
		}
		fmt.Fprintf(out, "again %s: recording %d of %d differed:\n%s\n", file, n, tries, strings.TrimRight(diff, "\n"))
	}
}

func recordOne(ctx context.Context, out io.Writer, o recorder.Options, corpus fixtures.Corpus, check bool) (same bool, err error) {
	if !check {
		_, rep, err := recorder.Record(ctx, o)
		if err == nil {
			fmt.Fprintf(out, "ok    %s  %d lines, %d requests, %.1fs\n", rep.File, rep.Lines, rep.Requests, rep.Took.Seconds())
		}
		return true, err
	}
	stored, err := corpus.LoadCase(o.Runtime + "/" + o.Version + "/" + o.Scenario.ID)
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%s on %s %s has no case; `turnspec record %s` makes it, or the scenario says `not on %s: why`",
			o.Scenario.ID, o.Runtime, o.Version, o.Scenario.ID, o.Runtime)
	}
	if err != nil {
		return false, err
	}
	return checkRepeatedly(ctx, out, stored.File, func() (string, *recorder.Report, error) { return recorder.Check(ctx, o, stored) })
}

// compared prints how a recording differs from the stored one.
func compared(out io.Writer, file, diff string, rep *recorder.Report, err error) (same bool, _ error) {
	switch {
	case err != nil:
		return false, err
	case diff != "":
		fmt.Fprintf(out, "DIFF  %s: recorded again, it differs:\n%s\n", file, strings.TrimRight(diff, "\n"))
		return false, nil
	}
	fmt.Fprintf(out, "same  %s  %.1fs\n", file, rep.Took.Seconds())
	return true, nil
}
