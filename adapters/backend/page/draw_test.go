package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/page"
)

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// openRecording opens a session as a file.
func openRecording(t *testing.T, x *tab, r *page.Recording) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	writeFile(t, file, r)
	x.open("file://" + file)
	x.until(`document.querySelector("#clock").textContent !== "" && document.querySelectorAll("#messages > *").length > 0`)
}

// TestEachStateIsDrawn draws each kind of block in each state, and what users read of it.
// With TURNSPEC_SCREENSHOTS it writes pictures to that folder.
func TestEachStateIsDrawn(t *testing.T) {
	g := NewWithT(t)
	x := startBrowser(t).newTab()
	openRecording(t, x, page.Record("Gallery", gallery("")))
	cards := eval[[]string](x, `[...document.querySelectorAll(".card, .line")].map((c) => c.classList[1] + " " + (c.dataset.status ?? ""))`)
	for _, want := range []string{
		"thinking complete", "thinking running", "tool ok", "tool failed", "tool denied", "tool backgrounded", "tool interrupted", "tool running", "tool waiting", "subagent complete",
		"question pending", "question denied", "question answered", "plan ", "component ready", "notice ", "compaction ", "checkpoint ", "error ", "aside ",
	} {
		g.Expect(cards).To(ContainElement(want))
	}
	text := eval[string](x, `document.body.textContent`)
	for _, want := range []string{"What I found", "56,000 characters are left out", "want 2 lines, got 1", "a fact without a card", "1 of 3 done", "Error: overloaded", "context 75 %", "2 messages are queued", "by you", "Which parts?", "$0.42", "History summarized", "waits for permission", "The output was cut.", "image/png, 48.2 kB"} {
		g.Expect(text).To(ContainSubstring(want))
	}
	g.Expect(eval[[]string](x, `[...document.querySelectorAll(".text a")].map((a) => a.href + " " + a.rel)`)).To(Equal([]string{"https://pkg.go.dev/io#Reader noopener noreferrer nofollow"}))
	g.Expect(eval[[]string](x, `[...document.querySelectorAll(".web a")].map((a) => a.href)`)).To(Equal([]string{"https://pkg.go.dev/io"}), "other addresses are no links")
	g.Expect(eval[string](x, `document.querySelector(".message.user .text").textContent`)).To(ContainSubstring("*fix*"), "a user's text is no Markdown")
	dir := os.Getenv("TURNSPEC_SCREENSHOTS")
	if dir == "" {
		return
	}
	for _, look := range []struct {
		name, scheme  string
		width, height int
	}{{"light", "light", 1000, 1100}, {"dark", "dark", 1000, 1100}, {"narrow", "light", 380, 800}} {
		x.look(look.width, look.height, look.scheme)
		pages := eval[int](x, `(() => { const c = document.querySelector("#chat"); return Math.ceil(c.scrollHeight / c.clientHeight); })()`)
		for i := range pages {
			eval[bool](x, fmt.Sprintf(`(document.querySelector("#chat").scrollTop = %d * document.querySelector("#chat").clientHeight, new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true)))))`, i))
			x.screenshot(filepath.Join(dir, fmt.Sprintf("%s-%d.png", look.name, i+1)))
		}
	}
}

// hostile is text with which a model could try to become a part of the page.
const hostile = ` "><img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script><iframe srcdoc="<script>parent.hit=1</script>"></iframe>` +
	` [a](javascript:globalThis.hit=1) [b](data:text/html,<script>1</script>) [c](vbscript:x) ![i](https://example.com/p.png) <a href="javascript:globalThis.hit=1">d</a> [e]: javascript:globalThis.hit=1 </script></style><style>*{display:none}</style>`

