package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// figures are those of one commit. What was not measured is 0.
type figures struct {
	Build         time.Duration // processor time of a build without a cache
	Size          int64         // bytes of the program, as a release builds it
	Start, Spawn  time.Duration // medians of `turnspec version`, and of `true` between them
	Suite, Whole  suite
	Tests, TestsC time.Duration // go test ./..., and its processor time
}

// suite is a run of `turnspec run`.
type suite struct {
	Runs     int // cases, and runs with a fault
	Took     time.Duration
	CPU      time.Duration
	Resident int64 // bytes, at most; 0 if the system does not count them
}

type work struct {
	ctx               context.Context
	exhaustive, tests bool
	progress          io.Writer
}

// measure clones a commit into dir and measures it.
func (w *work) measure(dir, commit string) (f figures, err error) {
	if err := w.clone(dir, commit); err != nil {
		return f, err
	}
	program := filepath.Join(dir, ".tmp", "turnspec")
	used, err := w.do(dir, []string{"GOCACHE=" + filepath.Join(dir, ".tmp", "cache")}, io.Discard,
		"go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/turnspec")
	if err != nil {
		return f, err
	}
	f.Build = used.cpu
	if err := w.release(dir, &f); err != nil {
		return f, err
	}
	if f.Suite, err = w.suite(dir, program, "run"); err != nil {
		return f, err
	}
	if w.exhaustive {
		if f.Whole, err = w.suite(dir, program, "run", "--exhaustive"); err != nil {
			return f, err
		}
	}
	if w.tests {
		used, err := w.do(dir, nil, io.Discard, "go", "test", "-count=1", "./...")
		if err != nil {
			return f, err
		}
		f.Tests, f.TestsC = used.took, used.cpu
	}
	return f, nil
}

func (w *work) clone(dir, commit string) error {
	id, err := exec.CommandContext(w.ctx, "git", "rev-parse", "--verify", commit+"^{commit}").Output()
	if err != nil {
		return fmt.Errorf("there is no commit %s", commit)
	}
	if _, err := w.do(".", nil, io.Discard, "git", "clone", "--quiet", "--no-checkout", ".", dir); err != nil {
		return err
	}
	_, err = w.do(dir, nil, io.Discard, "git", "checkout", "--quiet", "--detach", string(id[:len(id)-1]))
	return err
}

// release builds the program as cmd/dist does, with a packed corpus, and measures it.
func (w *work) release(dir string, f *figures) error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if _, err := w.do(dir, nil, io.Discard, "go", "run", "./cmd/dist", "--targets", platform, "--out", ".tmp/dist"); err != nil {
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
		used, err := w.do(dir, nil, io.Discard, program, "version")
		if err != nil {
			return 0, 0, err
		}
		control, err := w.do(dir, nil, io.Discard, "true")
		if err != nil {
			return 0, 0, err
		}
		own, others = append(own, used.took), append(others, control.took)
	}
	slices.Sort(own)
	slices.Sort(others)
	return own[starts/2], others[starts/2], nil
}

// ran finds the number of cases and of runs with a fault in what `turnspec run` prints.
var ran = regexp.MustCompile(`(\d+) cases and (\d+) `)

func (w *work) suite(dir, program string, args ...string) (s suite, err error) {
	var out tail
	used, err := w.do(dir, nil, &out, program, args...)
	if err != nil {
		return s, err
	}
	m := ran.FindSubmatch(out)
	if m == nil {
		return s, fmt.Errorf("%s printed no number of cases: %s", program, out)
	}
	for _, n := range m[1:] {
		i, err := strconv.Atoi(string(n))
		if err != nil {
			return s, err
		}
		s.Runs += i
	}
	s.Took, s.CPU, s.Resident = used.took, used.cpu, used.resident
	return s, nil
}

// used is what a command used, with the programs that it waited for.
type used struct {
	took, cpu time.Duration
	resident  int64
}

func (w *work) do(dir string, env []string, out io.Writer, name string, args ...string) (u used, err error) {
	c := exec.CommandContext(w.ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	var errs tail
	c.Stdout, c.Stderr = out, &errs
	began := time.Now()
	if err := c.Run(); err != nil {
		return u, fmt.Errorf("%s: %w\n%s", c, err, errs)
	}
	u.took = time.Since(began)
	if u.took > time.Second {
		fmt.Fprintf(w.progress, "%s: %s\n", c, u.took.Round(time.Second))
	}
	u.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	u.resident = resident(c.ProcessState)
	return u, nil
}

// tail keeps the last 64 KiB that are written to it.
type tail []byte

func (t *tail) Write(b []byte) (int, error) {
	const most = 64 << 10
	*t = append(*t, b...)
	if n := len(*t) - most; n > 0 {
		*t = slices.Delete(*t, 0, n)
	}
	return len(b), nil
}
