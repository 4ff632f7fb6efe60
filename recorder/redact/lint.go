package redact

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// Finding is something in a fixture that must not be published.
type Finding struct {
	Line int    // from 1
	Kind string // path, secret or prose
	Text string // what was found; of a secret only its beginning
}

func (f Finding) String() string { return fmt.Sprintf("line %d: %s: %s", f.Line, f.Kind, f.Text) }

// homelike matches paths that name a machine or its people. /root is one only
// where it is no agent's path.
var (
	homelike = regexp.MustCompile(`(?:/home|/Users)/[A-Za-z0-9._-]+|(?:/private)?/tmp/[^\s"'<>\\)]+|/var/folders/[^\s"'<>\\)]+|/run/user/\d+`)
	rootHome = regexp.MustCompile(`(?:^|[^A-Za-z0-9_.>-])(/root/(?:\.[A-Za-z]|[A-Za-z0-9_.-]+/)[^\s"'<>\\)]*)`)
)

// Lint looks through a case's file, line by line, for paths, secrets and prose.
// What the client wrote and the model said is ours, and so are the words of the
// scenarios given; without them, workspace files that were read may be taken
// for prose.
func Lint(b []byte, scenarios ...*fixtures.Scenario) []Finding {
	var c corpus
	c.init()
	var ours []string
	for _, s := range scenarios {
		ours = append(ours, scenarioWords(s)...)
	}
	type text struct {
		line int
		tok  token
	}
	var texts []text
	n := 0
	for line := range bytes.Lines(b) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		if !isJSON(line) {
			texts = append(texts, text{n, plain(line)})
			continue
		}
		toks, err := tokens(line)
		if err != nil {
			texts = append(texts, text{n, plain(line)})
			continue
		}
		output := bytes.Contains(line, []byte(`/outputDelta"`))
		for _, t := range toks {
			texts = append(texts, text{n, t})
			if isOurs(t) || outputKeys[t.key] || output && t.key == "delta" {
				ours = append(ours, t.text)
			}
		}
	}
	for _, s := range ours {
		c.add(s)
	}
	e := eliding{corpus: &c, stops: anyPlaceholder}
	var out []Finding
	for _, t := range texts {
		add := func(kind, what string) {
			if len(what) > 120 {
				what = what[:120] + "…"
			}
			out = append(out, Finding{t.line, kind, what})
		}
		for _, m := range homelike.FindAllString(t.tok.text, -1) {
			if !inScenario(m, scenarios) {
				add("path", m)
			}
		}
		if !agentKeys[t.tok.key] {
			for _, m := range rootHome.FindAllStringSubmatch(t.tok.text, -1) {
				if !inScenario(m[1], scenarios) {
					add("path", m[1])
				}
			}
		}
		for _, s := range secretsIn(t.tok.text, t.tok.key) {
			add("secret", s[:4]+"…")
		}
		if t.tok.name || isOurs(t.tok) || outputKeys[t.tok.key] || kept[t.tok.key] {
			continue
		}
		least := proseWords
		if describing[t.tok.key] {
			least = describingWords
		}
		text := t.tok.text[len(logHead.FindString(t.tok.text)):]
		for _, s := range e.runs(text, least) {
			add("prose", text[s.start:s.end])
		}
	}
	return out
}

// logHead is what a logger writes before its message: colours, time, level,
// module.
var logHead = regexp.MustCompile(`^\x1b\[2m[0-9TZ:.-]+\x1b\[0m +(?:\x1b\[\d+m)? *[A-Z]+(?:\x1b\[0m)? \x1b\[2m[a-z0-9_:]+\x1b\[0m\x1b\[2m:\x1b\[0m (?:\x1b\[3m\w+\x1b\[0m\x1b\[2m=\x1b\[0m)?`)

// isOurs reports whether a string of a case's line was written by the client or
// the scenario.
func isOurs(t token) bool {
	top, _, _ := strings.Cut(t.path, ".")
	return top == "in" || top == "spawn" || top == "said"
}

func inScenario(s string, scenarios []*fixtures.Scenario) bool {
	for _, sc := range scenarios {
		for _, w := range scenarioWords(sc) {
			if strings.Contains(w, s) {
				return true
			}
		}
	}
	return false
}