// TestTextNeverBecomesHTML puts hostile text into each field.
func TestTextNeverBecomesHTML(t *testing.T) {
	g := NewWithT(t)
	x := startBrowser(t).newTab()
	x.must("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `globalThis.violations = []; document.addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + " " + e.blockedURI + " " + e.sample));`}, nil)
	openRecording(t, x, page.Record("Hostile"+hostile, gallery(hostile)))
	g.Expect(eval[string](x, `document.body.textContent`)).To(ContainSubstring(`onerror="globalThis.hit=1"`), "it is shown")
	g.Expect(eval[[]string](x, `[...document.querySelectorAll("img, iframe, object, embed, svg, body style, [style], [srcdoc], body link, base")].map((e) => e.outerHTML)`)).To(BeEmpty())
	g.Expect(eval[int](x, `document.querySelectorAll("script").length`)).To(Equal(3), "the recording, the library, the page")
	g.Expect(eval[[]string](x, `[...document.querySelectorAll("*")].flatMap((e) => [...e.attributes].filter((a) => a.name.startsWith("on")).map((a) => a.name))`)).To(BeEmpty())
	g.Expect(eval[[]string](x, `[...document.querySelectorAll("a")].map((a) => a.protocol).filter((p) => !["https:", "http:", "mailto:", "file:"].includes(p))`)).To(BeEmpty())
	g.Expect(eval[bool](x, `globalThis.hit === undefined`)).To(BeTrue())
	g.Expect(eval[[]string](x, `violations`)).To(BeEmpty(), "nothing tried what the policy forbids")
	g.Expect(eval[bool](x, `(() => { try { document.createElement("p").innerHTML = "<b>"; return false; } catch { return true; } })()`)).To(BeTrue(), "Trusted Types forbid HTML from strings")
}

// TestSliderReplays checks that the slider shows each time as the session was then, forward
// and back.
func TestSliderReplays(t *testing.T) {
	g := NewWithT(t)
	x := startBrowser(t).newTab()
	openRecording(t, x, page.Record("Gallery", gallery("")))
	at := func(ms int) string {
		return eval[string](x, fmt.Sprintf(`(() => { const t = document.querySelector("#time"); t.value = %d; t.dispatchEvent(new Event("input")); return new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(document.querySelector("#messages").textContent + "|" + document.querySelector("#doing").textContent)))); })()`, ms))
	}
	length := eval[int](x, `Number(document.querySelector("#time").max)`)
	g.Expect(length).To(BeNumerically(">", 5000))
	seen := map[int]string{}
	for ms := 0; ms <= length; ms += length / 20 {
		seen[ms] = at(ms)
	}
	g.Expect(seen[0]).To(HaveSuffix("|Ready"))
	for ms := (length / 20) * 20; ms >= 0; ms -= length / 20 {
		g.Expect(at(ms)).To(Equal(seen[ms]), "%d ms, backward", ms)
	}
	eval[bool](x, `(document.querySelector("#speed").value = "16", document.querySelector("#play").click(), true)`)
	x.until(`document.querySelector("#play").textContent === "Play" && Number(document.querySelector("#time").value) === Number(document.querySelector("#time").max)`)
	g.Expect(eval[string](x, `document.querySelector("#messages").textContent`)).To(ContainSubstring("Which database does the user want?"))
}

// TestFileIsSelfContained checks that a page refers to no other file, and that its policy
// allows its own scripts only.
func TestFileIsSelfContained(t *testing.T) {
	g := NewWithT(t)
	var b strings.Builder
	g.Expect(page.Record(`</title><script>x</script>`, gallery("")).Write(&b)).To(Succeed())
	g.Expect(b.String()).NotTo(MatchRegexp(`(?i)<[^>]*\s(src|href)="?(https?:|/)`))
	g.Expect(b.String()).NotTo(MatchRegexp(`\{\{(title|policy|style|library|script|recording)\}\}`))
	g.Expect(strings.Count(b.String(), "<script")).To(Equal(3 + strings.Count(b.String(), `"<script`)))
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(b.String())
	g.Expect(policy).To(HaveLen(2))
	g.Expect(policy[1]).To(And(ContainSubstring("default-src 'none'"), ContainSubstring("require-trusted-types-for 'script'"), Not(ContainSubstring("unsafe"))))
	g.Expect(b.Len()).To(BeNumerically("<", 200<<10))
}
