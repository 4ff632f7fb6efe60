package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// script is a scenario's model part and which of its replies were used.
type script struct {
	file        string
	messages    []message
	agents      map[string]*agent
	asides      []string // messages that the client sent on another thread
	spawns      []spawn
	threads     map[string]string  // a runtime's id of a sub-agent → its section
	owner       map[[2]string]bool // which agent makes a call with this id
	named       map[string]string  // section → the runtime's id, as it gave it to the model
	resultTexts map[string]string  // tool id → its result
}

// message is a message of the client.
type message struct {
	id    string
	lines []string
}

// spawn is a subagent call of the scenario.
type spawn struct{ name, prompt, call string }

// agent is the state of one agent.
type agent struct {
	lines []*line
	seen  map[string]bool // messages and results that its requests held
	notes int             // notes of the runtime that its requests held
	last  *exchange
}

// line is a reply of the scenario.
type line struct {
	fixtures.Reply
	index int
	used  bool
}

func newScript(sc *fixtures.Scenario) script {
	s := script{file: sc.File, agents: map[string]*agent{}, threads: map[string]string{}, owner: map[[2]string]bool{}, named: map[string]string{}, resultTexts: map[string]string{}}
	for _, a := range sc.Client {
		if a.SendsMessage() {
			s.messages = append(s.messages, message{a.ID, textLines(a.Text)})
			if a.Verb == fixtures.VerbAside {
				s.asides = append(s.asides, a.ID)
			}
		}
	}
	s.agents[""] = &agent{seen: map[string]bool{}}
	for name, replies := range sc.Model {
		ag := &agent{seen: map[string]bool{}}
		s.agents[name] = ag
		for i, r := range replies {
			ag.lines = append(ag.lines, &line{Reply: r, index: i})
			for _, p := range r.Parts {
				if p.Tool == nil {
					continue
				}
				s.owner[[2]string{name, p.Tool.ID}] = true
				if sp, ok := spawnOf(p.Tool); ok {
					s.spawns = append(s.spawns, sp)
				}
			}
		}
	}
	return s
}

func textLines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// position is the file and line of a reply.
func (s *script) position(l *line) string { return fmt.Sprintf("%s:%d", s.file, l.Line) }

// route finds the agent that makes a request.
func (s *script) route(q *request) string {
	if name, ok := s.threads[q.thread]; ok && q.thread != "" {
		return name
	}
	name := s.section(q)
	if name != "" && q.thread != "" {
		s.threads[q.thread] = name
	}
	return name
}

// Sections that answer neither the main agent nor a sub-agent: another thread of the client,
// and the runtime's own requests for a search.
const (
	asideSection  = "aside"
	searchSection = "search"
)

func (s *script) section(q *request) string {
	if q.search {
		return searchSection
	}
	for _, id := range s.messagesIn(q.texts) {
		if slices.Contains(s.asides, id) {
			return asideSection
		}
	}
	if !q.sub && !q.maySub {
		return ""
	}
	if s.agents[q.name] != nil && q.name != "" {
		return q.name
	}
	for name := range s.agents { // runtimes may write names in another form
		if name != "" && taskName(name) == q.name {
			return name
		}
	}
	if q.maySub && len(s.messagesIn(q.texts)) > 0 {
		return "" // without a mark, a message of the client belongs to the main agent
	}
	for _, sp := range s.spawns {
		for _, t := range q.texts {
			if strings.Contains(t, sp.prompt) {
				return sp.name
			}
		}
	}
	if q.sub {
		return q.name // no section has it; the refusal names it
	}
	return ""
}

// messagesIn returns the ids of the client's messages in texts, in order. A runtime may put
// several messages in one text, or add text around them: a message is found if its lines
// are whole lines of the text.
func (s *script) messagesIn(texts []string) []string {
	var out []string
	used := make([]bool, len(s.messages))
	for _, t := range texts {
		lines := textLines(ownCommand.ReplaceAllString(t, "$1 $2"))
		for i := 0; i < len(lines); {
			best := -1
			for j, m := range s.messages {
				if !used[j] && startsWith(lines[i:], m.lines) && (best < 0 || len(m.lines) > len(s.messages[best].lines)) {
					best = j
				}
			}
			if best < 0 {
				i++
				continue
			}
			used[best] = true
			out = append(out, s.messages[best].id)
			i += len(s.messages[best].lines)
		}
	}
	return out
}

