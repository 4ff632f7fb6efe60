package report

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/turnspec/turnspec/conformance/lab/bench"
)

// sample is a report with all optional parts.
func sample() Report {
	series := func(load, who string, control bool, measure string, v ...float64) bench.Series {
		m := bench.MeasureNamed(measure)
		return bench.Series{Runtime: "codex", Load: load, Contender: who, Control: control, Measure: measure, Unit: m.Unit, More: m.More, Samples: v}
	}
	return Report{
		Document: &bench.Document{
			Format: 1, Turnspec: "test", Started: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), Repeats: 3,
			Machine: bench.Machine{OS: "linux", Arch: "amd64", Processors: 2, Go: "go1.26", Node: "v20", LoadBefore: 0.5, LoadAfter: 1},
			Cases:   []string{"codex/newest/text/plain"},
			Loads: []bench.Load{
				{Name: "stream", Deltas: 4, Rate: 100, Sessions: 1}, {Name: "many-50", Deltas: 4, Rate: 100, Sessions: 50, Share: 25},
				{Name: "slow", Deltas: 4, Rate: 100, Sessions: 1, Slow: 0.008},
			},
			Series: []bench.Series{
				series("stream", "<mine>", false, "delay-p50", 0.0002, 0.0003, 0.0004), series("stream", "raw", true, "delay-p50", 0.0001, 0.0001, 0.0001),
				series("stream", "<mine>", false, "lost", 0, 0, 0), series("slow", "<mine>", false, "lost", 0, 1, 0),
				series("many-50", "<mine>", false, "delay-p50", 0.002, 0.003, 0.004), series("many-50", "raw", true, "delay-p50", 0.001, 0.002, 0.001),
				series("flood", "<mine>", false, "memory", 2<<20), series("flood", "<mine>", false, "rate", 1e5), series("flood", "<mine>", false, "allocs", 3.5),
			},
			Curves: []bench.Curve{
				{Runtime: "codex", Load: "stream", Contender: "<mine>", Kind: bench.CurveDelay, Points: [][2]float64{{0, 0}, {50, 0.0003}, {99, 0.02}, {100, 0.4}}},
				{Runtime: "codex", Load: "slow", Contender: "<mine>", Kind: bench.CurveBacklog, Points: [][2]float64{{0, 1}, {0.5, 30}, {1, 60}}},
			},
			Notes: []string{"something was left out"},
		},
		Verdicts: []Verdict{
			{Gate: "added-p50<=2x raw", Runtime: "codex", Subject: "<mine>", Load: "stream", Figure: Interval{Median: 3, Low: 2.5, High: 4}, Limit: 2, Failed: true},
			{Gate: "added-p50<=2.9x raw", Runtime: "codex", Subject: "<mine>", Load: "stream", Figure: Interval{Median: 3, Low: 2.5, High: 4}, Limit: 2.9, Doubtful: true},
		},
	}
}

func TestText(t *testing.T) {
	g := NewWithT(t)
	var short, whole strings.Builder
	g.Expect(Text(&short, sample(), false)).To(Succeed())
	g.Expect(Text(&whole, sample(), true)).To(Succeed())
	ratios, absolute, _ := strings.Cut(short.String(), "Absolute figures, of this machine only")
	g.Expect(ratios).To(MatchRegexp(`codex, load stream: times the control\n +subject +measure +x raw\n +<mine> +delay-p50 +3\.00 \[2\.00-4\.00\]`))
	g.Expect(ratios).NotTo(ContainSubstring("µs"))
	g.Expect(absolute).To(MatchRegexp(`codex +stream +raw +delay-p50 +100\.0µs`))
	g.Expect(absolute).To(MatchRegexp(`codex +flood +<mine> +memory +2\.0MiB`))
	g.Expect(absolute).To(MatchRegexp(`codex +slow +<mine> +lost +0\.00 +0\.00 +1\.00`))
	g.Expect(absolute).NotTo(MatchRegexp(`stream +<mine> +lost`), "what was not lost is not told")
	g.Expect(whole.String()).To(MatchRegexp(`stream +<mine> +lost +0`))
	g.Expect(absolute).To(MatchRegexp(`FAIL +added-p50<=2x raw +codex +<mine> +stream +3\.00 \[2\.50-4\.00\]`))
	g.Expect(absolute).To(ContainSubstring("past the limit, but within the noise"))
	g.Expect(absolute).To(ContainSubstring("note: something was left out"))
}

func TestJSONFitsItsSchemaAndIsReadAgain(t *testing.T) {
	g := NewWithT(t)
	var b bytes.Buffer
	g.Expect(JSON(&b, sample())).To(Succeed())
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	g.Expect(err).NotTo(HaveOccurred())
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	g.Expect(c.AddResource("schema.json", doc)).To(Succeed())
	s, err := c.Compile("schema.json")
	g.Expect(err).NotTo(HaveOccurred())
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Validate(v)).To(Succeed())
	empty := Report{Document: &bench.Document{Format: 1, Repeats: 1, Machine: bench.Machine{Processors: 1}}}
	b2 := bytes.Buffer{}
	g.Expect(JSON(&b2, empty)).To(Succeed())
	v, err = jsonschema.UnmarshalJSON(&b2)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Validate(v)).To(Succeed())

	file := filepath.Join(t.TempDir(), "r.json")
	g.Expect(os.WriteFile(file, b.Bytes(), 0o600)).To(Succeed())
	r, err := Read(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r).To(Equal(sample()))
	for text, want := range map[string]string{"{}": "format 0", "no": "is no report", `{"format":2}`: "format 2"} {
		g.Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
		_, err := Read(file)
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}
}

