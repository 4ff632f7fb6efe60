package redact

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// Finding is something in a fixture that must not be published.
type Finding struct {
	Line int    // from 1
	Kind string // path, secret or prose
	Text string // what was found; only the start of a secret
}

func (f Finding) String() string { return fmt.Sprintf("line %d: %s: %s", f.Line, f.Kind, f.Text) }

// homelike matches paths that name a machine or its users. /root is one unless it
// is the path of an agent.
var (
	homelike = regexp.MustCompile(`(?:/home|/Users)/[A-Za-z0-9._-]+|(?:/private)?/tmp/[^\s"'<>\\)]+|/var/folders/[^\s"'<>\\)]+|/run/user/\d+`)
	rootHome = regexp.MustCompile(`(?:^|[^A-Za-z0-9_.>-])(/root/(?:\.[A-Za-z]|[A-Za-z0-9_.-]+/)[^\s"'<>\\)]*)`)
)

// Lint searches the file of a case, line by line, for paths, secrets and prose.
// The text of the client, of the model and of the scenarios given is not reported.
// Without the scenarios, the content of workspace files may be reported as prose.
func Lint(b []byte, scenarios ...*fixtures.Scenario) []Finding {
	c := newCorpus()
	var known []string
	for _, s := range scenarios {
		known = append(known, scenarioTexts(s)...)
	}
	type text struct {
		line int
		tok  token
	}
	var texts []text
	n := 0
	var rt *wire.Runtime
	for line := range bytes.Lines(b) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		if name, ok := bytes.CutPrefix(line, []byte("runtime: ")); ok {
			name, _, _ = bytes.Cut(name, []byte(" "))
			rt = runtimes.Find(string(name))
		}
		if at, ok := wire.Member(line, "out"); ok && rt != nil {
			known = append(known, rt.ReadOutput(line[at.From:at.To]).Printed...)
		}
		if !isJSON(line) {
			texts = append(texts, text{n, plainToken(line)})
			continue
		}
		toks, err := tokens(line)
		if err != nil {
			texts = append(texts, text{n, plainToken(line)})
			continue
		}
		output := bytes.Contains(line, []byte(`/outputDelta"`))
		for _, t := range toks {
			texts = append(texts, text{n, t})
			if isPublic(t) || outputKeys[t.key] || output && t.key == "delta" {
				known = append(known, t.text)
			}
		}
	}
	for _, s := range known {
		c.addText(s)
	}
	e := eliding{corpus: c, stops: anyPlaceholder}
	var out []Finding
	for _, t := range texts {
		report := func(kind, what string) {
			if len(what) > 120 {
				what = what[:120] + "…"
			}
			out = append(out, Finding{t.line, kind, what})
		}
		for _, m := range homelike.FindAllString(t.tok.text, -1) {
			if !inScenario(m, scenarios) {
				report("path", m)
			}
		}
		if !agentKeys[t.tok.key] {
			for _, m := range rootHome.FindAllStringSubmatch(t.tok.text, -1) {
				if !inScenario(m[1], scenarios) {
					report("path", m[1])
				}
			}
		}
		for _, s := range secretsIn(t.tok.text, t.tok.key) {
			report("secret", s[:4]+"…")
		}
		if t.tok.name || isPublic(t.tok) || outputKeys[t.tok.key] || kept[t.tok.key] {
			continue
		}
		least := proseWords
		if describing[t.tok.key] {
			least = describingWords
		}
		text := t.tok.text[len(logHead.FindString(t.tok.text)):]
		for _, s := range e.runs(text, least) {
			report("prose", text[s.start:s.end])
		}
	}
	return out
}

// logHead matches what a logger writes before its message: colours, if it has any, time,
// level and module.
var logHead = regexp.MustCompile(`^(?:\x1b\[2m[0-9TZ:.-]+\x1b\[0m +(?:\x1b\[\d+m)? *[A-Z]+(?:\x1b\[0m)? \x1b\[2m[a-z0-9_:]+\x1b\[0m\x1b\[2m:\x1b\[0m (?:\x1b\[3m\w+\x1b\[0m\x1b\[2m=\x1b\[0m)?` +
	`|\d{4}-[0-9TZ:.-]+ +[A-Z]+ [a-z0-9_:]+: (?:\w+=)?)`)

// isPublic reports whether the client or the scenario wrote a string of a line.
func isPublic(t token) bool {
	top, _, _ := strings.Cut(t.path, ".")
	return top == "in" || top == "spawn" || top == "said"
}

func inScenario(s string, scenarios []*fixtures.Scenario) bool {
	for _, sc := range scenarios {
		for _, w := range scenarioTexts(sc) {
			if strings.Contains(w, s) {
				return true
			}
		}
	}
	return false
}
