package report

import (
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/lab/bench"
)

func TestParseGate(t *testing.T) {
	for text, want := range map[string]Gate{
		"added-p99<=2x raw":         {Measure: "delay-p99", Limit: 2, Control: "raw"},
		" delay-max <= 1.5x lines ": {Measure: "delay-max", Limit: 1.5, Control: "lines"},
		"step-rate>=4x node@step":   {Measure: "step-rate", Least: true, Limit: 4, Control: "node", Load: "step"},
		"added-first<=1x spawn":     {Measure: "added-first", Limit: 1, Control: "spawn"},
		"lost<=0 @ many-50":         {Measure: "lost", Load: "many-50"},
		"cpu<=3us@flood":            {Measure: "cpu", Limit: 3e-6, Load: "flood"},
		"added-start<=1ms":          {Measure: "added-start", Limit: 1e-3},
		"idle-memory <= 150KiB":     {Measure: "idle-memory", Limit: 150 << 10},
	} {
		g := NewWithT(t)
		got, err := ParseGate(text)
		g.Expect(err).NotTo(HaveOccurred())
		want.Text = strings.TrimSpace(text)
		g.Expect(got).To(Equal(want))
	}
	for text, want := range map[string]string{
		"":                     "want MEASURE<=NUMBERx CONTROL",
		"added-p99<2x raw":     "want MEASURE<=NUMBERx CONTROL",
		"added-p99<=2 raw":     "want MEASURE<=NUMBERx CONTROL",
		"added-p99<=1.2.3":     "is no number",
		"cpu<=3KiB":            "cpu is not measured in KiB",
		"lost<=3ms":            "lost is not measured in ms",
		"speed<=2x raw":        `no measure "speed"`,
		"added-p99<=2x python": `no control "python", only raw, lines, node, sdk, dom, usechat, spawn`,
	} {
		_, err := ParseGate(text)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), text)
	}
	for _, text := range Targets {
		_, err := ParseGate(text)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
	}
}

// document returns a document with a subject and its control.
func document(subject, control []float64) *bench.Document {
	return &bench.Document{Series: []bench.Series{
		{Runtime: "codex", Load: "stream", Contender: "mine", Measure: "delay-p99", Unit: bench.Seconds, Samples: subject},
		{Runtime: "codex", Load: "stream", Contender: "raw", Control: true, Measure: "delay-p99", Unit: bench.Seconds, Samples: control},
	}}
}

func judged(t *testing.T, text string, d *bench.Document) Verdict {
	t.Helper()
	g, err := ParseGate(text)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Judge(d, []Gate{g})
	if err != nil || len(all) != 1 {
		t.Fatalf("%v %v", all, err)
	}
	return all[0]
}

func TestAGateFailsOnlyBeyondTheNoise(t *testing.T) {
	raw := []float64{1, 1, 1, 1, 1}
	for _, tt := range []struct {
		gate             string
		subject          []float64
		failed, doubtful bool
	}{
		{"delay-p99<=2x raw", []float64{1, 1.5, 1.2, 9, 1.1}, false, false},
		{"delay-p99<=2x raw", []float64{3, 2.5, 1.9, 9, 4}, false, true},
		{"delay-p99<=2x raw", []float64{3, 2.5, 2.1, 9, 4}, true, false},
		{"delay-p99<=2", []float64{3, 2.5, 2.1, 9, 4}, true, false},
		{"delay-p99>=2x raw", []float64{3, 2.5, 2.1, 9, 4}, false, false},
		{"delay-p99>=4x raw", []float64{3, 2.5, 2.1, 3.9, 3}, true, false},
		{"delay-p99>=4x raw", []float64{3, 2.5, 2.1, 9, 3}, false, true},
	} {
		g := NewWithT(t)
		v := judged(t, tt.gate, document(tt.subject, raw))
		g.Expect(v.Failed).To(Equal(tt.failed), "%s %v", tt.gate, tt.subject)
		g.Expect(v.Doubtful).To(Equal(tt.doubtful), "%s %v", tt.gate, tt.subject)
	}
}

// TestARateIsJudgedWithoutOtherPrograms: what other programs take is no fault of a build,
// and a build that is too slow fails also if they ran in some repeats.
func TestARateIsJudgedWithoutOtherPrograms(t *testing.T) {
	slow, fast := 0.4, 0.6
	for _, tt := range []struct {
		name                        string
		figures, others             []float64
		failed, doubtful, disturbed bool
	}{
		{"nothing is known of other programs", []float64{slow, slow, slow, slow, slow, slow}, nil, true, false, false},
		{"a quiet machine", []float64{slow, slow, slow, slow, slow, slow}, []float64{0, 0.1, 0, 0.2, 0, 0}, true, false, false},
		{"a busy machine", []float64{slow, slow, slow, slow, slow, slow}, []float64{1, 1, 2, 1, 0.1, 1}, false, true, true},
		{"slow in the quiet repeats", []float64{slow, slow, slow, slow, slow, slow, slow}, []float64{0, 0, 0, 0, 0, 0, 2}, true, false, false},
		{"slow in the busy repeats", []float64{slow, slow, slow, slow, slow, slow, slow, fast, fast, fast, fast, fast, fast}, []float64{2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0}, false, false, false},
	} {
		g := NewWithT(t)
		ones := make([]float64, len(tt.figures))
		for i := range ones {
			ones[i] = 1
		}
		d := document(tt.figures, ones)
		d.Series[0].Measure, d.Series[1].Measure, d.Machine.Others = "rate", "rate", tt.others
		v := judged(t, "rate>=0.5x raw", d)
		g.Expect([]bool{v.Failed, v.Doubtful, v.Disturbed}).To(Equal([]bool{tt.failed, tt.doubtful, tt.disturbed}), tt.name)
	}
	g := NewWithT(t)
	d := document([]float64{3, 3, 3, 3, 3, 3}, []float64{1, 1, 1, 1, 1, 1})
	d.Machine.Others = []float64{1, 1, 1, 1, 1, 1}
	g.Expect(judged(t, "delay-p99<=2x raw", d).Failed).To(BeTrue(), "a delay waits for no more processors than its control")
}

