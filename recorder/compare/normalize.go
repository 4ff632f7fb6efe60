package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// pending is a line whose ids are not renamed yet: names go by the stream.
type pending struct {
	n    int
	text string
	tree *tree
}

type normalizer struct {
	c       *fixtures.Case
	trees   []*tree
	streams map[string][]pending
	ids     *regexp.Regexp    // finds ids in a text
	client  map[string]string // ids that the client chose or used, by the order of use
	known   map[string]bool   // tool ids of the scenario: they stay
	threads map[string]string // Codex: a thread's name
	items   map[string]string // Codex: an item's name, by thread and id
	kinds   map[string]int
	asked   map[string]string           // the stream of a runtime's open request
	tasks   map[string]string           // Claude: the tool call of a task
	output  map[string]*strings.Builder // Codex: a running command's deltas
	last    map[string]string           // Codex: what a stream said last, of lines that are said again
}

func newNormalizer(c *fixtures.Case) *normalizer {
	n := &normalizer{
		c: c, streams: map[string][]pending{}, client: map[string]string{}, known: map[string]bool{},
		threads: map[string]string{}, items: map[string]string{}, kinds: map[string]int{}, asked: map[string]string{},
		tasks: map[string]string{}, output: map[string]*strings.Builder{}, last: map[string]string{},
	}
	for _, q := range c.Witness {
		for id := range q.Results {
			n.known[id] = true
		}
		for _, s := range q.Said {
			if s.ID != "" {
				n.known[s.ID] = true
			}
		}
	}
	n.findIDs()
	n.findThreads()
	return n
}

// scripted reports whether an id is a tool call's of the scenario, perhaps with
// the prefix that the runtime's API wants.
func (n *normalizer) scripted(id string) bool { return n.tool(id) != "" }

func (n *normalizer) tool(id string) string {
	if n.known[id] {
		return id
	}
	if i := strings.LastIndexByte(id, '_'); i >= 0 && n.known[id[i+1:]] {
		return id[i+1:]
	}
	return ""
}

// blob is how Claude Code calls a file in which it keeps a picture of an MCP
// server: by the time and by chance.
const blob = `\bblob-[0-9]{13}-[a-z0-9]{6}\b`

