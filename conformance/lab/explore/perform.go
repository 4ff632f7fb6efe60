package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/lab/live"
	"github.com/turnspec/turnspec/conformance/lab/shrink"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// outcome is what happened when a scenario was performed.
type outcome struct {
	text     []byte
	scenario *fixtures.Scenario
	recorded *fixtures.Case
	took     time.Duration // of the recording
	// notPerformed is why the runtime did not perform the scenario, or "". It is no
	// finding: the scenario expected something that the runtime does not do.
	notPerformed string
	failures     []failure
}

// failure is a failed check.
type failure struct {
	Check    string           `json:"check"`
	Tier     conformance.Tier `json:"tier"`
	Problem  string           `json:"problem"` // the first one
	Severity string           `json:"severity,omitempty"`
	result   conformance.Result
}

// same reports whether two failures are of the same check. One that shows in the replay
// is another one than one that shows live: only the first can be played again.
func (f failure) same(g failure) bool {
	return f.Check == g.Check && (f.Tier == conformance.TierLive) == (g.Tier == conformance.TierLive)
}

// recordLimit is how long the recording of a scenario may take.
const recordLimit = 60 * time.Second

// performer performs scenarios on a real runtime and judges a subject by them.
type performer struct {
	runtime runtimes.Runtime
	ground  *Ground         // the same
	corpus  fixtures.Corpus // holds the read replies
	subject conformance.Subject
	checks  []*conformance.Check
	seed    uint64
	limit   time.Duration // of a recording
	// replayOnly leaves out the live run.
	replayOnly bool
}

// perform records the scenario, replays the recording to the subject, with faults too,
// and then lets the subject drive the real runtime. An error means that the text is no
// scenario, or that ctx was cancelled.
func (p *performer) perform(ctx context.Context, text []byte) (*outcome, error) {
	out := &outcome{text: text}
	var err error
	if out.scenario, err = Parse(text); err != nil {
		return nil, err
	}
	if err := p.record(ctx, out); err != nil || out.notPerformed != "" {
		return out, err
	}
	corpus, err := shrink.Overlay(p.corpus, out.text, out.recorded)
	if err != nil {
		return nil, err
	}
	if err := p.replay(corpus, out); err != nil || p.replayOnly {
		return out, err
	}
	return out, p.live(ctx, corpus, out)
}

// record records the scenario.
func (p *performer) record(ctx context.Context, out *outcome) error {
	start := time.Now()
	defer func() { out.took = time.Since(start) }()
	var err error
	out.recorded, _, err = recorder.Record(ctx, recorder.Options{Scenario: out.scenario, Found: &p.runtime, Deadline: p.limit})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		out.notPerformed = err.Error()
	}
	return nil
}

// replay lets the subject perform the recording.
func (p *performer) replay(corpus fixtures.Corpus, out *outcome) error {
	cfg := conformance.Config{
		Corpus: corpus, Subjects: []conformance.Subject{p.subject}, Checks: p.checks,
		Places: 1, Seed: p.seed + 1, RealTimeLimit: 20 * time.Second,
	}
	results, _, err := runner.Do(cfg, runner.Job{Subject: p.subject, Case: out.recorded})
	out.add(results)
	return err
}

// live lets the subject drive the real runtime.
func (p *performer) live(ctx context.Context, corpus fixtures.Corpus, out *outcome) error {
	rep, err := live.Run(ctx, live.Config{
		Corpus: corpus, Scenarios: []*fixtures.Scenario{out.scenario}, Subjects: []conformance.Subject{p.subject},
		Checks: p.checks, Version: p.runtime.Version,
	})
	if err != nil {
		return err
	}
	out.add(rep.Results)
	return nil
}

// add keeps the failed results.
func (o *outcome) add(results []conformance.Result) {
	for _, r := range results {
		if r.Verdict.Bad() {
			f := failure{Check: r.Check.ID, Tier: r.Tier, Problem: r.Reason, result: r}
			if r.Check.Severity != conformance.Must {
				f.Severity = r.Check.Severity.String()
			}
			if len(r.Problems) > 0 {
				f.Problem = r.Problems[0].Text
			}
			o.failures = append(o.failures, f)
		}
	}
}

// has reports whether a failure is among those of the outcome.
func (o *outcome) has(f failure) bool { return slices.ContainsFunc(o.failures, f.same) }

// hasLike reports whether a failure with the same words is among those of the outcome. A
// smaller scenario may fail the same check for another reason.
func (o *outcome) hasLike(f failure) bool {
	return slices.ContainsFunc(o.failures, func(g failure) bool { return f.same(g) && shrink.Words(f.Problem) == shrink.Words(g.Problem) })
}

// reason shortens why a scenario was not performed, so that equal reasons have equal
// texts.
func reason(err string) string {
	_, err, found := strings.Cut(err, ": ")
	if !found {
		return err
	}
	err, _, _ = strings.Cut(err, "\n")
	return digits.ReplaceAllString(fmt.Sprintf("%.160s", err), "N")
}
