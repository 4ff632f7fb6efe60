package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/report"
)

// lastFailedFile returns the file that lists the cases that failed in the last run
// of this subject from this folder. command is the run without what chooses cases.
func lastFailedFile(command string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(wd + "\n" + command))
	return filepath.Join(cache, "turnspec", "last-failed", hex.EncodeToString(sum[:8])), nil
}

// readLastFailed returns the cases that failed in the last run.
func readLastFailed(command string) ([]string, error) {
	file, err := lastFailedFile(command)
	if err != nil {
		return nil, fmt.Errorf("--last-failed: %w", err)
	}
	b, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--last-failed: no run of `%s` from this folder is known: run it once without --last-failed", command)
	case err != nil:
		return nil, fmt.Errorf("--last-failed: %w", err)
	case len(b) == 0:
		return nil, errors.New("--last-failed: no case failed in the last run")
	}
	return strings.Fields(string(b)), nil
}

// storeLastFailed stores the cases that fail a run, for --last-failed of the next one.
func storeLastFailed(command string, d *report.Document) error {
	file, err := lastFailedFile(command)
	if err != nil {
		return err
	}
	var ids []string
	for _, e := range d.Results {
		if d.Fails(e) && !slices.Contains(ids, e.Case) {
			ids = append(ids, e.Case)
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Join(ids, "\n")), 0o644)
}
