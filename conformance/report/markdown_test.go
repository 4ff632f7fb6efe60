package report_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

func TestMarkdown(t *testing.T) {
	g := NewWithT(t)
	text := written(t, report.Markdown, example())
	g.Expect(text).To(HavePrefix("## ❌ Turnspec: failed\n\n1 of 2 checks on codex 1\n\n3 cases and 5 runs with a fault: "))
	g.Expect(text).To(ContainSubstring("| `text.once` | mine | 1 | `codex/1/text/plain` | The text comes once. |\n"))
	g.Expect(text).To(ContainSubstring("**Checks without a verdict on any case**\n\n- `tool.known`\n"))
	g.Expect(text).To(ContainSubstring("<details><summary><code>text.once</code> on <code>codex/1/text/plain</code></summary>\n\n```\nFAIL"))
	text = written(t, report.Markdown, known())
	g.Expect(text).To(ContainSubstring("- known.txt:7: `turn.stop` `stop/*`: it does not fail any more\n"))
	g.Expect(text).To(ContainSubstring("- `text.once` `text`, 1 failure: twice \\| until v2 https://example.org/1\n"))
	g.Expect(text).NotTo(ContainSubstring("<details>"))
	rep := sample()
	rep.Results, rep.Missing = rep.Results[1:4], nil
	g.Expect(written(t, report.Markdown, report.New(rep, report.About{}))).To(HavePrefix("## ✅ Turnspec: passed\n"))
}

// TestMarkdownIsBounded checks that the text always fits into a comment.
func TestMarkdownIsBounded(t *testing.T) {
	g := NewWithT(t)
	rep := sample()
	failed := rep.Results[0]
	failed.Problems = []conformance.Problem{{Text: "```\n" + strings.Repeat("ü", 5000), Diff: strings.Repeat("+x\n", 100)}}
	rep.Results = nil
	for i := range 300 {
		r := failed
		r.Check = &conformance.Check{ID: fmt.Sprintf("topic.rule-%d", i), Severity: conformance.Must, Sentence: strings.Repeat("It holds. ", 20)}
		rep.Results = append(rep.Results, r)
		rep.Missing = append(rep.Missing, r.Check)
	}
	text := written(t, report.Markdown, report.New(rep, report.About{}))
	g.Expect(len([]rune(text))).To(BeNumerically("<", 65536))
	g.Expect(text).To(ContainSubstring("| … and 240 more |"))
	g.Expect(text).To(ContainSubstring("````\nFAIL"), "a fence that the text does not close")
}
