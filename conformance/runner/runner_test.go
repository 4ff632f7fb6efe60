package runner_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

func reference() conformance.Subject { return conformance.Adapter("claude", claude.New()) }

// never is a check that makes no assertion, and always one whose only assertion
// holds.
var (
	never = &conformance.Check{ID: "test.never", Severity: conformance.Must, Tiers: []conformance.Tier{conformance.TierWitness},
		Judge: func(*conformance.Trial, *conformance.Finding) {}}
	always = &conformance.Check{ID: "test.always", Severity: conformance.Must, Tiers: []conformance.Tier{conformance.TierWitness},
		Judge: func(_ *conformance.Trial, f *conformance.Finding) { f.Asserted(1) }}
)

// few returns a corpus of three cases, so that a run of all of it is fast.
func few(t *testing.T) fixtures.Corpus {
	t.Helper()
	m := fstest.MapFS{}
	for _, scenario := range []string{"text/plain", "tool/parallel", "stop/mid-text"} {
		for _, name := range []string{"scenarios/" + scenario + ".txtar", fixtures.Embedded().Resolve("claude/newest/"+scenario) + ".txtar"} {
			b, err := fs.ReadFile(fixtures.Embedded().FS, name)
			if err != nil {
				t.Fatal(err)
			}
			m[name] = &fstest.MapFile{Data: b}
		}
	}
	return fixtures.Corpus{FS: m, Root: "fixtures"}
}

func TestSpread(t *testing.T) {
	g := NewWithT(t)
	places := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	g.Expect(runner.Spread(places, 10, func(n int) int { return n / 2 })).To(Equal(places))
	g.Expect(runner.Spread(places, 1, func(n int) int { return n / 2 })).To(Equal([]int{5}), "the middle")
	g.Expect(runner.Spread(places, 3, func(n int) int { return n / 2 })).To(Equal([]int{0, 2, 7}), "the first, and the inside")
	g.Expect(runner.Spread(nil, 3, func(n int) int { return n / 2 })).To(BeEmpty())
}

// TestMissing checks that a check without a verdict fails a report that demands one of it,
// and no other.
func TestMissing(t *testing.T) {
	g := NewWithT(t)
	cfg := conformance.Config{Corpus: few(t), Subjects: []conformance.Subject{reference()}, Checks: []*conformance.Check{never, always}, Workers: 2}
	rep, err := runner.Run(t.Context(), cfg)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rep.Failed()).To(BeFalse(), "no case of this runtime need show the check")
	rep.Missing = judge.Missing(rep.Results)
	g.Expect(rep.Missing).To(Equal([]*conformance.Check{never}))
	g.Expect(rep.Failed()).To(BeTrue())
	cfg.Cases = []string{"claude/newest/text/plain"}
	rep, err = runner.Run(t.Context(), cfg)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rep.Failed()).To(BeFalse())
	g.Expect(rep.Cases).To(Equal(1))
	cfg.Checks = []*conformance.Check{never}
	rep, err = runner.Run(t.Context(), cfg)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rep.Failed()).To(BeTrue(), "no check gave a verdict")
}

// TestNothingToRun checks that a run without cases, subjects or checks returns an
// error.
func TestNothingToRun(t *testing.T) {
	g := NewWithT(t)
	cfg := conformance.Config{Corpus: few(t), Subjects: []conformance.Subject{reference()}, Checks: []*conformance.Check{always}, Cases: []string{"text/none"}}
	_, err := runner.Run(t.Context(), cfg)
	g.Expect(err).To(MatchError(ContainSubstring(`no case of the subjects matches "text/none"`)))
	cfg.Cases, cfg.Subjects = nil, []conformance.Subject{foreign{reference()}}
	_, err = runner.Run(t.Context(), cfg)
	g.Expect(err).To(MatchError("the corpus holds no case for any subject: claude (gemini)"))
	cfg.Subjects = nil
	_, err = runner.Run(t.Context(), cfg)
	g.Expect(err).To(MatchError("there is no subject to run"))
	cfg.Subjects, cfg.Checks = []conformance.Subject{reference()}, nil
	_, err = runner.Run(t.Context(), cfg)
	g.Expect(err).To(MatchError("there is no check to run"))
	bad := *always
	bad.Faults = []string{"earthquake"}
	cfg.Checks = []*conformance.Check{&bad}
	_, err = runner.Run(t.Context(), cfg)
	g.Expect(err).To(MatchError(ContainSubstring(`no fault "earthquake"`)))
}

type foreign struct{ conformance.Subject }

func (foreign) Runtime() string { return "gemini" }

// TestCancelled checks that a cancelled run ends, even if no worker takes another
// job.
func TestCancelled(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := runner.Run(ctx, conformance.Config{Corpus: few(t), Subjects: []conformance.Subject{reference()}, Checks: []*conformance.Check{always},
			Progress: func(int, int, string) { cancel() }})
		done <- err
	}()
	select {
	case err := <-done:
		g.Expect(err).To(MatchError(context.Canceled))
	case <-time.After(30 * time.Second):
		t.Fatal("the run does not end")
	}
}

