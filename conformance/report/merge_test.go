package report_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/turnspec/turnspec/conformance/runner"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/defects"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fixtures"
)

// casesToMerge are more than the shards of TestMergeEqualsWholeRun.
var casesToMerge = []string{
	"claude/2.1.332/text/plain", "claude/2.1.332/text/two-blocks", "claude/2.1.332/text/html", "claude/2.1.332/text/empty-delta",
	"claude/2.1.332/text/same-words-twice", "claude/2.1.332/stop/mid-text", "claude/2.1.332/stop/mid-tool", "claude/2.1.332/stop/when-idle",
}

// broken returns the configuration of a broken adapter on some real cases.
func broken(t *testing.T) conformance.Config {
	t.Helper()
	g := NewWithT(t)
	judges, err := checks.Named("text.once", "turn.one-terminal", "turn.crash-ends", "text.retracted")
	g.Expect(err).NotTo(HaveOccurred())
	defect, err := defects.Named("shows-the-result-too")
	g.Expect(err).NotTo(HaveOccurred())
	sound := conformance.Adapter("claude", claude.New())
	return conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{sound, defect.Subject(sound)}, Checks: judges,
		Cases: casesToMerge, Places: 1, Workers: 2,
		KnownFailures: []conformance.KnownFailure{
			{Check: "text.once", Case: "text/plain", Reason: "it is broken", At: "known.txt:2"},
			{Check: "turn.one-terminal", Case: "text", Reason: "it was broken", At: "known.txt:6"},
		},
	}
}

func document(t *testing.T, cfg conformance.Config) *report.Document {
	t.Helper()
	rep, err := runner.Run(t.Context(), cfg)
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	for i := range rep.Timings {
		rep.Timings[i].Took = time.Millisecond // the real times differ
	}
	d := report.New(rep, report.About{Turnspec: "v1", Corpus: "sha256:1", Selection: report.Select(cfg)})
	g.Expect(d.Failed).To(Equal(rep.Failed()))
	return d
}

// TestMergeEqualsWholeRun merges different numbers of shards in any order, and
// compares every form with that of the whole run.
func TestMergeEqualsWholeRun(t *testing.T) {
	g := NewWithT(t)
	cfg := broken(t)
	whole := document(t, cfg)
	g.Expect(whole.Failed).To(BeTrue())
	g.Expect(whole.Stale()).To(HaveLen(1))
	g.Expect(whole.Plays).NotTo(BeEmpty())
	for _, n := range []int{1, 2, 7} {
		var parts []report.Part
		for i := range n {
			cfg.Shard = conformance.Shard{Index: i + 1, Total: n}
			d := document(t, cfg)
			g.Expect(d.Shard == nil).To(Equal(n == 1))
			back, err := report.Read("x", []byte(written(t, report.JSON, d)))
			g.Expect(err).NotTo(HaveOccurred())
			parts = append(parts, report.Part{File: fmt.Sprint(i+1, ".json"), Document: back})
		}
		slices.Reverse(parts)
		merged, err := report.Merge(parts)
		g.Expect(err).NotTo(HaveOccurred())
		for _, name := range report.Formats() {
			g.Expect(written(t, report.Named(name), merged)).To(Equal(written(t, report.Named(name), whole)), "%s of %d", name, n)
		}
	}
}

// TestMergeFindsMissingChecks: a check without a verdict in one shard may have one in
// another.
func TestMergeFindsMissingChecks(t *testing.T) {
	g := NewWithT(t)
	part := func(i int, id string, v conformance.Verdict) report.Part {
		rep := &conformance.Report{Cases: 1, Shard: conformance.Shard{Index: i, Total: 2},
			Results: []conformance.Result{{Check: once, Case: id, Subject: "mine", Tier: conformance.TierWitness, Verdict: v}}}
		return report.Part{File: fmt.Sprint(i, ".json"), Document: report.New(rep, report.About{Selection: report.Selection{EveryCheck: true}})}
	}
	d, err := report.Merge([]report.Part{part(1, "codex/1/a/b", conformance.NotApplicable), part(2, "codex/1/a/c", conformance.Pass)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Failed).To(BeFalse())
	d, err = report.Merge([]report.Part{part(2, "codex/1/a/b", conformance.NotApplicable), part(1, "codex/1/a/c", conformance.Unrecorded)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Missing).To(Equal([]string{"text.once"}))
	g.Expect(d.Failed).To(BeTrue())
	_, err = report.Merge([]report.Part{part(1, "codex/1/a/b", conformance.Pass), part(2, "codex/1/a/b", conformance.Pass)})
	g.Expect(err).To(MatchError("1.json and 2.json both hold the case codex/1/a/b of mine: they are not shards of one run"))
}

func TestMergeRejectsOtherRuns(t *testing.T) {
	part := func(i, n int, change func(*report.Document)) report.Part {
		d := report.New(&conformance.Report{Shard: conformance.Shard{Index: i, Total: n}}, report.About{Turnspec: "v1", Corpus: "a"})
		if change != nil {
			change(d)
		}
		return report.Part{File: fmt.Sprint(i, ".json"), Document: d}
	}
	for name, x := range map[string]struct {
		parts []report.Part
		want  string
	}{
		"none":     {want: "there is no report to merge"},
		"missing":  {[]report.Part{part(1, 4, nil), part(3, 4, nil)}, "missing: shard 2/4, 4/4; merge needs all shards of a run"},
		"one":      {[]report.Part{part(1, 2, nil)}, "missing: shard 2/2; merge needs all shards of a run"},
		"doubled":  {[]report.Part{part(1, 2, nil), part(2, 2, nil), part(2, 2, nil)}, "shard 2/2 is given 2 times: 2.json, 2.json"},
		"a whole":  {[]report.Part{part(1, 2, nil), part(2, 1, nil)}, "2.json is the report of a whole run, not of a shard: it cannot be merged"},
		"totals":   {[]report.Part{part(1, 2, nil), part(2, 3, nil)}, "1.json and 2.json are of different numbers of shards: 2 and 3; run all shards with the same flags"},
		"versions": {[]report.Part{part(1, 2, nil), part(2, 2, func(d *report.Document) { d.Turnspec = "v2" })}, "1.json and 2.json are of different versions of turnspec: v1 and v2; run all shards with the same flags"},
		"corpora":  {[]report.Part{part(1, 2, nil), part(2, 2, func(d *report.Document) { d.Corpus = "b" })}, "1.json and 2.json are of different corpora: a and b; run all shards with the same flags"},
		"cases":    {[]report.Part{part(1, 2, nil), part(2, 2, func(d *report.Document) { d.Selection.Cases = []string{"text"} })}, "1.json and 2.json are of different cases: [] and [text]; run all shards with the same flags"},
		"known":    {[]report.Part{part(1, 2, nil), part(2, 2, func(d *report.Document) { d.Known = []report.KnownUse{{Check: "a"}} })}, "1.json and 2.json are of different known failures: [] and [{a   {   false} 0 0 0 false }]; run all shards with the same flags"},
	} {
		if _, err := report.Merge(x.parts); err == nil || err.Error() != x.want {
			t.Errorf("%s: %v, want %s", name, err, x.want)
		}
	}
}
