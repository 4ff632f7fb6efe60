package sse_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/plug/sse"
)

//go:generate go test -run ^TestPageHasAllOptions$ . -update

var update = flag.Bool("update", false, "write the options into ROUTES.md")

// TestOptionsReachTheSidecar performs cases whose sessions are opened with options, on the server of this
// module, which declares them, and on a small one, which does not.
func TestOptionsReachTheSidecar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ on, passes string }{
		{"claude/newest/session/opened-with-an-effort", "session.open-options"},
		{"claude/newest/session/opened-with-instructions", "session.open-options"},
		{"claude/newest/session/opened-with-other-instructions", "session.open-options"},
		{"claude/newest/session/opened-with-further-folders", "session.open-options"},
		{"claude/newest/session/opened-with-user-settings", "session.open-options"},
		{"claude/newest/session/opened-with-a-model", "session.open-options"},
		{"claude/newest/limit/turns", "session.open-options"},
		{"claude/newest/limit/budget", "session.open-options"},
		{"claude/newest/schema/tool-call", "session.open-options"},
		{"claude/newest/component/shown-across-resume", "component.update"},
		{"codex/newest/component/asks-the-user", "tool.client-answered"},
		{"claude/newest/component/tool-linked", "tool.client-answered"},
		{"claude/newest/client/stopped-while-a-tool-runs", "tool.client-cancelled"},
		{"claude/newest/hook/adds-to-a-message", "tool.client-answered"},
		{"claude/newest/session/fork-goes-its-own-way", "session.fork-independent"},
		{"codex/newest/session/fork-at-a-message", "session.fork-independent"},
		{"claude/newest/tool/parallel", "tool.input-whole"},
	} {
		t.Run(strings.ReplaceAll(c.on, "/", "|"), func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			runtime, _, _ := strings.Cut(c.on, "/")
			failed, passed := judged(t, of(t, "served "+runtime, runtime), noFaults, c.on)
			g.Expect(failed).To(BeEmpty())
			g.Expect(passed).To(HaveKey(c.passes), "it has given no verdict")
			if runtime != "claude" || c.passes == "tool.input-whole" { // soft: a server that lacks it ignores it
				return
			}
			failed, passed = judged(t, of(t, "whole", runtime), noFaults, c.on)
			g.Expect(failed).To(BeEmpty())
			g.Expect(passed).To(BeEmpty(), "it declares no options, so that it is not asked")
		})
	}
}

// TestPageHasAllOptions compares the table of ROUTES.md with the options of package op.
func TestPageHasAllOptions(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("ROUTES.md")
	g.Expect(err).NotTo(HaveOccurred())
	const head = "| member of `params` | needs `can` | means |\n|---|---|---|\n"
	before, rest, found := strings.Cut(string(page), head)
	g.Expect(found).To(BeTrue(), "the table begins with %q", head)
	_, after, found := strings.Cut(rest, "\n\n")
	g.Expect(found).To(BeTrue())
	code := regexp.MustCompile(`\b\w+_\w+\b`)
	var rows strings.Builder
	for _, o := range sse.ParamOptions() {
		doc := regexp.MustCompile(`\b[Ww]ith resume\b`).ReplaceAllString(o.Doc, "With provider_session_id")
		doc = regexp.MustCompile(`\bdir\b`).ReplaceAllString(doc, "`workingDir`")
		doc = strings.ReplaceAll(doc, "A program whose runtime cannot do that refuses open with unsupported.", "A server whose runtime cannot do that answers with 501.")
		fmt.Fprintf(&rows, "| `%s` | `%s` | %s |\n", o.Name, sse.AbilityOf(o), code.ReplaceAllString(doc, "`$0`"))
	}
	rows.WriteString("| `schema` | `schema` | A JSON Schema of the final answer. |\n" +
		"| `components` | `components` | What the agent may show, in the form of adapters/backend/component: the server offers the tools for it. |\n" +
		"| `tools` | `tools` | Tools of the client, each with name, description, schema and read_only. |\n" +
		"| `hooks` | `hooks` | Hooks of the client, each with event, matcher and timeout_s. |")
	want := before + head + rows.String() + "\n\n" + after
	if *update {
		g.Expect(os.WriteFile("ROUTES.md", []byte(want), 0o644)).To(Succeed())
		return
	}
	g.Expect(string(page)).To(Equal(want), "make generate writes it")
}