// TestVerdicts checks the verdict for each combination of finding and run.
func TestVerdicts(t *testing.T) {
	g := NewWithT(t)
	looked := func(_ *conformance.Trial, f *conformance.Finding) { f.Asserted(2) }
	failed := func(_ *conformance.Trial, f *conformance.Finding) { f.Asserted(2); f.Failf("wrong") }
	sent := func(_ *conformance.Trial, f *conformance.Finding) { f.Asserted(2); f.Sent = true }
	panics := func(_ *conformance.Trial, f *conformance.Finding) { f.Failf("wrong"); panic("out of range") }
	steer := conformance.StepResult{Step: fixtures.Step{Verb: fixtures.VerbSteer}, Err: adapters.ErrUnsupported}
	send := conformance.StepResult{Step: fixtures.Step{Verb: fixtures.VerbSend}, Err: adapters.ErrUnsupported}
	for name, x := range map[string]struct {
		judge func(*conformance.Trial, *conformance.Finding)
		run   conformance.Run
		wrote bool
		want  conformance.Verdict
	}{
		"looked":                      {judge: looked, want: conformance.Pass},
		"looked at what was sent":     {judge: sent, want: conformance.Sent},
		"wrong":                       {judge: failed, want: conformance.Fail},
		"nothing":                     {judge: never.Judge, want: conformance.NotApplicable},
		"unrecorded":                  {judge: looked, run: conformance.Run{Unrecorded: []string{"x"}}, want: conformance.Unrecorded},
		"wrong after unrecorded":      {judge: failed, run: conformance.Run{Unrecorded: []string{"x"}}, want: conformance.Unrecorded},
		"nothing and unrecorded":      {judge: never.Judge, run: conformance.Run{Unrecorded: []string{"x"}}, want: conformance.NotApplicable},
		"what was written is at hand": {judge: failed, run: conformance.Run{Unrecorded: []string{"x"}}, wrote: true, want: conformance.Fail},
		"no steer":                    {judge: failed, run: conformance.Run{Steps: []conformance.StepResult{steer}}, want: conformance.NotExpressible},
		"no send is no excuse":        {judge: failed, run: conformance.Run{Steps: []conformance.StepResult{send}}, want: conformance.Fail},
		"a check that panics":         {judge: panics, want: conformance.HarnessError},
		"the harness":                 {judge: looked, run: conformance.Run{Harness: "no case"}, want: conformance.HarnessError},
	} {
		x.run.Scenario = &fixtures.Scenario{ID: "a/b"}
		c := conformance.Check{ID: "test.x", Judge: x.judge, JudgesWritten: x.wrote}
		got := judge.Apply(&c, &conformance.Trial{Run: &x.run}, conformance.TierWitness)
		g.Expect(got.Verdict).To(Equal(x.want), name)
	}
}

// TestProblemNamesItsFault checks that a problem names the fault in whose run it was
// found, and that one of the run without a fault names none.
func TestProblemNamesItsFault(t *testing.T) {
	g := NewWithT(t)
	both := &conformance.Check{
		ID: "test.both", Tiers: []conformance.Tier{conformance.TierWitness}, Faults: []string{"kill"},
		Judge:      func(_ *conformance.Trial, f *conformance.Finding) { f.Failf("wrong") },
		JudgeFault: func(_, _ *conformance.Run, f *conformance.Finding) { f.Diff("other", "a\n", "b\n") },
	}
	rep, err := runner.Run(t.Context(), conformance.Config{
		Corpus: few(t), Subjects: []conformance.Subject{reference()}, Checks: []*conformance.Check{both}, Tiers: []conformance.Tier{conformance.TierWitness},
	})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rep.Results).NotTo(BeEmpty())
	for _, r := range rep.Results {
		g.Expect(r.Problems).To(HaveLen(2), r.Case)
		plain, killed := r.Problems[0], r.Problems[1]
		g.Expect(plain.Text).To(Equal("wrong"))
		g.Expect(plain.Fault).To(BeNil())
		g.Expect(killed.Fault.Operator).To(Equal("kill"))
		g.Expect(killed.Text).To(Equal(killed.Fault.String() + ": other"))
	}
}

// counter counts the events of a run.
type counter struct{ n int }

func (c *counter) Add(event.Event)      { c.n++ }
func (c *counter) Result() (any, error) { return c.n, nil }

