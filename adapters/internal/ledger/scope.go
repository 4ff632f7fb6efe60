package ledger

import (
	"fmt"

	"github.com/turnspec/turnspec/adapters/event"
)

// Scope is where events belong: a turn, or a sub-agent within one. It knows
// what is open there.
type Scope struct {
	l        *Ledger
	turn     int
	sub      string
	count    int // blocks so far, for their ids
	blocks   []block
	thinking *block
	thought  *block // the reasoning that was closed last
	tools    []tool
	closed   recent // tools of this scope that have their result
}

type block struct{ key, id string }

type tool struct {
	id         string
	background string // the task that carries its life on, if it may outlast the turn
}

func newScope(l *Ledger, turn int, sub string) *Scope {
	return &Scope{l: l, turn: turn, sub: sub}
}

// Turn is the number of the scope's turn.
func (s *Scope) Turn() int { return s.turn }

// Emit emits an event of this scope.
func (s *Scope) Emit(d event.Data) {
	s.l.put(event.Event{Data: d, Turn: s.turn, SubagentID: s.sub})
}

// nextBlock makes a block id: unique within the session, and the same each
// time the same wire is read.
func (s *Scope) nextBlock() string {
	s.count++
	id := fmt.Sprintf("%d.%d", s.turn, s.count)
	if s.sub != "" {
		return s.sub + "/" + id
	}
	return id
}

// Delta emits a piece of text of the block that the wire calls key. It opens
// the block when needed and closes thinking that was open.
func (s *Scope) Delta(key, messageID, text string) {
	if text == "" {
		return
	}
	s.ThinkingDone()
	s.Emit(event.Delta{Text: text, MessageID: messageID, BlockID: s.open(key)})
}

// open returns the id of the open block with the wire's key, making it.
func (s *Scope) open(key string) string {
	for _, b := range s.blocks {
		if b.key == key {
			return b.id
		}
	}
	b := block{key, s.nextBlock()}
	s.blocks = append(s.blocks, b)
	return b.id
}

// BlockOpen reports whether text of the block with this key was emitted and
// not closed.
func (s *Scope) BlockOpen(key string) bool {
	for _, b := range s.blocks {
		if b.key == key {
			return true
		}
	}
	return false
}

// OpenBlocks are the wire's keys of the open blocks, oldest first.
func (s *Scope) OpenBlocks() []string {
	var keys []string
	for _, b := range s.blocks {
		keys = append(keys, b.key)
	}
	return keys
}

// BlockEnd closes the block with the wire's key. It reports whether it was open.
func (s *Scope) BlockEnd(key string, status event.BlockStatus, text string) bool {
	for i, b := range s.blocks {
		if b.key == key {
			s.blocks = append(s.blocks[:i:i], s.blocks[i+1:]...)
			s.Emit(event.BlockEnd{BlockID: b.id, Status: status, Text: text})
			return true
		}
	}
	return false
}

// Thinking emits a piece of reasoning of the block with the wire's key. An
// empty one says that reasoning has begun.
func (s *Scope) Thinking(key, text string) {
	if s.thinking != nil && s.thinking.key != key {
		s.ThinkingDone()
	}
	if s.thinking == nil {
		s.thinking = &block{key, s.nextBlock()}
	}
	s.Emit(event.Thinking{Text: text, BlockID: s.thinking.id})
}

// ThinkingOpen reports whether reasoning with this key is open.
func (s *Scope) ThinkingOpen(key string) bool { return s.thinking != nil && s.thinking.key == key }

// ThinkingDone closes open reasoning, if any.
func (s *Scope) ThinkingDone() {
	if s.thinking != nil {
		s.thought, s.thinking = s.thinking, nil
		s.Emit(event.Thinking{Done: true, BlockID: s.thought.id})
	}
}

// ThinkingRetract takes back the newest reasoning, if it has the wire's key:
// closed or not, it will be said again.
func (s *Scope) ThinkingRetract(key string) {
	if s.ThinkingOpen(key) {
		s.ThinkingDone()
	}
	if s.thought != nil && s.thought.key == key {
		s.Emit(event.BlockEnd{BlockID: s.thought.id, Status: event.BlockRetracted})
		s.thought = nil
	}
}

// ToolStart announces a tool. It reports false, and emits nothing, when the
// tool was announced before.
func (s *Scope) ToolStart(d event.ToolStart) bool {
	if s.ToolOpen(d.ToolUseID) || s.closed.has(d.ToolUseID) {
		return false
	}
	s.ThinkingDone()
	s.tools = append(s.tools, tool{id: d.ToolUseID})
	s.Emit(d)
	return true
}

// ToolOpen reports whether the tool has started and has no result.
func (s *Scope) ToolOpen(id string) bool { return s.find(id) >= 0 }

// ToolsOpen counts the tools that have no result.
func (s *Scope) ToolsOpen() int { return len(s.tools) }

func (s *Scope) find(id string) int {
	for i, t := range s.tools {
		if t.id == id {
			return i
		}
	}
	return -1
}

// ToolOutput emits a piece of a running tool's output.
func (s *Scope) ToolOutput(id, text string) {
	if text != "" && s.ToolOpen(id) {
		s.Emit(event.ToolOutput{ToolUseID: id, Text: text})
	}
}

// ToolResult closes a tool. It reports false, and emits nothing, when the tool
// is not open: its result came twice, or after the turn's end.
func (s *Scope) ToolResult(d event.ToolResult) bool {
	i := s.find(d.ToolUseID)
	if i < 0 {
		return false
	}
	s.tools = append(s.tools[:i:i], s.tools[i+1:]...)
	s.closed.put(d.ToolUseID, 0)
	s.Emit(d)
	return true
}

// Background says that an open tool may outlast the turn: if it does, its
// result is backgrounded and the task carries its life on.
func (s *Scope) Background(toolID, task string) {
	if i := s.find(toolID); i >= 0 {
		s.tools[i].background = task
	}
}

// Permission asks the user. A question with an id that is open is not repeated.
func (s *Scope) Permission(d event.PermissionRequest) {
	if _, dup := s.l.Asked(d.RequestID); dup {
		return
	}
	if d.ToolInput == nil {
		d.ToolInput = event.Raw("{}")
	}
	s.ThinkingDone()
	s.l.asks = append(s.l.asks, Ask{ID: d.RequestID, ToolName: d.ToolName, scope: s})
	s.Emit(d)
}

// Interrupt asks the user a question that is not a permission.
func (s *Scope) Interrupt(d event.Interrupt) {
	if _, dup := s.l.Asked(d.InterruptID); dup {
		return
	}
	s.ThinkingDone()
	s.l.asks = append(s.l.asks, Ask{ID: d.InterruptID, Interrupt: true, scope: s})
	s.Emit(d)
}

// close closes everything that is open: thinking, text, questions, tools.
func (s *Scope) close() {
	s.ThinkingDone()
	for len(s.blocks) > 0 {
		s.BlockEnd(s.blocks[0].key, event.BlockInterrupted, "")
	}
	for _, a := range append([]Ask(nil), s.l.asks...) {
		if a.scope == s {
			s.l.Resolve(a.ID, event.DecisionCancel, event.ByWithdrawn, nil)
		}
	}
	for len(s.tools) > 0 {
		t := s.tools[0]
		d := event.ToolResult{ToolUseID: t.id, Status: event.ToolInterrupted, IsError: true}
		if t.background != "" {
			d.Status, d.IsError = event.ToolBackgrounded, false
		}
		s.ToolResult(d)
	}
}

// Subagent is the sub-agent that the scope is of, or "".
func (s *Scope) Subagent() string { return s.sub }
