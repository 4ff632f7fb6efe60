package explore

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/lab/shrink"
	"github.com/turnspec/turnspec/conformance/report"
)

// Finding is a check that failed on a scenario.
type Finding struct {
	Check    string           `json:"check"`
	Tier     conformance.Tier `json:"tier"`
	Severity string           `json:"severity,omitempty"`
	Problem  string           `json:"problem"`
	Seed     uint64           `json:"seed"`
	Index    int              `json:"index"`
	// Flaky is set if the check did not fail again when the scenario was performed again.
	Flaky    bool   `json:"flaky,omitzero"`
	Times    int    `json:"times"` // how many scenarios failed in this way
	Dir      string `json:"dir"`   // a corpus with the scenario and its case
	Scenario string `json:"scenario"`
	Rerun    string `json:"rerun"`
}

// digits are what differs between two failures of the same kind.
var digits = regexp.MustCompile(`[0-9a-f]*[0-9][0-9a-f-]*|"[^"]*"`)

// signature is equal for failures of the same kind.
func (f failure) signature() string {
	live := ""
	if f.Tier == conformance.TierLive {
		live = "live "
	}
	return live + f.Check + ": " + digits.ReplaceAllString(fmt.Sprintf("%.120s", f.Problem), "N")
}

// writeFinding writes a corpus with the scenario and its case, and a description of the
// failure, and returns the finding.
func writeFinding(dir string, command func(run string) string, o *outcome, first failure, e entry, flaky bool) (*Finding, error) {
	f := first
	for _, other := range o.failures { // of the smallest scenario
		if other.same(first) {
			f = other
			break
		}
	}
	name := fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(f.Check, ".", "-"), e.Seed, e.Index)
	if f.Tier == conformance.TierLive {
		name += "-live"
	}
	out := &Finding{
		Check: f.Check, Tier: f.Tier, Severity: f.Severity, Problem: f.Problem, Seed: e.Seed, Index: e.Index, Flaky: flaky, Times: 1,
		Dir: filepath.Join(dir, "findings", name), Scenario: o.scenario.ID,
	}
	run := fmt.Sprintf("turnspec run --corpus %s --case %s --check %s", out.Dir, o.recorded.ID, f.Check)
	if f.Tier == conformance.TierLive {
		run += " --tier live"
	}
	out.Rerun = command(run)
	files, err := shrink.CorpusFiles(o.text, o.recorded)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d, scenario %d: %s\n", e.Seed, e.Index, e.Plan)
	if flaky {
		text.WriteString("Performed again, the scenario did not fail this check.\n")
	}
	if err := report.Failure(&text, f.result, report.Style{}); err != nil {
		return nil, err
	}
	fmt.Fprintf(&text, "\nrerun here: %s\n", out.Rerun)
	files["FAILURE.txt"] = []byte(text.String())
	return out, shrink.Write(out.Dir, files)
}
