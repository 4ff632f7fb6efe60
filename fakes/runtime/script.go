package runtime

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// script is a case made ready to be played.
type script struct {
	dialect dialect
	version string
	lines   []line
	// chosen are the UUIDs that the recording's client made up; all others were
	// minted by the runtime.
	chosen     map[string]bool
	background map[string]bool // tool calls whose sub-agent runs in the background
	processes  []process       // by number, from 1
}

// process is what a script knows of one of its processes.
type process struct {
	spawn   []string
	session string // the id of its session, or of its thread
	exit    int    // the index of its exit line, or -1
}

// line is a line of the script.
type line struct {
	w       *fixtures.WireLine
	act     act    // of in
	parts   []part // of out and err: more than one where lines are glued
	claimed *Written
	by      act // of claimed
}

// part is one line of the runtime.
type part struct {
	b     []byte
	said  said
	reply int // the index of the request that it replies to, or -1
	slots []slot
}

// slot is a span of a line that a play may rewrite.
type slot struct {
	span
	kind slotKind
	key  string   // what was recorded
	ids  []string // of slotNames
}

type slotKind int

const (
	slotUUID  slotKind = iota
	slotPlace          // <work>, <home> and their slugs
	slotID             // the id of the client's request
	slotChose          // a message id as a JSON string; null when the client chose none
	slotNames          // a member that lists message ids; left out when the client chose none
)

var places = []string{"<work>", "<work:slug>", "<home>", "<home:slug>"}

func dialectOf(runtime string) (dialect, error) {
	switch runtime {
	case "codex":
		return codexDialect{}, nil
	case "claude":
		return claudeDialect{}, nil
	}
	return nil, fmt.Errorf("no stand-in for runtime %q, want codex or claude", runtime)
}

// compile reads the lines of a case. The lines are the case's own or harmed.
func compile(c *fixtures.Case, wire []fixtures.WireLine) (*script, error) {
	d, err := dialectOf(c.Runtime)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	s := &script{dialect: d, version: c.Version, chosen: map[string]bool{}, background: map[string]bool{}, processes: make([]process, 1)}
	minted := map[string]bool{}
	var names []string // message ids that are no UUIDs
	for i := range wire {
		w := &wire[i]
		l := line{w: w}
		for len(s.processes) <= w.Process {
			s.processes = append(s.processes, process{exit: -1})
		}
		p := &s.processes[w.Process]
		switch w.Dir {
		case fixtures.Spawn:
			p.spawn = w.Argv
			for _, a := range w.Argv {
				s.meet([]byte(a), minted, true)
			}
		case fixtures.In:
			l.act = d.act(w.Bytes)
			s.meet(w.Bytes, minted, true)
			if id := l.act.chose; id != "" && !uuidAt([]byte(id), 0) && !slices.Contains(names, id) {
				names = append(names, id)
			}
		case fixtures.EOF:
			l.act = act{kind: KindClose}
		case fixtures.Out:
			for b := range bytes.SplitSeq(w.Bytes, []byte("\n")) {
				s.meet(b, minted, false)
				pt := s.part(b, len(s.lines), w.Process)
				s.learn(p, &pt)
				l.parts = append(l.parts, pt)
			}
		case fixtures.Err:
			l.parts = []part{{b: w.Bytes, reply: -1, slots: placeSlots(w.Bytes)}}
		case fixtures.Exit:
			p.exit = i
		}
		s.lines = append(s.lines, l)
	}
	s.settle()
	for i := range s.lines {
		for k := range s.lines[i].parts {
			if s.lines[i].w.Dir == fixtures.Out {
				s.slots(&s.lines[i].parts[k], names)
			}
		}
	}
	return s, nil
}

// meet notes who made up a UUID: the side that said it first.
func (s *script) meet(b []byte, minted map[string]bool, client bool) {
	for _, u := range uuids(b) {
		id := string(b[u.from:u.to])
		switch {
		case minted[id] || s.chosen[id]:
		case client:
			s.chosen[id] = true
		default:
			minted[id] = true
		}
	}
}

// part reads one line of the runtime, the at-th of the script.
func (s *script) part(b []byte, at, process int) part {
	p := part{b: b, said: s.dialect.said(b), reply: -1}
	if p.said.reply == nil {
		return p
	}
	for i := at - 1; i >= 0; i-- {
		l := &s.lines[i]
		if l.w.Process == process && l.w.Dir == fixtures.In && bytes.Equal(l.act.id, p.said.reply) {
			if p.reply = i; l.act.kind == KindAnswer {
				p.reply, p.said.label = -1, replayed // an echo of the client's own reply
			}
			break
		}
	}
	return p
}

