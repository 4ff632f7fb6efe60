package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// pollInterval is how often --watch looks for changed files.
const pollInterval = 300 * time.Millisecond

// watchSuite runs the suite again whenever a file below the current folder changes, until
// ctx ends. The reports of a round are no such files.
func watchSuite(cmd *cobra.Command, f runFlags) error {
	targets, err := f.out.targets()
	if err != nil {
		return err
	}
	own, err := ownFiles(targets)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	cmd.SetContext(ctx)
	errOut := cmd.ErrOrStderr()
	var before map[string]fileState
	return watchLoop(ctx, watcher{
		run: func(lastFailed bool) error {
			before = fileStates(".", own) // a change during the run counts
			g := f
			g.lastFailed = lastFailed
			return suite(cmd, g)
		},
		changed: func(ctx context.Context) (string, error) { return waitForChange(ctx, ".", before, own) },
		report: func(text string) {
			if strings.HasPrefix(text, changedPrefix) {
				if isTerminal(errOut) {
					fmt.Fprint(errOut, "\x1b[2J\x1b[H") // clear the screen
				}
				text += "\n"
			}
			fmt.Fprintln(errOut, text)
		},
	})
}

const changedPrefix = "changed: "

// watcher is what watchLoop does.
type watcher struct {
	run     func(lastFailed bool) error // errFailed: a check failed
	changed func(context.Context) (file string, err error)
	report  func(text string)
}

// watchLoop runs, waits for a change and runs again: first what failed in the last run, and
// all if that passes. It returns the error of ctx.
func watchLoop(ctx context.Context, w watcher) error {
	failed := false
	for {
		err := w.run(failed)
		if failed && err == nil && ctx.Err() == nil {
			w.report("\nwhat failed passes now; the rest may fail, so all cases run:\n")
			err = w.run(false)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errFailed):
			failed = true
		case err != nil:
			w.report("turnspec: " + err.Error())
			failed = false // the program may not start: there is no list of failures
		default:
			failed = false
		}
		w.report("\nwaiting for a change of a file in this folder; ^C ends")
		file, err := w.changed(ctx)
		if err != nil {
			return err
		}
		w.report(changedPrefix + file)
	}
}

// fileState is what tells whether a file was changed.
type fileState struct {
	size int64
	time time.Time
}

// unwatched are folders that hold what tools write.
var unwatched = []string{"node_modules", "__pycache__", "target", "dist", "build", "vendor"}

// ownFiles returns the absolute names of the reports.
func ownFiles(reports []target) (map[string]bool, error) {
	out := map[string]bool{}
	for _, t := range reports {
		name, err := filepath.Abs(t.file)
		if err != nil {
			return nil, err
		}
		out[name] = true
	}
	return out, nil
}

// fileStates returns the states of the files below a folder, without hidden files, what
// tools write, and the files own, which are absolute names.
func fileStates(dir string, own map[string]bool) map[string]fileState {
	out := map[string]fileState{}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // a file that was removed meanwhile is a change of its own
		case name != dir && (strings.HasPrefix(d.Name(), ".") || d.IsDir() && slices.Contains(unwatched, d.Name())):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular():
			if whole, err := filepath.Abs(name); err == nil && own[whole] {
				return nil
			}
			if info, err := d.Info(); err == nil {
				out[name] = fileState{info.Size(), info.ModTime()}
			}
		}
		return nil
	})
	return out
}

// waitForChange waits until the files below a folder, without the files own, differ from
// before, and returns the name of one that does.
func waitForChange(ctx context.Context, dir string, before map[string]fileState, own map[string]bool) (string, error) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if file := changedFile(before, fileStates(dir, own)); file != "" {
			return file, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-tick.C:
		}
	}
}

// changedFile returns the first file, by name, that was added, changed or removed, or "".
func changedFile(before, after map[string]fileState) string {
	var out []string
	for name, state := range after {
		if old, had := before[name]; !had || old != state {
			out = append(out, name)
		}
	}
	for name := range before {
		if _, has := after[name]; !has {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return slices.Min(out)
}
