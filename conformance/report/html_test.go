package report_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/page/browser"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// faulty is the example with a failure of a run with a fault, two deltas, and the verdicts
// of a subject in real time.
func faulty(t *testing.T) *report.Document {
	t.Helper()
	rep := sample()
	r := &rep.Results[0]
	run := r.Trial.Run
	run.Steps = append([]conformance.StepResult{{Step: fixtures.Step{Verb: fixtures.VerbOpen}}}, run.Steps...)
	run.Events = append([]conformance.Event{{Event: event.Event{Seq: 1, Data: event.SessionReady{}}, At: 5 * time.Millisecond}}, run.Events...)
	run.Played = append(run.Played, line(14, fixtures.Out, `{"method":"delta","params":{"text":"one","id":7}}`), line(15, fixtures.Out, `{"method":"delta","params":{"text":"two","id":7}}`))
	faulted := *run
	faulted.Fault = &fault.Fault{Operator: "kill", Kind: fault.Terminal, Place: 2, Line: 12}
	r.Trial.Faulted = []*conformance.Run{&faulted}
	r.Problems = append(r.Problems, conformance.Problem{Text: "killed: </script><script>alert(1)</script>", Fault: faulted.Fault})
	later := *r
	later.Check, later.Problems = &conformance.Check{ID: "turn.end", Sentence: "A turn ends."}, []conformance.Problem{{Text: "the turn did not end"}}
	rep.Results = append(rep.Results, later)
	for _, x := range []struct {
		id       string
		verdicts []conformance.Verdict
	}{
		{"external", []conformance.Verdict{conformance.NotTried, conformance.Pass, conformance.NotExpressible}},
		{"untried", []conformance.Verdict{conformance.NotTried}},
		{"racy", []conformance.Verdict{conformance.Flaky, conformance.Pass}},
	} {
		for i, v := range x.verdicts {
			rep.Results = append(rep.Results, conformance.Result{Check: []*conformance.Check{once, stop, later.Check}[i], Case: "claude/2/real/" + x.id, Subject: "mine", Tier: conformance.TierProcess, Verdict: v})
		}
	}
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
	g.Expect(strings.Count(page, "<script")).To(Equal(4), "index, two cases, the code: no text of a run ends its script")
	g.Expect(strings.Count(page, "</script>")).To(Equal(4))
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
	g.Expect(got).To(HaveLen(8))
	g.Expect(got["codex/1/text/plain"]).To(ContainSubstring("F"))
	g.Expect(got["codex/1/text/long"]).To(ContainSubstring("p"))
	g.Expect(got["codex/1/stop/mid-text"]).To(ContainSubstring("u"))
	d := regexp.MustCompile(`<script type="text/plain" id="d2">(.*?)</script>`).FindStringSubmatch(page)
	g.Expect(d).NotTo(BeNil())
	detail := unpack(t, d[1])
	plays := detail["plays"].([]any)
	g.Expect(plays).To(HaveLen(2))
	g.Expect(plays[1].(map[string]any)["fault"]).To(HaveKeyWithValue("operator", "kill"))
	wire := plays[0].(map[string]any)["wire"].([]any)
	g.Expect(wire).To(HaveLen(6))
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

var running *browser.Browser // the browser of all tests, nil until one needs it

var chromium = sync.OnceValues(func() (_ *browser.Browser, err error) {
	running, err = browser.Start(context.Background())
	return running, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if running != nil {
		_ = running.Close() // the tests are over
	}
	os.Exit(code)
}

// opener returns a function that opens the page with a hash, waits until an expression is true, and
// returns what is drawn.
func opener(t *testing.T, page string) func(hash, ready string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a browser, which takes seconds")
	}
	b, err := chromium()
	if errors.Is(err, browser.ErrNotInstalled) {
		t.Skip("chromium is not installed: the data of the page is tested without it")
	}
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(hash, ready string) string {
		tab, err := b.NewTab(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := tab.Open(t.Context(), "file://"+file+hash, ready); err != nil {
			t.Fatal(err)
		}
		drawn, err := browser.Eval[string](t.Context(), tab, "document.documentElement.outerHTML")
		if err == nil {
			err = tab.Close(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		return drawn
	}
}

// hasTitle is true when a summary or a case is drawn.
const hasTitle = `document.querySelector("main h2") !== null`

// expectParts checks that a drawn page contains the parts.
func expectParts(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, want := range parts {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// TestHTMLIsDrawn draws the summary and a case in a browser.
func TestHTMLIsDrawn(t *testing.T) {
	dom := opener(t, written(t, report.HTML, faulty(t)))
	expectParts(t, dom("#show=", hasTitle), `<span id="outcome" class="failed">failed</span>`, "8 of 8 cases", "no case gave a verdict", "tool.known", "1 fail<", "1 flaky", "it does not fail any more",
		"<h2>Failures</h2>", "text.once</code> <a href=\"#check=text.once&amp;show=F\">2 of 3 cases</a>", "Failed only after one of these, in the same run: turn.end (1 case)")
	drawn := dom("#case=codex%2F1%2Ftext%2Fplain", hasTitle)
	if open, ready := strings.Index(drawn, `class="dir step">open`), strings.Index(drawn, `class="type">session_ready`); open < 0 || ready < open {
		t.Errorf("open is drawn at %d and session_ready at %d", open, ready)
	}
	expectParts(t, drawn,
		"<h2>codex/1/text/plain</h2>", "The user asks, the model answers.", "the text came twice", `<div class="del">-a</div>`, `<div class="add">+a<ins>a</ins></div>`,
		"follows: 1 check failed later in the same run", "the turn did not end",
		"rerun", "Copy the command", `role="tablist"`, "fault: kill at line 12", "<svg", `class="m-out"`, `class="m-event"`, `class="at"`, `class="row bad"`, `class="type">delta`, "alert(1)")
	// Of the second of two deltas the page shows what differs, and not the id.
	expectParts(t, drawn, `title="what differs from line 14"><span title="params.text"><span class="field">params.text: </span>"two"  </span><span class="kind">delta`)
	if strings.Count(drawn, `title="params.id"`) != 1 {
		t.Error("the id of the second delta is that of the first")
	}
}

var listedCase = regexp.MustCompile(`<a href="[^"]*"[^>]*><span class="[^"]*" title="([^"]*)"><span aria-hidden="true">(.)</span><span class="unseen">[^<]*</span></span><span class="name">([^<]*)`)

// listed returns the cases in the list of a page, with their marks.
func listed(page string) map[string]string {
	out := map[string]string{}
	for _, m := range listedCase.FindAllStringSubmatch(page, -1) {
		out[m[3]] = m[2] + " " + m[1]
	}
	return out
}

// TestHTMLMarksCases checks the mark of each kind of case, also of one of a subject in real
// time, of which some checks are never tried.
func TestHTMLMarksCases(t *testing.T) {
	g := NewWithT(t)
	g.Expect(listed(opener(t, written(t, report.HTML, faulty(t)))("#show=", hasTitle))).To(Equal(map[string]string{
		"text/plain": "✗ fail", "text/long": "✓ pass", "tool/x": "· not applicable", "stop/mid-tool": "✓ pass", "stop/mid-text": "○ not tried",
		"real/external": "✓ pass", "real/untried": "○ not tried", "real/racy": "≈ flaky",
	}))
}

// TestHTMLFilters checks that each filter in a link leaves the cases that it should.
func TestHTMLFilters(t *testing.T) {
	dom := opener(t, written(t, report.HTML, faulty(t)))
	for hash, want := range map[string][]string{
		"#show=F":                       {"text/plain"},
		"#show=l":                       {"real/racy"},
		"#topic=stop":                   {"stop/mid-text", "stop/mid-tool"},
		"#runtime=claude%2F2&show=p":    {"real/external", "real/racy"},
		"#tier=process&check=text.once": {"real/external", "real/untried", "real/racy"},
		"#find=came+TWICE":              {"text/plain"},
		"#find=turn.end":                {"text/plain"},
		"#case=codex%2F1%2Ftext%2Fplain&topic=tool": {"tool/x"},
	} {
		g := NewWithT(t)
		page := dom(hash, hasTitle)
		var got []string
		for name := range listed(page) {
			got = append(got, name)
		}
		g.Expect(got).To(ConsistOf(want), hash)
		if strings.HasPrefix(hash, "#case") {
			g.Expect(page).To(ContainSubstring("<h2>codex/1/text/plain</h2>"))
		}
	}
}

// TestHTMLLinksToACheck checks that a link to a check of a case marks it, also if it is
// folded below the failure that it follows.
func TestHTMLLinksToACheck(t *testing.T) {
	dom := opener(t, written(t, report.HTML, faulty(t)))
	for check, marked := range map[string]string{
		"text.once": `class="problem chosen" tabindex="-1" aria-label="text.once"`,
		"turn.end":  `class="problem chosen" tabindex="-1" aria-label="turn.end"`,
	} {
		page := dom("#case=codex%2F1%2Ftext%2Fplain&check="+check, `document.querySelector(".chosen") !== null`)
		expectParts(t, page, marked, `href="#case=codex%2F1%2Ftext%2Fplain&amp;check=`+check+`"`)
		if open := strings.Contains(page, `<details class="follows" open="">`); open != (check == "turn.end") {
			t.Errorf("%s: the follow-on failures are open: %v", check, open)
		}
	}
	expectParts(t, dom("#case=claude%2F2%2Freal%2Fexternal&check=turn.stop", `document.querySelector(".chosen") !== null`), `<li class="passed chosen" data-check="turn.stop">`)
}

// TestHTMLUnfolds checks that a click unfolds a wire line to the whole message, and that
// the button copies the command, or selects it where there is no clipboard.
func TestHTMLUnfolds(t *testing.T) {
	page := written(t, report.HTML, faulty(t))
	for clipboard, want := range map[string]string{
		"{ writeText: async (text) => { document.title = text; } }": "copied",
		"undefined": "selected: Ctrl+C",
	} {
		clicks := `<script>Object.defineProperty(navigator, "clipboard", { value: ` + clipboard + ` });
const wait = setInterval(() => {
  const line = [...document.querySelectorAll(".play summary")].find((s) => s.textContent.includes('"two"'));
  if (!line) return;
  clearInterval(wait);
  line.click();
  document.querySelector(".rerun button").click();
}, 50);</script></body>`
		drawn := opener(t, strings.Replace(page, "</body>", clicks, 1))("#case=codex%2F1%2Ftext%2Fplain", "document.body.innerText.includes("+strconv.Quote(want)+")")
		expectParts(t, drawn, "<pre>{\n  \"method\": \"delta\",\n  \"params\": {\n    \"text\": \"two\",\n    \"id\": 7\n  }\n}</pre>",
			`aria-label="Copy the command that runs this again">`+want+"</button>")
		if want == "copied" {
			expectParts(t, drawn, "<title>turnspec run --case codex/1/text/plain --check text.once</title>")
		}
	}
}