// ownCommand is how Claude Code reports to the model that the user has called a custom
// command. The text of the command follows.
var ownCommand = regexp.MustCompile(`<command-message>[^<]*</command-message>\s*<command-name>([^<]*)</command-name>\s*<command-args>([^<]*)</command-args>`)

func startsWith(lines, with []string) bool {
	if len(lines) < len(with) {
		return false
	}
	for i := range with {
		if strings.TrimSpace(lines[i]) != strings.TrimSpace(with[i]) {
			return false
		}
	}
	return true
}

// receive finds out what a request brings, and records it.
func (s *script) receive(q *request) *exchange {
	name := s.route(q)
	ag := s.agents[name]
	if ag == nil {
		ag = &agent{seen: map[string]bool{}}
		s.agents[name] = ag
	}
	x := &exchange{Request: fixtures.Request{Agent: name, History: s.messagesIn(q.texts), Files: q.files, Instructed: q.instructed, Effort: q.effort, ExtraDirs: q.extraDirs, Workspace: q.workspace, Stream: q.stream}, before: ag.last, turn: q.turn}
	if ag.last != nil && ag.last.dropped(q) {
		ag.last.Ended = fixtures.EndedClosed
	}
	for _, id := range x.History {
		if !ag.seen[id] {
			ag.seen[id] = true
			x.New = append(x.New, id)
		}
	}
	for _, r := range q.results {
		id := strings.TrimPrefix(r.call, q.prefix)
		key := "result:" + id
		if !s.owner[[2]string{name, id}] || ag.seen[key] {
			continue
		}
		ag.seen[key] = true
		x.New = append(x.New, key)
		if x.Results == nil {
			x.Results = map[string]string{}
		}
		x.Results[id] = r.text
		s.resultTexts[id] = r.text
		for _, sp := range s.spawns {
			if sp.call == id {
				s.named[sp.name] = agentIDIn(r.text)
			}
		}
	}
	switch {
	case name == "", name == asideSection:
	case name == searchSection: // each is a separate conversation
		if key := "query:" + strings.Join(q.texts, "\n"); !ag.seen[key] {
			ag.seen[key] = true
			x.New = append(x.New, "query")
		}
	case ag.last == nil:
		x.New = append(x.New, "prompt")
	}
	if q.notes > ag.notes {
		x.New = append(x.New, "task")
	}
	ag.notes = q.notes
	if q.compact {
		x.New = append(x.New, "compact")
		// A runtime that got no summary asks again.
		if ag.last != nil && slices.Contains(ag.last.New, "compact") && ag.last.Ended != fixtures.EndedComplete {
			x.New = append(x.New, "retry")
		}
	}
	// A request that brings nothing new repeats the last one if that is not complete. The last
	// one may still run: a client may ask again before the server notices that it hung up.
	if len(x.New) == 0 && ag.last != nil {
		switch {
		case ag.last.Ended == fixtures.EndedComplete, ag.last.Ended == fixtures.EndedShort, ag.last.kept(q):
			x.New = append(x.New, "again")
		default:
			x.New = append(x.New, "retry")
		}
	}
	ag.last = x
	return x
}

// choose returns the line that answers a request.
func (s *script) choose(x *exchange) (*line, error) {
	ag := s.agents[x.Agent]
	if slices.Contains(x.New, "retry") && x.before.line != nil {
		failed := x.before.line
		for _, l := range ag.lines[failed.index+1:] {
			if !l.Retry {
				break
			}
			if !l.used {
				l.used = true
				return l, nil
			}
		}
		return failed, nil
	}
	for _, l := range ag.lines {
		if !l.used && l.On != "" && slices.Contains(x.New, l.On) {
			l.used = true
			return l, nil
		}
	}
	for _, l := range ag.lines {
		if !l.used && l.On == "" && !l.Retry {
			l.used = true
			return l, nil
		}
	}
	who := "the main agent"
	if x.Agent == searchSection {
		who = "`-- model search --`"
	} else if x.Agent != "" {
		who = fmt.Sprintf("the sub-agent %q", x.Agent)
	}
	return nil, fmt.Errorf("model: request %d of %s brings %v; no reply left; the scenario has %d", s.requestNumber(ag, x), who, x.New, len(ag.lines))
}

// requestNumber is the number of a request among those of its agent, from 1.
func (s *script) requestNumber(_ *agent, x *exchange) int {
	n := 1
	for b := x.before; b != nil; b = b.before {
		n++
	}
	return n
}
