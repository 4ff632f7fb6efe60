package replay

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// display holds the items that a chat shows, by the ids of the events, and compares
// them with an account of the events.
type display struct {
	a        *account
	problems []string
	texts    map[ref]string
	parts    map[ref]int // number of text blocks
	thoughts map[ref]string
	calls    map[ref]*replay.Block
	asks     map[askRef]*replay.Block
	agents   map[string]*replay.Block
	under    map[string]*replay.Block // the block that holds an agent's block, or nil
	asides   map[string][]string
	plans    map[string][]event.PlanStep
}

func (s *display) failf(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// same reports a problem if a value of the chat differs from that of the events.
func same[T any](s *display, what string, want, got T) {
	if !reflect.DeepEqual(want, got) {
		s.failf("%s is %v, the events give %v", what, runindex.Clip(fmt.Sprint(got)), runindex.Clip(fmt.Sprint(want)))
	}
}

// unfaithful returns the differences between a chat and the events, and the number
// of items that it compared.
func (a *account) unfaithful(c *replay.Chat, events []event.Event) (problems []string, looked int) {
	s := &display{
		a: a, texts: map[ref]string{}, parts: map[ref]int{}, thoughts: map[ref]string{}, calls: map[ref]*replay.Block{}, asks: map[askRef]*replay.Block{},
		agents: map[string]*replay.Block{}, under: map[string]*replay.Block{}, asides: map[string][]string{}, plans: map[string][]event.PlanStep{},
	}
	for i := range c.Messages {
		if m := &c.Messages[i]; m.Role != replay.RoleUser {
			t := a.turns[m.Turn]
			s.blocks(m, m.Blocks, "", nil, t != nil && t.over)
		}
	}
	s.head(c)
	s.messages(c, events)
	s.words("text", a.texts, s.texts)
	s.words("thinking", a.thoughts, s.thoughts)
	s.cards()
	same(s, "the notices and checkpoints", a.asides, s.asides)
	same(s, "the plans", a.plans, s.plans)
	return s.problems, len(a.texts) + len(a.thoughts) + len(a.calls) + len(a.asks) + len(a.agents) + len(a.users) + len(a.turns)
}

func (s *display) blocks(m *replay.Message, blocks []replay.Block, agent string, in *replay.Block, over bool) {
	at := 0
	for i := range blocks {
		b := &blocks[i]
		k := ref{agent, b.ID}
		index := 0
		own := agent
		switch b.Kind {
		case replay.KindText:
			s.texts[k] += b.Text
			s.parts[k]++
			index = s.saying(m, b, k, s.a.texts[k])
		case replay.KindThinking:
			s.thoughts[k] += b.Text
			index = s.saying(m, b, k, s.a.thoughts[k])
		case replay.KindTool:
			s.calls[k] = b
			if c := s.a.calls[k]; c != nil && !c.again {
				index = c.index
			}
		case replay.KindSubagent:
			s.agents[b.ID], s.under[b.ID], own = b, in, b.ID
		case replay.KindPermission, replay.KindInterrupt:
			s.asks[askRef{b.Kind, b.ID}] = b
			if q := s.a.asks[askRef{b.Kind, b.ID}]; q != nil && !q.again {
				index = q.index
			}
		case replay.KindPlan:
			s.plans[agent] = append([]event.PlanStep{}, b.Steps...)
		case replay.KindNotice:
			s.asides[agent] = append(s.asides[agent], string(b.Notice.Level)+" "+string(b.Notice.Code)+" "+b.Text)
		case replay.KindCheckpoint:
			s.asides[agent] = append(s.asides[agent], b.ID+" "+string(b.Status))
		}
		if index > 0 && index < at {
			s.failf("the %s %q is placed after an item that began later", b.Kind, b.ID)
		}
		at = max(at, index)
		running := b.Status == replay.Running
		if t := s.a.turns[m.Turn]; running && over && (s.a.ended && (t == nil || t.over) || !s.beside(m, b, in)) {
			s.failf("the %s %q is running, but its turn or sub-agent has ended", b.Kind, b.ID)
		}
		if (running || b.Status == replay.Pending) && !b.End.IsZero() {
			s.failf("the %s %q is not finished, but has an end time", b.Kind, b.ID)
		}
		ended := over
		if b.Kind == replay.KindSubagent {
			ended = !running
		}
		s.blocks(m, b.Blocks, own, b, ended)
	}
}

// beside reports whether a block is a sub-agent that may run after its turn has ended:
// it outlives the turn, its call runs in the background, or it began later.
func (s *display) beside(m *replay.Message, b, in *replay.Block) bool {
	if b.Kind != replay.KindSubagent {
		return false
	}
	t := s.a.turns[m.Turn]
	return s.a.outlives(b.ID) || in != nil && in.Status == replay.Backgrounded || t != nil && !b.Start.Before(t.end)
}

func (s *display) saying(m *replay.Message, b *replay.Block, k ref, x *saying) int {
	if x == nil || x.again || b.ID == "" {
		return 0
	}
	what := string(b.Kind) + " " + b.ID
	want := x.status
	if t := s.a.turns[x.turn]; want == "" && k.agent == "" && t != nil {
		switch {
		case !t.over:
			want = replay.Running
		case t.status == replay.Complete:
			want = replay.Complete
		default:
			want = replay.Interrupted
		}
	}
	if want != "" {
		same(s, "the status of "+what, want, b.Status)
	}
	same(s, "the start of "+what, x.at.UTC().Round(0), b.Start)
	if k.agent == "" && m.Turn != x.turn {
		s.failf("%s of turn %d is in a message of turn %d", what, x.turn, m.Turn)
	}
	return x.index
}

func (s *display) words(what string, want map[ref]*saying, got map[ref]string) {
	results := ref{} // the text of a result, shown in a turn that has no other text
	for k, x := range want {
		if s.a.vague && k == results {
			continue
		}
		if x.gone {
			if got[k] != "" && !x.again {
				s.failf("%s %q of agent %q was retracted, but the chat shows it", what, k.id, k.agent)
			}
			continue
		}
		if n := s.parts[k]; what == "text" && k.id == "" && !x.again && n != x.parts {
			s.failf("text of agent %q has %d paragraphs, want %d", k.agent, n, x.parts)
		}
		if got[k] != x.text {
			s.failf("%s %q of agent %q is %q, the events give %q", what, k.id, k.agent, runindex.Clip(got[k]), runindex.Clip(x.text))
		}
	}
	for k := range got {
		if want[k] == nil && (!s.a.vague || k != results) {
			s.failf("%s %q of agent %q is in the chat, but in no event", what, k.id, k.agent)
		}
	}
}

var toolStatus = map[event.ToolStatus]replay.Status{
	event.ToolOK: replay.OK, event.ToolError: replay.Failed, event.ToolDenied: replay.Denied,
	event.ToolInterrupted: replay.Interrupted, event.ToolBackgrounded: replay.Backgrounded,
}

func (s *display) cards() {
	for k, c := range s.a.calls {
		b := s.calls[k]
		if b == nil {
			s.failf("the chat does not show the call %q of agent %q", k.id, k.agent)
			continue
		}
		if !c.again {
			s.call("the call "+k.id, k, c, b)
		}
	}
	for k, q := range s.a.asks {
		if b := s.asks[k]; b == nil {
			s.failf("the chat does not show the %s %q", k.kind, k.id)
		} else {
			same(s, fmt.Sprintf("the status of %s %s", k.kind, k.id), q.status, b.Status)
		}
	}
	for id, w := range s.a.agents {
		b := s.agents[id]
		if b == nil {
			s.failf("the chat does not show the agent %q", id)
			continue
		}
		if w.again {
			continue
		}
		if w.tasked || w.status == replay.Failed {
			same(s, "the status of agent "+id, w.status, b.Status)
		}
		same(s, "the text of agent "+id, w.text, b.Text)
		if w.usage != nil {
			same(s, "the usage of agent "+id, w.usage, b.Subagent.Usage)
		}
		s.nested(id, w)
	}
}

func (s *display) call(what string, k ref, c *call, b *replay.Block) {
	t := b.Tool
	same(s, "the name of "+what, c.start.Tool, t.Name)
	same(s, "the arguments of "+what, []string{c.start.Command, c.path, c.start.Pattern, c.start.SearchPath, c.start.Query, c.start.URL, c.start.SubagentName},
		[]string{t.Command, t.FilePath, t.Pattern, t.SearchPath, t.Query, t.URL, t.Subagent})
	same(s, "the flags of "+what, []bool{c.start.IsFileRead || c.result.IsFileRead, c.start.Background, c.start.SubagentSpawn}, []bool{t.IsFileRead, t.Background, t.Spawn})
	if in := string(c.start.Input); in != "null" {
		same(s, "the input of "+what, runindex.Canonical(c.start.Input), runindex.Canonical(t.Input))
	}
	same(s, "the start of "+what, c.at.UTC().Round(0), b.Start)
	if k.agent == "" || c.result.Output != "" {
		same(s, "the output of "+what, c.output, t.Output)
	}
	if c.results > 0 {
		same(s, "the status of "+what, toolStatus[c.result.Status], b.Status)
		same(s, "the error flag of "+what, c.result.IsError, t.IsError)
		same(s, "the exit code of "+what, c.result.ExitCode, t.ExitCode)
		same(s, "whether the output was cut of "+what, c.result.Truncated, t.Truncated)
		if len(c.result.Media)+len(t.Media) > 0 {
			same(s, "the media of "+what, c.result.Media, t.Media)
		}
		if len(c.result.Changes)+len(t.Changes) > 0 {
			same(s, "the changes of "+what, c.result.Changes, t.Changes)
		}
		if c.results == 1 {
			same(s, "the end of "+what, c.end.UTC().Round(0), b.End)
		}
		return
	}
	if turn := s.a.turns[c.turn]; k.agent == "" && turn != nil {
		want := replay.Running
		if turn.over {
			want = replay.Interrupted
		}
		same(s, "the status of "+what, want, b.Status)
	}
}

// nested demands that an agent is below the call that spawned it, if the call is known.
func (s *display) nested(id string, w *worker) {
	for _, agent := range []string{w.parent, ""} {
		k := ref{agent, cmp.Or(w.tool, id)}
		if c := s.a.calls[k]; c != nil && (w.tool != "" || c.start.SubagentSpawn) {
			if in := s.under[id]; in == nil || in.Kind != replay.KindTool || in.ID != k.id {
				s.failf("the agent %q is not below the call %q", id, k.id)
			}
			same(s, "the name of agent "+id, cmp.Or(w.name, c.start.SubagentName), s.agents[id].Subagent.Name)
			return
		}
	}
}

func (s *display) head(c *replay.Chat) {
	a := s.a
	same(s, "the status", a.status(), c.Status)
	same(s, "the activity", a.activity(), c.Activity)
	same(s, "the queue", strings.Join(a.head.Queue, " "), strings.Join(c.Queue, " "))
	h := a.head
	same(s, "the head of the chat", []string{h.Runtime, h.Model, h.Mode, h.Cwd, h.EndReason}, []string{c.Runtime, c.Model, c.Mode, c.Cwd, c.EndReason})
	same(s, "the exit code", h.ExitCode, c.ExitCode)
	same(s, "the usage", h.Usage, c.Usage)
	if len(a.tasks)+len(c.Tasks) > 0 {
		same(s, "the tasks", a.tasks, c.Tasks)
	}
}

func (s *display) messages(c *replay.Chat, events []event.Event) {
	var users []*replay.Message
	last := map[int]*replay.Message{}
	number := 0
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Number <= number {
			s.failf("message %d follows message %d", m.Number, number)
		}
		number = m.Number
		if n := int(m.Seq) - 1; n >= 0 && n < len(events) && events[n].Seq == m.Seq {
			same(s, fmt.Sprintf("the start of message %d", number), events[n].TS.UTC().Round(0), m.Start)
		}
		if m.Role != replay.RoleUser && len(m.Blocks) == 0 && (m.Status == replay.Running || m.Status == replay.Complete) {
			s.failf("message %d is empty", number)
		}
		switch m.Role {
		case replay.RoleUser:
			users = append(users, m)
		case replay.RoleAssistant:
			if before := last[m.Turn]; before != nil {
				same(s, fmt.Sprintf("the status of message %d", before.Number), replay.Complete, before.Status)
			}
			last[m.Turn] = m
		}
	}
	same(s, "the number of user messages", len(s.a.users), len(users))
	for i, m := range users[:min(len(users), len(s.a.users))] {
		d, _ := s.a.users[i].Data.(event.UserMessage)
		same(s, "a user message", []any{d.MessageID, d.Via, s.a.users[i].Turn, len(d.Attachments)}, []any{m.ID, m.Via, m.Turn, len(m.Attachments)})
		if strings.TrimSpace(d.Text) != "" {
			same(s, "a user message", d.Text, m.Text())
		}
	}
	for n, t := range s.a.turns {
		s.turn(n, t, last[n], users)
	}
}

