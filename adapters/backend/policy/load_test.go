package policy_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/policy"
	table "github.com/turnspec/turnspec/fixtures/policy"
)

func TestLoad(t *testing.T) {
	g := NewWithT(t)
	p, err := policy.Load("/etc/agent/policy.yaml", []byte(`
# what this agent may do
mode: implementation
preset: safe-edit
unknown: ask
reads: roots
roots: [., ../shared, /w]
mcp: [hotel, bank/pay]
deny:
  - Bash(git push:*)
  - Read(**/.env)
`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Mode).To(Equal(policy.Implementation))
	g.Expect(p.Preset).To(Equal(policy.SafeEdit))
	g.Expect(p.Unknown).To(Equal(ask))
	g.Expect(p.ConfineReads).To(BeTrue())
	g.Expect(p.Roots).To(Equal([]string{"/etc/agent", "/etc/shared", "/w"}))
	g.Expect(p.MCP).To(Equal([]string{"hotel", "bank/pay"}))
	g.Expect(p.Rules.Deny).To(HaveLen(2))
	g.Expect(p.Rules.Deny[1].String()).To(Equal("Read(**/.env)"))
	g.Expect(p.Validate()).To(Succeed())

	for _, empty := range []string{"", "# nothing\n", "---\n", "null\n"} {
		_, err := policy.Load("p.yaml", []byte(empty))
		g.Expect(err).NotTo(HaveOccurred(), empty)
	}
}

// TestLoadErrors: each error names its place.
func TestLoadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"mood: planner":                     `p.yaml:1: no key "mood"`,
		"Mode: planner":                     `p.yaml:1: no key "Mode"`,
		"mode: plan":                        `p.yaml:1: mode: want one of planner, implementation, got "plan"`,
		"mode: true":                        `p.yaml:1: mode: want one of`,
		"mode: [planner]":                   `p.yaml:1: mode: want one of planner, implementation, got a list`,
		"mode:":                             `p.yaml:1: mode: want one of planner, implementation, got nothing`,
		"preset: all":                       `p.yaml:1: preset: want one of full, read-only, no-bash, safe-edit, got "all"`,
		"unknown: allow":                    `p.yaml:1: unknown: want one of deny, ask, got "allow"`,
		"reads: no":                         `p.yaml:1: reads: want one of`,
		"\nmode: planner\nmode: planner":    `p.yaml:3: duplicate key mode; first on line 2`,
		"deny: Bash(ls)":                    `p.yaml:1: deny: want a list, got "Bash(ls)"`,
		"deny:\n  - 7":                      `p.yaml:2: deny: want strings, got "7"`,
		"deny:\n  - [Bash]":                 `p.yaml:2: deny: want strings, got a list`,
		"deny:\n  - Bash(ls)\n  - Bash(ls)": `p.yaml:3: duplicate rule "Bash(ls)"; first on line 2`,
		"deny: [&a Bash, *a]":               `p.yaml:1: deny: want strings, got an alias *a`,
		"deny: ['Bash(ls']":                 `p.yaml:1: rule "Bash(ls": want a ) at the end`,
		"deny: ['Bash()']":                  `p.yaml:1: rule "Bash()": the parentheses are empty`,
		"deny: ['bash(ls)']":                `p.yaml:1: rule "bash(ls)": no tool bash; did you mean Bash?`,
		"deny: ['git push']":                `p.yaml:1: rule "git push": want the name of a tool first`,
		"deny: ['']":                        `p.yaml:1: rule "": want the name of a tool first`,
		"deny: ['Bash(ls [)']":              `p.yaml:1: rule "Bash(ls [)": "[": syntax error in pattern`,
		"deny: ['Glob(x)']":                 `p.yaml:1: rule "Glob(x)": rules of paths are Read(…), Edit(…) or Write(…)`,
		"deny: ['WebFetch(x.example)']":     `p.yaml:1: rule "WebFetch(x.example)": want WebFetch(domain:HOST)`,
		"deny: ['TodoWrite(x)']":            `p.yaml:1: rule "TodoWrite(x)": TodoWrite takes nothing in parentheses`,
		"deny: ['We*']":                     `p.yaml:1: rule "We*": only names that begin with mcp__ may hold a pattern`,
		"allow: ['Write(src/**)']":          `p.yaml:1: rule "Write(src/**)": path rules deny or ask`,
		"mcp: ['']":                         `p.yaml:1: mcp "": want server, server/tool or *`,
		"roots: ['']":                       `p.yaml:1: a root that is empty`,
		"- mode":                            `p.yaml:1: want keys such as mode: and deny:, got a list`,
		"7: x":                              `p.yaml:1: a key must be a word`,
		"mode: planner\n---\nmode: planner": `p.yaml:2: a second document`,
		"mode: 'planner":                    `p.yaml: `,
		"mode: planner\n\tx: y":             `p.yaml: `,
	} {
		g := NewWithT(t)
		_, err := policy.Load("p.yaml", []byte(text))
		g.Expect(err).To(MatchError(ContainSubstring(want)), text)
	}
	g := NewWithT(t)
	_, err := policy.Load("p.yaml", []byte("mode: x\npreset: y\n"))
	g.Expect(strings.Count(err.Error(), "\n")).To(Equal(1), "all that is wrong is told")
}

// FuzzLoad starts with the policies of the table.
func FuzzLoad(f *testing.F) {
	all, err := table.Table()
	must(f, err)
	for _, c := range all {
		f.Add(c.Policy)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := policy.Load("p.yaml", []byte(text))
		if err == nil && p.Validate() != nil {
			t.Errorf("%q: loaded, but %v", text, p.Validate())
		}
	})
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
