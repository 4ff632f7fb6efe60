package suite

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/conformance/runner"
)

// reportVariable names the reports that Run writes: FORMAT=FILE, separated by commas.
const reportVariable = "TURNSPEC_REPORT"

// reportFile is a report to write.
type reportFile struct {
	file  string
	write report.Writer
}

// reportFiles reads the value of reportVariable.
func reportFiles(value string) ([]reportFile, error) {
	var out []reportFile
	for _, text := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' }) {
		format, file, _ := strings.Cut(strings.TrimSpace(text), "=")
		write := report.Named(format)
		if file == "" || write == nil {
			return nil, fmt.Errorf("%s=%s: want FORMAT=FILE, with one of the formats %s", reportVariable, text, strings.Join(report.Formats(), ", "))
		}
		out = append(out, reportFile{file, write})
	}
	return out, nil
}

// collected is what the subtests of a run have found.
type collected struct {
	results   []conformance.Result
	cases     int
	faultRuns int
	timings   []conformance.Timing
}

// writeReports logs the table of checks and writes the reports.
func writeReports(t *testing.T, cfg conformance.Config, files []reportFile, c *collected) {
	t.Helper()
	rep := &conformance.Report{Results: c.results, Cases: c.cases, FaultRuns: c.faultRuns, Shard: cfg.Shard, Timings: c.timings, FailOnFlaky: cfg.FailOnFlaky}
	var err error
	if rep.KnownFailures, err = runner.KnownFailureUses(cfg, c.results); err != nil {
		t.Error(err)
	}
	d := report.New(rep, report.About{Selection: report.Select(cfg), At: time.Now(), Rerun: report.GoTestCommand(t.Name()), Runs: cfg.KeepRuns})
	var table bytes.Buffer
	if err := report.Table(&table, d, report.Style{}); err != nil {
		t.Error(err)
	}
	t.Logf("\n%s", table.String())
	for _, x := range files {
		if err := x.save(d); err != nil {
			t.Errorf("%s: %v", reportVariable, err)
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
