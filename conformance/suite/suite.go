// Package suite runs the conformance suite as a Go test.
//
//	func TestMain(m *testing.M) {
//		conformance.Main()
//		os.Exit(m.Run())
//	}
//
//	func TestConformance(t *testing.T) {
//		suite.Run(t, conformance.Config{
//			Corpus:   fixtures.Embedded(),
//			Subjects: []conformance.Subject{myAdapter{}},
//			Checks:   checks.All(),
//		})
//	}
//
// Each case is a subtest named by topic, scenario, runtime and version, such as
// TestConformance/text/plain/claude@2.1.197, so -run chooses cases:
//
//	go test -run TestConformance/permission
//	go test -run TestConformance/text/plain/claude
//
// Package specs adds the same to a Ginkgo suite.
package suite

import (
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/conformance/suite/internal/reports"
	"github.com/turnspec/turnspec/conformance/worker"
	"github.com/turnspec/turnspec/fixtures"
)

// Run runs each case of the configuration as a parallel subtest of t. The subtest
// fails if a check with severity MUST fails and is no known failure. It is skipped,
// with the reason, if no check gave a verdict, because the subject does not support a
// step of the case; t fails if that holds for every case. After a whole run t fails too
// if a known failure is stale; a run of some cases (Config.Cases, Config.Shard, or
// go test -run) does not judge that.
//
// With go test -v, Run logs a table of the checks. The variable TURNSPEC_REPORT names
// reports to write, FORMAT=FILE separated by commas, in the formats of
// `turnspec run --report`; the folder of the test is the working directory:
//
//	TURNSPEC_REPORT=html=report.html,junit=junit.xml go test -run TestConformance
//
// An HTML report shows chats if cfg.DrawChat draws them, as chats.Bubbles of
// conformance/backend/chats does.
//
// Cases run in worker processes, which are this test program, started again. So a
// panic or an exit of the subject fails its case only. Set cfg.InProcess to run them
// in this process, for a debugger, a coverage profile or the race detector.
func Run(t *testing.T, cfg conformance.Config) {
	t.Helper()
	if cfg.Isolate == "" && !cfg.InProcess && worker.Supported {
		cfg.Isolate = t.Name()
	}
	jobs, err := runner.Jobs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	all, err := reports.NewCollector(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	// Cleanup runs after the parallel subtests.
	t.Cleanup(func() {
		if reason := conformance.WhyUnjudged(all.Results()); reason != "" {
			t.Errorf("no check gave a verdict: %s", reason)
		}
		if all.Cases() == len(jobs) && !cfg.Shard.Partial() {
			judgeWhole(t, cfg, all.Results())
		}
		all.Write(t, cfg, report.GoTestCommand(t.Name()))
	})
	for _, job := range jobs {
		t.Run(subtestName(cfg, job), func(t *testing.T) {
			t.Parallel()
			results, faultRuns, err := runner.Do(cfg, job)
			if err != nil {
				t.Fatal(err)
			}
			all.Add(results, faultRuns)
			if failures := report.CaseFailures(cfg, results, report.GoTestCommand(t.Name())); failures != "" {
				t.Error("\n" + failures)
			}
			for _, r := range results {
				if r.Verdict == conformance.Flaky && !r.Fails(cfg.FailOnFlaky) {
					t.Logf("flaky: %s: %s", r.Check.ID, r.Reason)
				}
			}
			if reason := conformance.WhyUnjudged(results); reason != "" {
				t.Skip(reason)
			}
		})
	}
}

// subtestName names the subtest of a job. The topic comes first, because people
// choose cases by topic more often than by version.
func subtestName(cfg conformance.Config, job runner.Job) string {
	runtime, version, scenario := fixtures.SplitCaseID(job.Case.ID)
	name := scenario + "/" + runtime + "@" + version
	if len(cfg.Subjects) > 1 {
		name += "/" + job.Subject.Name()
	}
	return name
}

// judgeWhole reports what only a run of all selected cases can show.
func judgeWhole(t *testing.T, cfg conformance.Config, all []conformance.Result) {
	t.Helper()
	uses, err := runner.KnownFailureUses(cfg, all)
	if err != nil {
		t.Error(err)
		return
	}
	for _, u := range (&conformance.Report{KnownFailures: uses}).Stale() {
		t.Errorf("%s: %s: %s; remove the entry", u.At, u.Check, u.Stale())
	}
}