// TestHTML checks that the page is self-contained, that no text ends its script, and that its
// data is a report's.
func TestHTML(t *testing.T) {
	g := NewWithT(t)
	var b strings.Builder
	g.Expect(HTML(&b, sample())).To(Succeed())
	page := b.String()
	g.Expect(page).NotTo(MatchRegexp(`(?i)(src|href)="?https?:|NaN|Inf`))
	g.Expect(page).NotTo(ContainSubstring("<mine>"))
	g.Expect(strings.Count(page, "</script>")).To(Equal(2), "the data and the code")
	_, rest, _ := strings.Cut(page, `id="data">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var data pageData
	g.Expect(json.Unmarshal([]byte(text), &data)).To(Succeed())
	g.Expect(data.Plots).To(HaveLen(3), "delays, backlog, and how delays grow with sessions")
	g.Expect(data.Plots[0].Lines[0].Path).To(MatchRegexp(`^M[0-9.]+ [0-9.]+L`))
	g.Expect(data.Ratios[0].Rows[0]).To(ContainElements("<mine>", "3.00 [2.00-4.00]"))
	g.Expect(data.Gates).To(ContainSubstring("FAIL"))
	empty := Report{Document: &bench.Document{Format: 1, Machine: bench.Machine{Processors: 1}}}
	b.Reset()
	g.Expect(HTML(&b, empty)).To(Succeed())
	g.Expect(b.String()).NotTo(ContainSubstring("null"), "the script loops over each list")
}

// TestHTMLIsDrawn draws the page in a browser.
func TestHTMLIsDrawn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a browser, which takes seconds")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: the data of the page is tested without it")
	}
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "bench.html")
	var b bytes.Buffer
	g.Expect(HTML(&b, sample())).To(Succeed())
	g.Expect(os.WriteFile(file, b.Bytes(), 0o600)).To(Succeed())
	out, err := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--virtual-time-budget=5000", "--dump-dom", "file://"+file).Output()
	g.Expect(err).NotTo(HaveOccurred())
	drawn := string(out)
	g.Expect(strings.Count(drawn, "<svg")).To(Equal(3))
	for _, want := range []string{"<h1>Turnspec benchmark</h1>", "<code>codex/newest/text/plain</code>", "Note: something was left out", "FAIL", "past the limit",
		"<h3>codex, load stream</h3>", "<td>&lt;mine&gt;</td>", "<td>3.00 [2.00-4.00]</td>", "linux/amd64, 2 processors", `<path d="M`, `text-anchor="end">`} {
		g.Expect(drawn).To(ContainSubstring(want))
	}
}

func TestFigure(t *testing.T) {
	g := NewWithT(t)
	for want, v := range map[string]float64{"12ns": 12e-9, "3.5µs": 3.5e-6, "20.00ms": 0.02, "1.50s": 1.5, "-2.00ms": -0.002, "0": 0} {
		g.Expect(Figure(v, bench.Seconds)).To(Equal(want))
	}
	for want, v := range map[string]float64{"600B": 600, "1.5KiB": 1536, "2.0MiB": 2 << 20} {
		g.Expect(Figure(v, bench.Bytes)).To(Equal(want))
	}
	g.Expect(Figure(2.5, bench.Count)).To(Equal("2.50"))
	g.Expect(Figure(1000, bench.Each)).To(Equal("1000/s"))
}

func TestAxesHoldWhatIsPlotted(t *testing.T) {
	g := NewWithT(t)
	for _, values := range [][]float64{{}, {0}, {5, 5}, {0.001, 3}, {-1, 2}} {
		for _, log := range []bool{true, false} {
			a := newAxis(values, log, 0, 100)
			for _, v := range values {
				g.Expect(a.at(v)).To(And(BeNumerically(">=", 0), BeNumerically("<=", 100)), "%v %v", values, log)
			}
			n := len(a.ticks(formatNumber))
			g.Expect(n).To(And(BeNumerically(">", 1), BeNumerically("<", 20)), "%v %v", values, log)
		}
	}
}

func TestMarkdown(t *testing.T) {
	g := NewWithT(t)
	var out strings.Builder
	g.Expect(Markdown(&out, sample())).To(Succeed())
	page := out.String()
	g.Expect(page).To(HavePrefix("Loads: `stream`: 4 deltas at 100 a second; `many-50`: 4 deltas at 100 a second in each of 50 sessions, 25 to a stand-in; `slow`: 4 deltas at 100 a second, with a listener that takes 8.00ms for each.\n\n2026-11-22, 3 repeats"))
	g.Expect(page).To(ContainSubstring("| `added-p50<=2x raw` | &lt;mine> | stream | 3.00 [2.50-4.00] | **not reached** |"))
	g.Expect(page).To(ContainSubstring("| `added-p50<=2.9x raw` | &lt;mine> | stream | 3.00 [2.50-4.00] | past the limit, within the noise |"))
	g.Expect(page).To(ContainSubstring("| subject | measure | raw |\n|---|---|---|\n| &lt;mine> | delay-p50 | 3.00 [2.00-4.00] |"))
	g.Expect(page).To(ContainSubstring("Note: something was left out."))
	before, folded, _ := strings.Cut(page, "<details>")
	g.Expect(before).NotTo(ContainSubstring("µs"))
	g.Expect(folded).To(ContainSubstring("| codex | stream | raw | delay-p50 | 100.0µs | 100.0µs | 100.0µs |"))
	g.Expect(Markdown(failing{}, sample())).To(MatchError("no room"))
}

// failing is a writer that always fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no room") }
