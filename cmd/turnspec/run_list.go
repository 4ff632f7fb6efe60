package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/conformance/runner"
)

// listed is what --list prints as JSON.
type listed struct {
	Cases  []string      `json:"cases"`
	Checks []listedCheck `json:"checks"`
}

type listedCheck struct {
	ID       string `json:"id"`
	Sentence string `json:"sentence"`
}

// listRun prints the cases that a run tries, in the order in which it begins them. It starts no
// program.
func listRun(cmd *cobra.Command, f runFlags) error {
	cfg, err := f.config()
	if err != nil {
		return err
	}
	out := listed{Checks: []listedCheck{}}
	if out.Cases, err = runner.Cases(cfg); err != nil {
		return err
	}
	if f.out.json {
		for _, c := range cfg.Checks {
			out.Checks = append(out.Checks, listedCheck{c.ID, c.Sentence})
		}
		return printJSON(cmd.OutOrStdout(), out)
	}
	for _, id := range out.Cases {
		fmt.Fprintln(cmd.OutOrStdout(), id)
	}
	return nil
}

// stream writes a line for each case while a run goes on: see report.CaseLine.
type stream struct {
	w     io.WriteCloser
	about report.About
	err   error // the first one; what follows is not written
}

// openStream opens the file of --stream. /dev/fd/N is the open file N: that of a parent in Node
// is a socket, which cannot be opened by name.
func openStream(name string, about report.About) (*stream, error) {
	if text, is := strings.CutPrefix(name, "/dev/fd/"); is {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("--stream %s: want /dev/fd/ and a number", name)
		}
		return &stream{w: os.NewFile(uintptr(n), name), about: about}, nil
	}
	w, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("--stream: %w", err)
	}
	return &stream{w: w, about: about}, nil
}

// add writes the verdicts on a case.
func (s *stream) add(results []conformance.Result) {
	if s.err == nil {
		s.err = report.CaseLine(s.w, results, s.about)
	}
}

// close returns the first error.
func (s *stream) close() error {
	if err := errors.Join(s.err, s.w.Close()); err != nil {
		return fmt.Errorf("--stream: %w", err)
	}
	return nil
}