// TestObservers checks that the runs of a job hold what the observer of a check that is
// judged made of their events, and that no other observer sees them: a defect of the
// reducer must not affect the run of another adapter.
func TestObservers(t *testing.T) {
	g := NewWithT(t)
	observer := &conformance.Observer{Observe: func() conformance.Observation { return &counter{} }}
	observed := &conformance.Check{
		ID: "test.observed", Tiers: []conformance.Tier{conformance.TierGolden}, Observer: observer,
		Judge: func(t *conformance.Trial, f *conformance.Finding) {
			f.Asserted(1)
			if n := t.Observed[observer]; n != len(t.Events) {
				f.Failf("%v of %d events were observed", n, len(t.Events))
			}
		},
	}
	for _, tiers := range [][]conformance.Tier{{conformance.TierWitness, conformance.TierGolden}, {conformance.TierWitness}} {
		rep, err := runner.Run(t.Context(), conformance.Config{
			Corpus: few(t), Subjects: []conformance.Subject{reference()}, Checks: []*conformance.Check{always, observed}, KeepRuns: true, Tiers: tiers,
		})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(rep.Failed()).To(BeFalse())
		g.Expect(rep.Results).NotTo(BeEmpty())
		for _, r := range rep.Results {
			g.Expect(r.Trial.Observed).To(HaveLen(len(tiers)-1), r.Case)
		}
	}
}

// inRealTime is a subject in a separate process.
type inRealTime struct{ conformance.Subject }

func (inRealTime) External() {}

// TestInexpressible checks the verdicts on a case that no subject can perform: a check that
// judges transcripts judges that of the case, others do not, and in real time the golden
// tier has no verdicts there, as on any case.
func TestInexpressible(t *testing.T) {
	g := NewWithT(t)
	both := &conformance.Check{
		ID: "test.both", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierGolden},
		Judge: func(_ *conformance.Trial, f *conformance.Finding) { f.Failf("it was judged") },
	}
	transcript := &conformance.Check{
		ID: "test.transcript", Tiers: []conformance.Tier{conformance.TierGolden}, JudgesTranscript: true,
		Judge: func(t *conformance.Trial, f *conformance.Finding) { f.Asserted(len(t.Events)) },
	}
	got := map[string]conformance.Verdict{}
	for name, s := range map[string]conformance.Subject{"virtual": reference(), "real": inRealTime{reference()}} {
		rep, err := runner.Run(t.Context(), conformance.Config{
			Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{s}, Checks: []*conformance.Check{both, transcript},
			Cases: []string{"claude/newest/misuse/initialize-twice"},
		})
		g.Expect(err).NotTo(HaveOccurred())
		for _, r := range rep.Results {
			got[name+" "+string(r.Tier)+" "+r.Check.ID] = r.Verdict
		}
	}
	g.Expect(got).To(Equal(map[string]conformance.Verdict{
		"virtual witness test.both": conformance.NotExpressible, "virtual golden test.both": conformance.NotExpressible,
		"virtual golden test.transcript": conformance.Pass, "real witness test.both": conformance.NotExpressible,
	}))
}

// TestShould checks that a failed SHOULD does not fail the report.
func TestShould(t *testing.T) {
	g := NewWithT(t)
	should := &conformance.Check{ID: "test.should", Severity: conformance.Should}
	rep := &conformance.Report{Results: []conformance.Result{{Check: should, Verdict: conformance.Fail}}}
	g.Expect(rep.Failed()).To(BeFalse())
	should.Severity = conformance.Must
	g.Expect(rep.Failed()).To(BeTrue())
}

func TestDiff(t *testing.T) {
	g := NewWithT(t)
	g.Expect(conformance.Diff("want", "a\nb\n", "got", "a\nc\n")).To(Equal("--- want\n+++ got\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"))
	g.Expect(conformance.Diff("want", "a\n", "got", "a\n")).To(BeEmpty())
}

// TestInterruptedRunReportsWhatIsDone checks that a run whose context ends returns the
// verdicts on the cases that were done before.
func TestInterruptedRunReportsWhatIsDone(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	cfg := conformance.Config{Corpus: few(t), Subjects: []conformance.Subject{reference()}, Checks: []*conformance.Check{always}}
	cfg.Progress = func(done, _ int, _ string) {
		if done == 1 {
			cancel()
		}
	}
	rep, err := runner.Run(ctx, cfg)
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(rep.Interrupted).To(BeTrue())
	g.Expect(rep.Cases).To(Equal(1))
	g.Expect(rep.Results).NotTo(BeEmpty())
}

// TestBeginsWithEachTopic checks that a run begins with the cheapest case of each topic,
// and passes the results of each case on at once.
func TestBeginsWithEachTopic(t *testing.T) {
	g := NewWithT(t)
	var first []string
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{reference()}, Checks: []*conformance.Check{always}, Workers: 1,
		Cases: []string{"claude/newest/text/*", "claude/newest/permission/*", "claude/newest/stop/*"},
		Judged: func(done, total int, results []conformance.Result) {
			g.Expect(results).NotTo(BeEmpty())
			g.Expect(done).To(BeNumerically("<=", total))
			if topic := strings.Split(results[0].Case, "/")[2]; done <= 3 {
				first = append(first, topic)
			}
		},
	}
	_, err := runner.Run(t.Context(), cfg)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first).To(ConsistOf("text", "permission", "stop"))
}
