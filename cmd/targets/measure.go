package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance/lab/bench/curve"
)

// figures are those of one commit. What was not measured is 0.
type figures struct {
	Build           time.Duration // processor time of a build without a cache
	Size            int64         // bytes of the program, as a release builds it
	Start, Spawn    time.Duration // medians of `turnspec version`, and of `true` between them
	Suite, Whole    curve.Point   // of `turnspec run`, and with --exhaustive
	Tests, TestsCPU time.Duration // of go test ./...
}

type work struct {
	ctx               context.Context
	exhaustive, tests bool
	progress          io.Writer
}

// measure clones a commit into dir and measures it. With an error it returns the figures
// measured before.
func (w *work) measure(dir, commit string) (f figures, err error) {
	if err := w.clone(dir, commit); err != nil {
		return f, err
	}
	program := filepath.Join(dir, ".tmp", "turnspec")
	used, err := w.runCommand(dir, []string{"GOCACHE=" + filepath.Join(dir, ".tmp", "cache")},
		"go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/turnspec")
	if err != nil {
		return f, err
	}
	f.Build = used.cpu
	if err := w.release(dir, &f); err != nil {
		return f, err
	}
	if f.Suite, err = w.suite(program, "run"); err != nil {
		return f, err
	}
	if w.exhaustive {
		if f.Whole, err = w.suite(program, "run", "--exhaustive"); err != nil {
			return f, err
		}
	}
	if w.tests {
		used, err := w.runCommand(dir, nil, "go", "test", "-count=1", "./...")
		if err != nil {
			return f, err
		}
		f.Tests, f.TestsCPU = used.took, used.cpu
	}
	return f, nil
}

func (w *work) clone(dir, commit string) error {
	id, err := exec.CommandContext(w.ctx, "git", "rev-parse", "--verify", commit+"^{commit}").Output()
	if err != nil {
		return fmt.Errorf("there is no commit %s", commit)
	}
	if _, err := w.runCommand(".", nil, "git", "clone", "--quiet", "--no-checkout", ".", dir); err != nil {
		return err
	}
	_, err = w.runCommand(dir, nil, "git", "checkout", "--quiet", "--detach", string(id[:len(id)-1]))
	return err
}

// release builds the program as cmd/dist does, and measures it.
func (w *work) release(dir string, f *figures) error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if _, err := w.runCommand(dir, nil, "go", "run", "./cmd/dist", "--targets", platform, "--out", ".tmp/dist"); err != nil {
		return err
	}
	program := filepath.Join(dir, ".tmp", "dist", "bin", strings.ReplaceAll(platform, "/", "_"), "turnspec")
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	f.Size = info.Size()
	f.Start, f.Spawn, err = w.starts(dir, program)
	return err
}

const starts = 21

// starts returns the medians of how long the program and `true` take, in turns.
func (w *work) starts(dir, program string) (start, spawn time.Duration, err error) {
	var own, others []time.Duration
	for range starts {
		used, err := w.runCommand(dir, nil, program, "version")
		if err != nil {
			return 0, 0, err
		}
		control, err := w.runCommand(dir, nil, "true")
		if err != nil {
			return 0, 0, err
		}
		own, others = append(own, used.took), append(others, control.took)
	}
	slices.Sort(own)
	slices.Sort(others)
	return own[starts/2], others[starts/2], nil
}

func (w *work) suite(argv ...string) (curve.Point, error) {
	p, err := curve.Suite(w.ctx, w.progress, argv...)
	if err == nil {
		w.report(strings.Join(argv, " "), time.Duration(p.Wall*float64(time.Second)))
	}
	return p, err
}

// used is what a command used, with the programs that it waited for.
type used struct{ took, cpu time.Duration }

func (w *work) runCommand(dir string, env []string, name string, args ...string) (u used, err error) {
	c := exec.CommandContext(w.ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	began := time.Now()
	if out, err := c.CombinedOutput(); err != nil {
		return u, fmt.Errorf("%s: %w\n%s", c, err, out)
	}
	u.took = time.Since(began)
	w.report(c.String(), u.took)
	u.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return u, nil
}

// report prints how long a command took, unless it was short.
func (w *work) report(command string, took time.Duration) {
	if took > time.Second {
		fmt.Fprintf(w.progress, "%s: %s\n", command, took.Round(time.Second))
	}
}
