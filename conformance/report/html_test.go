package report_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// faulty is the example with a failure of a run with a fault.
func faulty(t *testing.T) *report.Document {
	t.Helper()
	rep := sample()
	r := &rep.Results[0]
	run := r.Trial.Run
	run.Steps = append([]conformance.StepResult{{Step: fixtures.Step{Verb: fixtures.VerbOpen}}}, run.Steps...)
	run.Events = append([]conformance.Event{{Event: event.Event{Seq: 1, Data: event.SessionReady{}}, At: 5 * time.Millisecond}}, run.Events...)
	faulted := *run
	faulted.Fault = &fault.Fault{Operator: "kill", Kind: fault.Terminal, Place: 2, Line: 12}
	r.Trial.Faulted = []*conformance.Run{&faulted}
	r.Problems = append(r.Problems, conformance.Problem{Text: "killed: </script><script>alert(1)</script>", Fault: faulted.Fault})
	later := *r
	later.Check, later.Problems = &conformance.Check{ID: "turn.end", Sentence: "A turn ends."}, []conformance.Problem{{Text: "the turn did not end"}}
	rep.Results = append(rep.Results, later)
	rep.KnownFailures = []conformance.KnownFailureUse{{KnownFailure: conformance.KnownFailure{Check: "turn.stop", Case: "</script>", Reason: "<!--"}, Judged: 1}}
	return report.New(rep, report.About{Turnspec: "v1", Corpus: "sha256:0123456789abcdef"})
}

func unpack(t *testing.T, text string) map[string]any {
	t.Helper()
	g := NewWithT(t)
	b, err := base64.StdEncoding.DecodeString(text)
	g.Expect(err).NotTo(HaveOccurred())
	z, err := gzip.NewReader(bytes.NewReader(b))
	g.Expect(err).NotTo(HaveOccurred())
	var out map[string]any
	g.Expect(json.NewDecoder(z).Decode(&out)).To(Succeed())
	return out
}

// TestHTMLIsSelfContained checks that the page holds the verdicts in its index, each
// failed case separately, and no reference to another file.
func TestHTMLIsSelfContained(t *testing.T) {
	g := NewWithT(t)
	page := written(t, report.HTML, faulty(t))
	g.Expect(page).NotTo(MatchRegexp(`(?i)(src|href)="?https?:`))
	g.Expect(page).NotTo(ContainSubstring("{{"))
	g.Expect(page).To(ContainSubstring(`content="default-src 'none';`))
	g.Expect(strings.Count(page, "<script")).To(Equal(3), "index, one case, the code: no text of a run ends its script")
	g.Expect(strings.Count(page, "</script>")).To(Equal(3))
	m := regexp.MustCompile(`(?s)<script type="application/json" id="index">(.*?)</script>`).FindStringSubmatch(page)
	g.Expect(m).NotTo(BeNil())
	var index struct {
		Failed bool
		Rules  []report.Rule
		Rows   []struct {
			Case, Verdicts string
			Detail         int
		}
	}
	g.Expect(json.Unmarshal([]byte(m[1]), &index)).To(Succeed())
	g.Expect(index.Failed).To(BeTrue())
	g.Expect(index.Rules).To(HaveLen(4))
	got := map[string]string{}
	for _, r := range index.Rows {
		got[r.Case] = r.Verdicts
	}
	// Of each case a letter a check: text.once, turn.stop, tool.known in the order
	// in which they come up.
	g.Expect(got).To(HaveLen(5))
	g.Expect(got["codex/1/text/plain"]).To(ContainSubstring("F"))
	g.Expect(got["codex/1/text/long"]).To(ContainSubstring("p"))
	g.Expect(got["codex/1/stop/mid-text"]).To(ContainSubstring("u"))
	d := regexp.MustCompile(`<script type="text/plain" id="d1">(.*?)</script>`).FindStringSubmatch(page)
	g.Expect(d).NotTo(BeNil())
	detail := unpack(t, d[1])
	plays := detail["plays"].([]any)
	g.Expect(plays).To(HaveLen(2))
	g.Expect(plays[1].(map[string]any)["fault"]).To(HaveKeyWithValue("operator", "kill"))
	wire := plays[0].(map[string]any)["wire"].([]any)
	g.Expect(wire).To(HaveLen(4))
	g.Expect(wire[2]).To(And(HaveKeyWithValue("line", 12.0), HaveKeyWithValue("at_ns", 12e6), HaveKeyWithValue("dir", "out")))
	entries := detail["entries"].([]any)
	g.Expect(entries[0]).To(HaveKeyWithValue("rerun", "turnspec run --case codex/1/text/plain --check text.once"))
}

// TestHTMLIsCompact bounds the size of a page with 1,600 passed cases.
func TestHTMLIsCompact(t *testing.T) {
	g := NewWithT(t)
	rep := &conformance.Report{}
	for i := range 1600 {
		for range 80 {
			rep.Results = append(rep.Results, conformance.Result{Check: once, Case: "codex/1/topic/case-" + strings.Repeat("x", 20) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)), Subject: "mine", Tier: conformance.TierWitness, Verdict: conformance.Pass})
		}
	}
	g.Expect(len(written(t, report.HTML, report.New(rep, report.About{})))).To(BeNumerically("<", 400<<10))
}

// TestHTMLIsDrawn draws the summary and a case in a browser.
func TestHTMLIsDrawn(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a browser, which takes seconds")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: the data of the page is tested without it")
	}
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "report.html")
	g.Expect(os.WriteFile(file, []byte(written(t, report.HTML, faulty(t))), 0o600)).To(Succeed())
	var dom func(hash string, tries int) string
	dom = func(hash string, tries int) string {
		out, err := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
			"--virtual-time-budget=5000", "--dump-dom", "file://"+file+hash).Output()
		g.Expect(err).NotTo(HaveOccurred())
		if !strings.Contains(string(out), "<h2>") && tries > 1 { // the browser had no time to draw
			return dom(hash, tries-1)
		}
		return string(out)
	}
	summary := dom("#show=", 3)
	for _, want := range []string{`<span id="outcome" class="failed">failed</span>`, "5 of 5 cases", "no case gave a verdict", "tool.known", "1 failed", "it does not fail any more"} {
		if !strings.Contains(summary, want) {
			t.Errorf("the summary lacks %s", want)
		}
	}
	drawn := dom("#case=codex%2F1%2Ftext%2Fplain", 3)
	if open, ready := strings.Index(drawn, `class="dir step">open`), strings.Index(drawn, `class="type">session_ready`); open < 0 || ready < open {
		t.Errorf("open is drawn at %d and session_ready at %d", open, ready)
	}
	for _, want := range []string{
		"<h2>codex/1/text/plain</h2>", "The user asks, the model answers.", "the text came twice", `<div class="del">-a</div>`, `<div class="add">+a<ins>a</ins></div>`,
		"follows: 1 check failed later in the same run", "the turn did not end",
		"rerun", `role="tablist"`, "fault: kill at line 12", "<svg", `class="m-out"`, `class="m-event"`, `class="at"`, `class="row bad"`, `class="type">delta`, "alert(1)",
	} {
		if !strings.Contains(drawn, want) {
			t.Errorf("the case lacks %s", want)
		}
	}
}
