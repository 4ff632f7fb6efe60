package runner_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

func TestParseKnown(t *testing.T) {
	g := NewWithT(t)
	got, err := conformance.ParseKnownFailures("known.txt", []byte(`# What we know.

check: text.once
case: claude/*/tool/*
case: stop/mid-text
reason: the result is shown too: until v2
link: https://example.org/1

subject: mine
check: turn.end
case: *
reason: later
flaky: yes
`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal([]conformance.KnownFailure{
		{Check: "text.once", Case: "claude/*/tool/*", Reason: "the result is shown too: until v2", Link: "https://example.org/1", At: "known.txt:4"},
		{Check: "text.once", Case: "stop/mid-text", Reason: "the result is shown too: until v2", Link: "https://example.org/1", At: "known.txt:5"},
		{Check: "turn.end", Case: "*", Subject: "mine", Reason: "later", At: "known.txt:11", MayPass: true},
	}))
	none, err := conformance.ParseKnownFailures("known.txt", []byte("\n# nothing\n"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(none).To(BeEmpty())
}

func TestParseKnownRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"check text.once":                             "k:1: want `key: value`, not \"check text.once\"",
		"\ncheck:":                                    "k:2: check is empty",
		"check: a\nchecks: b":                         `k:2: no key "checks", only check, case, subject, reason, link, flaky`,
		"check: a\nflaky: often":                      `k:2: flaky: want yes, not "often"; leave it out if the failure never passes`,
		"check: a\ncheck: b":                          "k:2: check is given twice; an empty line begins the next entry",
		"check: a\ncase: [\nreason: x":                `k:2: case "[" is not a glob: syntax error in pattern`,
		"case: a\nreason: x":                          "k:1: the entry has no check",
		"check: a\nreason: x\n\ncheck: b":             "k:1: the entry has no case; `case: *` is all of them",
		"check: a\ncase: b\n":                         "k:1: the entry has no reason",
		"check: a\ncase: b\nreason: TODO say why":     "k:3: the reason is missing: write why it fails, and until when",
		"# x\ncheck: a\ncase: b\nreason: TODO: later": "k:4: the reason is missing: write why it fails, and until when",
	} {
		if _, err := conformance.ParseKnownFailures("k", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestKnown checks that a known failure does not fail the run, that a stale one does,
// and that one whose cases were not run is not stale.
func TestKnown(t *testing.T) {
	g := NewWithT(t)
	wrong := &conformance.Check{ID: "test.wrong", Severity: conformance.Must, Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierTiming},
		Judge: func(_ *conformance.Trial, f *conformance.Finding) { f.Asserted(1); f.Failf("wrong") }}
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{reference()}, Checks: []*conformance.Check{wrong, always},
		Cases: []string{"claude/newest/text/plain"},
	}
	stale := func(known ...conformance.KnownFailure) (bool, []string) {
		cfg.KnownFailures = known
		rep, err := runner.Run(t.Context(), cfg)
		g.Expect(err).NotTo(HaveOccurred())
		var out []string
		for _, u := range rep.Stale() {
			out = append(out, u.Check+" "+u.Case+": "+u.Stale())
		}
		return rep.Failed(), out
	}
	known := func(check, glob, subject string) conformance.KnownFailure {
		return conformance.KnownFailure{Check: check, Case: glob, Subject: subject, Reason: "x"}
	}
	failed, none := stale()
	g.Expect(failed).To(BeTrue())
	g.Expect(none).To(BeEmpty())
	failed, none = stale(known("test.wrong", "text/*", ""))
	g.Expect(failed).To(BeFalse(), "it is known")
	g.Expect(none).To(BeEmpty())
	failed, _ = stale(known("test.wrong", "text", "other"))
	g.Expect(failed).To(BeTrue(), "known of another subject")
	failed, none = stale(known("test.wrong", "text", ""), known("test.always", "text/plain", "claude"))
	g.Expect(failed).To(BeTrue())
	g.Expect(none).To(Equal([]string{"test.always text/plain: it does not fail any more"}))
	failed, none = stale(known("test.wrong", "*", ""), known("test.always", "tool", ""), known("test.always", "*", "other"), known("test.unheard", "*", ""))
	g.Expect(failed).To(BeFalse(), "none of their cases was run")
	g.Expect(none).To(BeEmpty())
	_, none = stale(known("test.wrong", "*", ""), known("test.wrong", "text/plane", ""))
	g.Expect(none).To(Equal([]string{"test.wrong text/plane: the corpus holds no such case"}))
	// A check that ran in only some of its tiers may pass.
	sound := *wrong
	sound.Judge = always.Judge
	cfg.Checks, cfg.Tiers = []*conformance.Check{&sound}, []conformance.Tier{conformance.TierWitness}
	_, none = stale(known("test.wrong", "*", ""))
	g.Expect(none).To(BeEmpty())
	cfg.Tiers = nil
	_, none = stale(known("test.wrong", "*", ""))
	g.Expect(none).To(HaveLen(1))
}

// TestApplyKnownFailures checks that known failures apply to results from elsewhere
// too, such as those of the live tier.
func TestApplyKnownFailures(t *testing.T) {
	g := NewWithT(t)
	cfg := conformance.Config{Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{reference()}, Tiers: []conformance.Tier{conformance.TierLive},
		KnownFailures: []conformance.KnownFailure{{Check: "test.always", Case: "text", Reason: "x"}, {Check: "test.never", Case: "text", Reason: "x"}}}
	results := []conformance.Result{
		{Check: always, Case: "claude/newest/text/plain", Subject: "claude", Tier: conformance.TierLive, Verdict: conformance.Fail},
		{Check: never, Case: "claude/newest/text/plain", Subject: "claude", Tier: conformance.TierLive, Verdict: conformance.Pass},
	}
	uses, err := runner.ApplyKnownFailures(cfg, results)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results[0].KnownFailure).NotTo(BeNil())
	rep := &conformance.Report{Results: results, KnownFailures: uses}
	g.Expect(rep.Stale()).To(BeEmpty(), "it may fail in the tiers that were not run")
	g.Expect(rep.Failed()).To(BeFalse())
}