func (s *display) turn(n int, t *span, m *replay.Message, users []*replay.Message) {
	what := fmt.Sprintf("turn %d", n)
	switch {
	case m == nil:
		if t.over && t.status != replay.Complete {
			s.failf("%s is %s, but no message shows it", what, t.status)
		}
		return
	case !t.over:
		if m.Status != replay.Running && !slices.ContainsFunc(users, func(u *replay.Message) bool { return u.Turn == n && u.Number > m.Number }) {
			s.failf("%s is running, but its message is %s", what, m.Status)
		}
		return
	}
	same(s, "the status of "+what, t.status, m.Status)
	same(s, "the reason of "+what, t.reason, m.Reason)
	if t.fault == nil {
		if m.Error != nil {
			s.failf("%s shows the error %s, but no event reports one", what, m.Error.Code)
		}
	} else if m.Error == nil || m.Error.Code != t.fault.Code || m.Error.Message != t.fault.Message {
		s.failf("%s ended in %s: %s, but shows %v", what, t.fault.Code, t.fault.Message, m.Error)
	}
	if t.status != replay.Complete {
		same(s, "the end of "+what, t.end.UTC().Round(0), m.End)
	}
	if g := m.Figures; g != nil {
		same(s, "the figures of "+what, []any{t.start.UTC().Round(0), t.end.UTC().Round(0), t.tokens, t.stats}, []any{g.Start, g.End, g.Tokens, event.Stats{DurationMS: g.DurationMS, Rounds: g.Rounds}})
	} else if int(m.Seq) <= t.last && len(m.Blocks) > 0 {
		s.failf("%s has ended, but shows no figures", what)
	}
}
