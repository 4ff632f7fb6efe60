package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// knownFlags name the files of known failures.
type knownFlags struct{ from, to string }

func (f *knownFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.from, "known", "", "file of known failures, which do not fail the run (see above)")
	f.writeFlag(cmd)
}

func (f *knownFlags) writeFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.to, "write-known", "", "write the failures to a new file of known failures; then fill in the reasons")
}

// read returns the known failures. It also checks, before the run, that the file
// to write does not exist.
func (f *knownFlags) read() ([]conformance.KnownFailure, error) {
	if f.to != "" {
		if _, err := os.Lstat(f.to); err == nil {
			return nil, fmt.Errorf("--write-known: %s exists; name another file and copy the entries that you want", f.to)
		}
	}
	if f.from == "" {
		return nil, nil
	}
	b, err := os.ReadFile(f.from)
	if err != nil {
		return nil, fmt.Errorf("--known: %w", err)
	}
	known, err := conformance.ParseKnownFailures(f.from, b)
	if err != nil {
		return nil, err
	}
	ids := checkIDs()
	for _, k := range known {
		if !slices.Contains(ids, k.Check) {
			return nil, fmt.Errorf("%s: unknown check %q%s", k.At, k.Check, near(k.Check, ids))
		}
	}
	return known, nil
}

// write creates a file of known failures from the failures of the run.
func (f *knownFlags) write(d *report.Document) (err error) {
	if f.to == "" {
		return nil
	}
	w, err := os.OpenFile(f.to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("--write-known: %w", err)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	return report.WriteKnown(w, d)
}
