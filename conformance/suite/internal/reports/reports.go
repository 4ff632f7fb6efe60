// Package reports collects what the tests of a suite find, and writes the reports that
// the environment names. The suites for go test and for Ginkgo share it.
package reports

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/conformance/runner"
)

// variable names the reports to write: FORMAT=FILE, separated by commas.
const variable = "TURNSPEC_REPORT"

// Collector collects the results of a suite. Its methods may be called concurrently.
type Collector struct {
	files []reportFile

	mu        sync.Mutex
	results   []conformance.Result
	cases     int
	faultRuns int
	timings   []conformance.Timing
}

// reportFile is a report to write.
type reportFile struct {
	file  string
	write report.Writer
}

// NewCollector reads the environment. If a report is to be written, it sets cfg.Timing,
// and calls the former one from it.
func NewCollector(cfg *conformance.Config) (*Collector, error) {
	c := &Collector{}
	for _, text := range strings.FieldsFunc(os.Getenv(variable), func(r rune) bool { return r == ',' }) {
		format, file, _ := strings.Cut(strings.TrimSpace(text), "=")
		write := report.Named(format)
		if file == "" || write == nil {
			return nil, fmt.Errorf("%s=%s: want FORMAT=FILE, with one of the formats %s", variable, text, strings.Join(report.Formats(), ", "))
		}
		c.files = append(c.files, reportFile{file, write})
	}
	if timed := cfg.Timing; len(c.files) > 0 {
		cfg.Timing = func(x conformance.Timing) {
			if timed != nil {
				timed(x)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.timings = append(c.timings, x)
		}
	}
	return c, nil
}

// Add adds the results of a case.
func (c *Collector) Add(results []conformance.Result, faultRuns int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results = append(c.results, results...)
	c.cases, c.faultRuns = c.cases+1, c.faultRuns+faultRuns
}

// Results returns the results so far.
func (c *Collector) Results() []conformance.Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.results
}

// Cases returns how many cases were added.
func (c *Collector) Cases() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cases
}

// Write writes the reports, and logs the table of checks if it writes one or tests are
// verbose. rerun is the command that runs the suite again.
func (c *Collector) Write(t *testing.T, cfg conformance.Config, rerun string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.files) == 0 && !testing.Verbose() {
		return
	}
	rep := &conformance.Report{Results: c.results, Cases: c.cases, FaultRuns: c.faultRuns, Shard: cfg.Shard, Timings: c.timings, FailOnFlaky: cfg.FailOnFlaky}
	var err error
	if rep.KnownFailures, err = runner.KnownFailureUses(cfg, c.results); err != nil {
		t.Error(err)
	}
	d := report.New(rep, report.About{Selection: report.Select(cfg), At: time.Now(), Rerun: rerun, Runs: cfg.KeepRuns, DrawChat: cfg.DrawChat})
	var table bytes.Buffer
	if err := report.Table(&table, d, report.Style{}); err != nil {
		t.Error(err)
	}
	t.Logf("\n%s\n%s", table.String(), report.Summary(d, report.Style{}))
	for _, x := range c.files {
		if err := x.save(d); err != nil {
			t.Errorf("%s: %v", variable, err)
		}
	}
}

func (x reportFile) save(d *report.Document) (err error) {
	f, err := os.Create(x.file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	return errors.Join(x.write(w, d), w.Flush())
}