// TestAGateWithoutFiguresIsAnError: such a gate would always pass.
func TestAGateWithoutFiguresIsAnError(t *testing.T) {
	g := NewWithT(t)
	for _, text := range []string{"delay-p99<=2x node", "delay-p50<=2x raw", "delay-p99<=2x raw@slow", "delay-p99<=2x spawn"} {
		p, err := ParseGate(text)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = Judge(document([]float64{1}, []float64{1}), []Gate{p})
		g.Expect(err).To(MatchError(ContainSubstring("nothing was measured")), text)
	}
}

// TestGatesDoNotFlicker simulates a machine that sometimes stops and makes figures
// ten times larger. The same build must pass a gate in all of twenty runs, and one
// that is too slow by half must fail it in all.
func TestGatesDoNotFlicker(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		noisy := func(v float64) float64 {
			v *= 0.9 + 0.2*random.Float64()
			if random.Float64() < 0.25 {
				v *= 1 + 9*random.Float64()
			}
			return v
		}
		verdicts := func(of float64, repeats int) (failed int) {
			for range 20 {
				var subject, raw []float64
				for range repeats {
					subject, raw = append(subject, noisy(of)), append(raw, noisy(1))
				}
				if judged(t, "delay-p99<=2x raw", document(subject, raw)).Failed {
					failed++
				}
			}
			return failed
		}
		for _, repeats := range []int{5, 8, 15} {
			if n := verdicts(1.4, repeats); n != 0 {
				t.Errorf("seed %d, %d repeats: a build that is fast enough failed %d of 20", seed, repeats, n)
			}
		}
		if n := verdicts(30, 5); n != 20 {
			t.Errorf("seed %d: a build that is slow failed %d of 20", seed, n)
		}
	}
}

// TestDoubtAsksForMore: with more repeats, a build that is slower by a factor of
// three fails even on the worst machine.
func TestDoubtAsksForMore(t *testing.T) {
	g := NewWithT(t)
	p, err := ParseGate("delay-p99<=2x raw")
	g.Expect(err).NotTo(HaveOccurred())
	more := Undecided([]Gate{p})
	raw := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	g.Expect(more(document([]float64{3, 3, 3, 1, 3}, raw))).To(BeTrue())
	late := document([]float64{3, 3, 3, 1, 3, 3, 3, 3, 3}, raw)
	late.Repeats = minRepeats - 1
	g.Expect(more(late)).To(BeTrue(), "it fails, but a bad minute may be why")
	late.Repeats = minRepeats
	g.Expect(more(late)).To(BeFalse(), "it has failed by now")
	g.Expect(judged(t, "delay-p99<=2x raw", document([]float64{3, 3, 3, 1, 3, 3, 3, 3, 3}, raw)).Failed).To(BeTrue())
	g.Expect(more(document([]float64{1, 1.2, 9, 1, 1.1}, raw))).To(BeFalse(), "it has passed")
	g.Expect(more(&bench.Document{})).To(BeFalse())
}

func TestNewInterval(t *testing.T) {
	g := NewWithT(t)
	g.Expect(NewInterval([]float64{3, 1, 2})).To(Equal(Interval{2, 1, 3}))
	g.Expect(NewInterval([]float64{3, 1, 2, 4})).To(Equal(Interval{2.5, 1, 4}))
	i := NewInterval([]float64{9, 1, 2, 3, 4, 5, 6, 7, 8, 100})
	g.Expect(i.Median).To(Equal(5.5))
	g.Expect(i.Low).To(BeNumerically(">", 1), "an interval of ten leaves the outliers out")
	g.Expect(i.High).To(BeNumerically("<", 100))
}

func TestCompare(t *testing.T) {
	g := NewWithT(t)
	raw := []float64{1, 1.1, 0.9, 1, 1.2}
	was := document([]float64{2, 2.1, 1.9, 2, 2.2}, raw)
	same, err := Compare(was, document([]float64{2.1, 2, 2, 1.9, 2.2}, raw))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(same).To(HaveLen(1))
	g.Expect(same[0].Sure).To(BeFalse())
	slower, err := Compare(was, document([]float64{4, 4.1, 3.9, 4, 4.2}, raw))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(slower[0].Worse).To(BeTrue())
	g.Expect(slower[0].Control).To(Equal("raw"))
	g.Expect(slower[0].Delta).To(BeNumerically("~", 1, 0.3))
	// A machine that is twice as slow changes no ratio.
	twice := func(v []float64) (out []float64) {
		for _, x := range v {
			out = append(out, 2*x)
		}
		return out
	}
	elsewhere, err := Compare(was, document(twice([]float64{2, 2.1, 1.9, 2, 2.2}), twice(raw)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(elsewhere[0].Sure).To(BeFalse())
	faster, err := Compare(was, document([]float64{1, 1.1, 0.9, 1, 1.2}, raw))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(faster[0].Sure).To(BeTrue())
	g.Expect(faster[0].Worse).To(BeFalse())
	_, err = Compare(was, &bench.Document{})
	g.Expect(err).To(MatchError(errNothing))
}