func (n *normalizer) findIDs() {
	literal := map[string]bool{}
	isUUID := regexp.MustCompile("^" + uuid + "$")
	for _, w := range n.c.Wire {
		var t *tree
		if w.Dir == fixtures.In || w.Dir == fixtures.Out {
			t = parse(w.Bytes)
		}
		n.trees = append(n.trees, t)
		if t != nil {
			t.strings("", func(key, s string) {
				if s != "" && (idMembers[key] || key == "id" && mintedID.MatchString(s)) && !n.scripted(s) && !isUUID.MatchString(s) {
					literal[s] = true
				}
			})
		}
	}
	alt := []string{uuid, blob}
	var lits []string
	for s := range literal {
		lits = append(lits, s)
	}
	slices.SortFunc(lits, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	for _, s := range lits {
		if len(s) < 5 || !isIDByte(s[0]) || !isIDByte(s[len(s)-1]) { // too short to be looked for within texts
			alt = append(alt, `\A`+regexp.QuoteMeta(s)+`\z`)
		} else {
			alt = append(alt, `\b`+regexp.QuoteMeta(s)+`\b`)
		}
	}
	n.ids = regexp.MustCompile(strings.Join(alt, "|"))
	for i, t := range n.trees {
		if t == nil || n.c.Wire[i].Dir != fixtures.In || isReply(t) {
			continue
		}
		t.strings("", func(_, s string) {
			for _, id := range n.ids.FindAllString(s, -1) {
				if n.client[id] == "" {
					n.client[id] = fmt.Sprintf("<client:%d>", len(n.client)+1)
				}
			}
		})
	}
}

func isIDByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isReply reports whether a client's line answers a request of the runtime.
func isReply(t *tree) bool {
	return t.str("type") == "control_response" || t.has("id") && !t.has("method")
}

// namer renames what chance decides in the lines of one stream. An id that the
// client used has the same name in all streams; others are numbered within the
// stream, so that a difference in one stream does not show in another, and one
// that stands there once has no number.
func (n *normalizer) namer(stream []pending) func(string) string {
	mine, count := map[string]string{}, map[string]int{}
	for _, p := range stream {
		if p.tree != nil {
			p.tree.strings("", func(_, s string) {
				for _, id := range n.ids.FindAllString(s, -1) {
					count[id]++
				}
			})
		}
	}
	return func(s string) string {
		if len(s) < 2 {
			return s
		}
		s = n.ids.ReplaceAllStringFunc(s, func(id string) string {
			switch {
			case n.client[id] != "":
				return n.client[id]
			case count[id] < 2:
				return "<id>"
			case mine[id] == "":
				mine[id] = fmt.Sprintf("<id:%d>", len(mine)+1)
			}
			return mine[id]
		})
		for _, t := range noiseTexts {
			s = t.find.ReplaceAllString(s, t.repl)
		}
		return s
	}
}

func (n *normalizer) add(key string, i int, text string, t *tree) {
	n.streams[key] = append(n.streams[key], pending{i, text, t})
}

func (n *normalizer) line(i int) {
	w := n.c.Wire[i]
	p := fmt.Sprintf("process %d ", w.Process)
	switch w.Dir {
	case fixtures.Spawn:
		j, err := json.Marshal(w.Argv)
		if err != nil {
			j = []byte(fmt.Sprintf("%q", w.Argv))
		}
		n.add(p+"life", i+1, "spawn", parse(j))
	case fixtures.EOF:
		n.add(p+"life", i+1, "eof", nil)
	case fixtures.Signal:
		n.add(p+"life", i+1, "signal "+w.Signal, nil)
	case fixtures.Exit:
		n.add(p+"life", i+1, fmt.Sprintf("exit %d%s", w.Code, w.Signal), nil)
	case fixtures.In, fixtures.Out:
		t := n.trees[i]
		if t == nil {
			n.add(p+"odd lines", i+1, fmt.Sprintf("%s %q", w.Dir, n.namer(nil)(string(w.Bytes))), nil)
			return
		}
		key := n.codex
		switch {
		case n.c.Runtime == "codexexec":
			key = n.codexExec
		case t.has("type"):
			key = n.claude
		}
		if k := key(t, w.Dir == fixtures.In, i+1, w.Process); k != "" {
			n.add(p+k, i+1, string(w.Dir), t)
		}
	}
}

// witness compares all that the model said and received, agent by agent. The
// numbers of requests count over all agents, so they are dropped.
func (n *normalizer) witness() {
	unwritten := n.unwritten()
	for _, q := range n.spoken() {
		q.New = resultsSorted(q.New)
		q.History = slices.DeleteFunc(slices.Clone(q.History), func(m string) bool { return slices.Contains(unwritten, m) })
		j, err := json.Marshal(q, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		agent := q.Agent
		if agent == "" {
			agent = "main"
		}
		t := parse(j)
		if err != nil || t == nil { // a tool's input that is no JSON
			n.add("witness of "+agent, q.Req, fmt.Sprintf("request %+v", q), nil)
			continue
		}
		t.drop("req")
		if r := t.at("results"); r != nil {
			for _, result := range r.kids {
				result.sortObject()
			}
		}
		n.add("witness of "+agent, q.Req, "request", t)
	}
}

// resultsSorted puts the results that one request brings in the order of their
// ids: tools that run side by side end as they like. What else it brings keeps
// its place.
func resultsSorted(brings []string) []string {
	out := slices.Clone(brings)
	for i := 0; i < len(out); {
		n := i
		for n < len(out) && strings.HasPrefix(out[n], "result:") {
			n++
		}
		slices.Sort(out[i:n])
		i = n + 1
	}
	return out
}