// learn keeps what later lines are judged by.
func (s *script) learn(p *process, pt *part) {
	var f struct {
		Type         string `json:"type"`
		Subtype      string `json:"subtype"`
		SessionID    string `json:"session_id"`
		ToolUseID    string `json:"tool_use_id"`
		Backgrounded bool   `json:"is_backgrounded"`
		Result       struct {
			Thread struct {
				ID string `json:"id"`
			} `json:"thread"`
		} `json:"result"`
	}
	if decode(pt.b, &f) != nil {
		return
	}
	if f.Subtype == "task_started" && f.Backgrounded {
		s.background[f.ToolUseID] = true
	}
	id := f.SessionID
	if pt.reply >= 0 && s.lines[pt.reply].act.kind == KindOpen {
		id = f.Result.Thread.ID
	}
	if p.session == "" {
		p.session = id
	}
}

// settle moves a codex client's turn/start behind lines that it did not cause.
// The recording's client did not wait for what follows the reply to its
// thread/start; another one may, and all that a turn/start causes comes after
// its reply.
func (s *script) settle() {
	if _, codex := s.dialect.(codexDialect); !codex {
		return
	}
	for i := 0; i < len(s.lines); i++ {
		if l := &s.lines[i]; l.w.Dir != fixtures.In || l.act.kind != KindSend {
			continue
		}
		end := i + 1
		for end < len(s.lines) && s.lines[end].causeless(i) {
			end++
		}
		if end == i+1 || end == len(s.lines) || !s.lines[end].repliesTo(i) {
			continue
		}
		moved := s.lines[i]
		copy(s.lines[i:], s.lines[i+1:end])
		s.lines[end-1] = moved
		s.renumber(i, end)
		i = end - 1
	}
}

// renumber mends the references to lines from..to, of which the first has
// become the last.
func (s *script) renumber(from, to int) {
	for i := range s.lines {
		for k := range s.lines[i].parts {
			switch r := &s.lines[i].parts[k].reply; {
			case *r == from:
				*r = to - 1
			case *r > from && *r < to:
				*r--
			}
		}
	}
}

func (l *line) repliesTo(i int) bool {
	return slices.ContainsFunc(l.parts, func(p part) bool { return p.reply == i })
}

func (l *line) causeless(i int) bool {
	return (l.w.Dir == fixtures.Out || l.w.Dir == fixtures.Err) && !l.repliesTo(i)
}

// slots finds what a play may rewrite in a line.
func (s *script) slots(p *part, names []string) {
	if p.reply >= 0 {
		if at, ok := member(p.b, s.dialect.idMember()...); ok {
			p.slots = append(p.slots, slot{span: at, kind: slotID})
		}
	}
	for _, name := range []string{"user_message_uuid", "user_message_uuids"} {
		if at, ids, ok := wholeMember(p.b, name); ok && len(ids) > 0 {
			p.slots = append(p.slots, slot{span: at, kind: slotNames, key: name, ids: ids})
		}
	}
	// Within a string the quotes would be escaped: this is a member.
	for _, name := range names {
		token, _ := jsontext.AppendQuote(nil, name)
		s.each(p, append([]byte(`"clientId":`), token...), func(at span) slot {
			return slot{span: span{at.to - len(token), at.to}, kind: slotChose, key: name}
		})
	}
	for _, u := range uuids(p.b) {
		p.slots = append(p.slots, slot{span: u, kind: slotUUID, key: string(p.b[u.from:u.to])})
	}
	p.slots = append(p.slots, placeSlots(p.b)...)
	slices.SortStableFunc(p.slots, func(a, b slot) int { return a.from - b.from })
	end := 0
	p.slots = slices.DeleteFunc(p.slots, func(x slot) bool {
		if x.from < end {
			return true // inside another one
		}
		end = x.to
		return false
	})
}

func (s *script) each(p *part, what []byte, slotOf func(span) slot) {
	for from := 0; ; {
		i := bytes.Index(p.b[from:], what)
		if i < 0 {
			return
		}
		p.slots = append(p.slots, slotOf(span{from + i, from + i + len(what)}))
		from += i + len(what)
	}
}

func placeSlots(b []byte) []slot {
	var p part
	p.b = b
	if bytes.IndexByte(b, '<') < 0 {
		return nil
	}
	for _, place := range places {
		(*script)(nil).each(&p, []byte(place), func(at span) slot { return slot{span: at, kind: slotPlace, key: place} })
	}
	slices.SortFunc(p.slots, func(a, b slot) int { return a.from - b.from })
	return p.slots
}

// wholeMember finds a top-level member with its name and the comma before it
// (after it, when it is the first), and the strings that it holds.
func wholeMember(b []byte, name string) (at span, ids []string, ok bool) {
	if !bytes.Contains(b, []byte(`"`+name+`":`)) {
		return at, nil, false
	}
	v, ok := memberOf(b, name)
	if !ok {
		return at, nil, false
	}
	from := bytes.LastIndex(b[:v.from], []byte(`"`+name+`"`))
	if from < 1 {
		return at, nil, false
	}
	at = span{from, v.to}
	switch {
	case b[from-1] == ',':
		at.from--
	case v.to < len(b) && b[v.to] == ',':
		at.to++
	}
	if decode(b[v.from:v.to], &ids) != nil {
		var one string
		if decode(b[v.from:v.to], &one) != nil {
			return at, nil, false
		}
		ids = []string{one}
	}
	return at, ids, true
}
