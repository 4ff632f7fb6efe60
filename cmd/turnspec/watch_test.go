package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchLoop checks what --watch runs after each change: what failed first, and all
// once that passes.
func TestWatchLoop(t *testing.T) {
	outcomes := []error{
		errFailed,                     // all
		errFailed,                     // a change: what failed fails again
		nil,                           // a change: what failed passes
		nil,                           // so all runs, and passes
		errors.New("no such program"), // a change: all
		nil,                           // a change: all
	}
	want := []bool{false, true, true, false, false, false} // only what failed
	changesAfter := []int{1, 2, 4, 5, 6}                   // runs
	ctx, cancel := context.WithCancel(t.Context())
	var runs []bool
	var waits []int
	var reports []string
	err := watchLoop(ctx, watcher{
		run: func(lastFailed bool) error {
			runs = append(runs, lastFailed)
			return outcomes[len(runs)-1]
		},
		changed: func(ctx context.Context) (string, error) {
			waits = append(waits, len(runs))
			if len(runs) == len(outcomes) {
				cancel()
				return "", ctx.Err()
			}
			return "adapter.py", nil
		},
		report: func(text string) { reports = append(reports, text) },
	})
	if !errors.Is(err, context.Canceled) || !slices.Equal(runs, want) || !slices.Equal(waits, changesAfter) {
		t.Errorf("ran %v, want %v; waited after %v runs, want %v; %v", runs, want, waits, changesAfter, err)
	}
	for _, text := range []string{"changed: adapter.py", "turnspec: no such program", "\nwhat failed passes now; the rest may fail, so all cases run:\n"} {
		if !slices.Contains(reports, text) {
			t.Errorf("%q is not reported: %q", text, reports)
		}
	}
}

// TestWatchLoopEndsInARun checks that a run that was interrupted is the last one.
func TestWatchLoopEndsInARun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := watchLoop(ctx, watcher{
		run:     func(bool) error { cancel(); return ctx.Err() },
		changed: func(context.Context) (string, error) { t.Error("it waits for a change"); return "", context.Canceled },
		report:  func(text string) { t.Errorf("it reports %q", text) },
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestWaitForChange checks which files are watched, and that a change during the run before
// is not lost.
func TestWaitForChange(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("src/adapter.py", "1")
	for _, step := range []struct {
		name, text, want string
	}{
		{"src/adapter.py", "one", "src/adapter.py"},
		{"new.py", "", "new.py"},
		{"node_modules/x/index.js", "1", ""},
		{"src/__pycache__/adapter.pyc", "1", ""},
		{".git/HEAD", "1", ""},
	} {
		before := fileStates(dir, nil)
		write(step.name, step.text)
		want := step.want
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got := changedFile(before, fileStates(dir, nil)); got != want {
			t.Errorf("%s: %q changed, want %q", step.name, got, want)
		}
	}
	// What a round writes starts no other one, however the file is named.
	t.Chdir(dir)
	own, err := ownFiles([]target{{file: "report.html"}, {file: "./src/../report.json"}, {file: filepath.Join(dir, "junit.xml")}})
	if err != nil {
		t.Fatal(err)
	}
	before := fileStates(".", own)
	for _, name := range []string{"report.html", "report.json", "junit.xml"} {
		write(name, "1")
	}
	if got := changedFile(before, fileStates(".", own)); got != "" {
		t.Errorf("%s changed, which is a report of the run", got)
	}
	write("src/report.html", "1")
	if got := changedFile(before, fileStates(".", own)); filepath.ToSlash(got) != "src/report.html" {
		t.Errorf("%q changed, want src/report.html, which is a file of the user", got)
	}
	before = fileStates(dir, nil)
	if err := os.Remove(filepath.Join(dir, "new.py")); err != nil {
		t.Fatal(err)
	}
	if file, err := waitForChange(t.Context(), dir, before, nil); err != nil || filepath.Base(file) != "new.py" {
		t.Errorf("%q, %v: want new.py, which was removed", file, err)
	}
	now := fileStates(dir, nil)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if file, err := waitForChange(ctx, dir, now, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q changed, %v, although nothing did", file, err)
		}
	})
}
