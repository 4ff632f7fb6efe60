package compare

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// pending is a line whose ids are not renamed yet, because that depends on its
// stream.
type pending struct {
	n    int
	text string
	tree *tree
}

type normalizer struct {
	c        *fixtures.Case
	rt       *wire.Runtime
	lines    []wire.Line
	compared []wire.Compared
	trees    []*tree
	streams  map[string][]pending
	ids      *regexp.Regexp      // finds ids in a text
	found    map[string][]string // of ids, by text
	client   map[string]string   // ids that the client chose or used, by the order of use
	calls    map[string]bool     // tool calls of the scenario; their ids are not renamed
	threads  map[string]string   // the name of each thread
	items    map[string]string   // the name of each item, by agent and id
	kinds    map[string]int
	asked    map[string]string           // the stream of each request of the runtime
	tasks    map[string]string           // the tool call of each task
	output   map[string]*strings.Builder // the streamed output of a running command
	last     map[string]string           // the last line of a stream that may repeat it
}

func newNormalizer(c *fixtures.Case) *normalizer {
	n := &normalizer{
		c: c, rt: runtimes.Find(c.Runtime), lines: c.Lines(), compared: make([]wire.Compared, len(c.Wire)),
		streams: map[string][]pending{}, found: map[string][]string{}, client: map[string]string{}, calls: map[string]bool{},
		threads: map[string]string{}, items: map[string]string{}, kinds: map[string]int{}, asked: map[string]string{},
		tasks: map[string]string{}, output: map[string]*strings.Builder{}, last: map[string]string{},
	}
	if n.rt == nil {
		n.rt, n.lines = &wire.Runtime{}, make([]wire.Line, len(c.Wire))
	}
	for _, q := range c.Witness {
		for id := range q.Results {
			n.calls[id] = true
		}
		for _, s := range q.Output {
			if s.ID != "" {
				n.calls[s.ID] = true
			}
		}
	}
	n.findIDs()
	n.findThreads()
	return n
}

// scenarioCall returns the tool call of the scenario that an id belongs to, or "".
func (n *normalizer) scenarioCall(id string) string {
	if call := n.rt.ScenarioCall(id); n.calls[call] {
		return call
	}
	return ""
}

// blob is the name of a file in which Claude Code stores a picture of an MCP
// server. It consists of the time and a random number.
const blob = `\bblob-[0-9]{13}-[a-z0-9]{6}\b`

func (n *normalizer) findIDs() {
	literal := map[string]bool{}
	isUUID := regexp.MustCompile("^" + uuid + "$")
	for i, w := range n.c.Wire {
		var t *tree
		if w.Dir == fixtures.In || w.Dir == fixtures.Out {
			t = parseTree(w.Bytes)
		}
		if t != nil && w.Dir == fixtures.Out {
			n.pruneTree(n.lines[i].Name, t)
			if n.rt.Compare.Read != nil {
				n.compared[i] = n.rt.Compare.Read(w.Bytes)
			}
		}
		n.trees = append(n.trees, t)
		if t != nil {
			t.eachString("", func(key, s string) {
				if s != "" && (idMembers[key] || key == "id" && mintedID.MatchString(s)) && n.scenarioCall(s) == "" && !isUUID.MatchString(s) {
					literal[s] = true
				}
			})
		}
	}
	alt := []string{uuid, blob}
	if n.rt.Compare.IDs != "" {
		alt = append(alt, n.rt.Compare.IDs)
	}
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
		if len(s) < 5 || !isIDByte(s[0]) || !isIDByte(s[len(s)-1]) { // too short to search for it in texts
			alt = append(alt, `\A`+regexp.QuoteMeta(s)+`\z`)
		} else {
			alt = append(alt, `\b`+regexp.QuoteMeta(s)+`\b`)
		}
	}
	n.ids = regexp.MustCompile(strings.Join(alt, "|"))
	for i, t := range n.trees {
		if t == nil || n.c.Wire[i].Dir != fixtures.In || n.lines[i].Kind == wire.Answer {
			continue
		}
		t.eachString("", func(_, s string) {
			for _, id := range n.idsIn(s) {
				if n.client[id] == "" {
					n.client[id] = fmt.Sprintf("<client:%d>", len(n.client)+1)
				}
			}
		})
	}
}

// idsIn returns the ids that a text contains. It searches each text once, because most
// texts of a recording occur many times and the expression has an alternative for each id.
func (n *normalizer) idsIn(s string) []string {
	found, have := n.found[s]
	if !have {
		found = n.ids.FindAllString(s, -1)
		n.found[s] = found
	}
	return found
}

func isIDByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// pruneTree drops the members and values of a line that are not compared, and sorts
// lists whose order is chance.
func (n *normalizer) pruneTree(name string, t *tree) {
	if i := strings.IndexAny(name, "/("); i >= 0 {
		name = name[:i]
	}
	for _, m := range n.rt.Compare.IgnoredMembers {
		last := len(m.Path) - 1
		if in := t.at(m.Path[:last]...); in != nil && (m.Line == "" || m.Line == name) {
			in.dropMember(m.Path[last])
		}
	}
	for _, v := range n.rt.Compare.IgnoredValues {
		t.eachMember(v.In, func(in *tree) {
			for _, kid := range in.kids {
				if kid.str(v.Member) == v.Value {
					kid.dropMember(v.Member)
				}
			}
		})
	}
	for name := range n.rt.Compare.Chance {
		t.eachMember(name, (*tree).mask)
	}
	if n.rt.Compare.Unordered != "" {
		t.eachMember(n.rt.Compare.Unordered, func(list *tree) {
			slices.SortFunc(list.kids, func(a, b *tree) int { return strings.Compare(a.text, b.text) })
		})
	}
}

// namer returns a function that renames what chance decides in the lines of one
// stream. An id that the client used has the same name in all streams. Others are
// numbered within the stream, so that a difference in one stream does not show in
// another. An id that occurs once has no number.
func (n *normalizer) namer(stream []pending) func(string) string {
	own, count := map[string]string{}, map[string]int{}
	for _, p := range stream {
		if p.tree != nil {
			p.tree.eachString("", func(_, s string) {
				for _, id := range n.idsIn(s) {
					count[id]++
				}
			})
		}
	}
	return func(s string) string {
		if len(s) < 2 {
			return s
		}
		if len(n.idsIn(s)) > 0 {
			s = n.ids.ReplaceAllStringFunc(s, func(id string) string {
				switch {
				case n.client[id] != "":
					return n.client[id]
				case count[id] < 2:
					return "<id>"
				case own[id] == "":
					own[id] = fmt.Sprintf("<id:%d>", len(own)+1)
				}
				return own[id]
			})
		}
		return maskNoise(s)
	}
}

func (n *normalizer) addLine(key string, i int, text string, t *tree) {
	n.streams[key] = append(n.streams[key], pending{i, text, t})
}

func (n *normalizer) addWire(i int) {
	w := n.c.Wire[i]
	life := fmt.Sprintf("process %d life", w.Process)
	switch w.Dir {
	case fixtures.Spawn:
		j, err := json.Marshal(w.Argv)
		if err != nil {
			j = []byte(fmt.Sprintf("%q", w.Argv))
		}
		n.addLine(life, i+1, "spawn", parseTree(j))
	case fixtures.EOF:
		n.addLine(life, i+1, "eof", nil)
	case fixtures.Signal:
		n.addLine(life, i+1, "signal "+w.Signal, nil)
	case fixtures.Exit:
		n.addLine(life, i+1, fmt.Sprintf("exit %d%s", w.Code, w.Signal), nil)
	case fixtures.In, fixtures.Out:
		if n.trees[i] == nil {
			n.addLine(fmt.Sprintf("process %d text", w.Process), i+1, fmt.Sprintf("%s %q", w.Dir, n.namer(nil)(string(w.Bytes))), nil)
			return
		}
		if key := n.streamName(i); key != "" {
			n.addLine(key, i+1, string(w.Dir), n.trees[i])
		}
	}
}

// addWitness adds what the model received and sent, one stream for each agent. The
// numbers of requests count over all agents, so they are dropped.
func (n *normalizer) addWitness() {
	lost := n.maybeLost()
	for _, q := range n.certain() {
		q.New = sortResults(q.New)
		q.History = slices.DeleteFunc(slices.Clone(q.History), func(m string) bool { return slices.Contains(lost, m) })
		j, err := json.Marshal(q, wire.AsWritten)
		key := "witness of " + cmp.Or(q.Agent, "main")
		t := parseTree(j)
		if err != nil || t == nil { // the input of a tool is not JSON
			n.addLine(key, q.Req, fmt.Sprintf("request %+v", q), nil)
			continue
		}
		t.dropMember("req")
		if r := t.at("results"); r != nil {
			for _, result := range r.kids {
				result.sortObject()
			}
		}
		n.addLine(key, q.Req, "request", t)
	}
}

// sortResults sorts adjacent results, because tools that run at the same time end
// in any order.
func sortResults(news []string) []string {
	out := slices.Clone(news)
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
