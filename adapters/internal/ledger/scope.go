package ledger

import (
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
)

// Scope is a turn, or a sub-agent within one, and what is open in it.
type Scope struct {
	l            *Ledger
	turn         int
	sub          string
	count        int // blocks so far, for block ids
	blocks       []block
	thinking     *block
	lastThinking *block // the reasoning that was closed last
	tools        []tool
	unnamed      []string // calls that run and that the runtime does not name yet
	inputs       []string // calls whose input has begun and that have not started
	finished     recent   // tools of this scope that have a result
}

type block struct{ key, id string }

type tool struct {
	id   string
	task string // the id of its task, if it may outlast the turn
}

// Turn returns the number of the scope's turn.
func (s *Scope) Turn() int { return s.turn }

// Emit emits an event of this scope. An event of a tool is dropped if the tool is not open, or if
// the event states nothing.
func (s *Scope) Emit(d event.Data) {
	if id, ok := event.ToolID(d); ok && (!s.ToolOpen(id) || event.Blank(d)) {
		return
	}
	s.emit(d)
}

// emit emits an event whose place in the scope the caller has checked.
func (s *Scope) emit(d event.Data) {
	s.l.emitNext(event.Event{Data: d, Turn: s.turn, SubagentID: s.sub})
}

// nextBlock returns a new block id. It is unique within the session, and
// reading the same wire again gives the same ids.
func (s *Scope) nextBlock() string {
	s.count++
	id := fmt.Sprintf("%d.%d", s.turn, s.count)
	if s.sub != "" {
		return s.sub + "/" + id
	}
	return id
}

// Delta emits text of the block with the given wire key. It opens the block if
// needed, and closes open thinking.
func (s *Scope) Delta(key, messageID, text string) {
	if text == "" {
		return
	}
	s.ThinkingDone()
	s.emit(event.Delta{Text: text, MessageID: messageID, BlockID: s.openBlock(key)})
}

// openBlock returns the id of the block with the wire key, and opens the block
// if needed.
func (s *Scope) openBlock(key string) string {
	for _, b := range s.blocks {
		if b.key == key {
			return b.id
		}
	}
	b := block{key, s.nextBlock()}
	s.blocks = append(s.blocks, b)
	return b.id
}

// BlockOpen reports whether the block with the wire key is open.
func (s *Scope) BlockOpen(key string) bool {
	return slices.ContainsFunc(s.blocks, func(b block) bool { return b.key == key })
}

// OpenBlocks returns the wire keys of the open blocks, oldest first.
func (s *Scope) OpenBlocks() []string {
	var keys []string
	for _, b := range s.blocks {
		keys = append(keys, b.key)
	}
	return keys
}

// BlockEnd closes the block with the wire key. It reports whether the block was
// open.
func (s *Scope) BlockEnd(key string, status event.BlockStatus, text string) bool {
	i := slices.IndexFunc(s.blocks, func(b block) bool { return b.key == key })
	if i < 0 {
		return false
	}
	id := s.blocks[i].id
	s.blocks = slices.Delete(s.blocks, i, i+1)
	s.emit(event.BlockEnd{BlockID: id, Status: status, Text: text})
	return true
}

// Thinking emits reasoning of the block with the wire key. An empty text
// signals that reasoning has started.
func (s *Scope) Thinking(key, text string) {
	if s.thinking != nil && s.thinking.key != key {
		s.ThinkingDone()
	}
	if s.thinking == nil {
		s.thinking = &block{key, s.nextBlock()}
	}
	s.emit(event.Thinking{Text: text, BlockID: s.thinking.id})
}

// ThinkingOpen reports whether reasoning with this key is open.
func (s *Scope) ThinkingOpen(key string) bool { return s.thinking != nil && s.thinking.key == key }

// ThinkingDone closes open reasoning, if any.
func (s *Scope) ThinkingDone() {
	if s.thinking != nil {
		s.lastThinking, s.thinking = s.thinking, nil
		s.emit(event.Thinking{Done: true, BlockID: s.lastThinking.id})
	}
}

// ThinkingRetract retracts the newest reasoning if it has the wire key, whether
// it is closed or not. The model repeats it.
func (s *Scope) ThinkingRetract(key string) {
	if s.ThinkingOpen(key) {
		s.ThinkingDone()
	}
	if s.lastThinking != nil && s.lastThinking.key == key {
		s.emit(event.BlockEnd{BlockID: s.lastThinking.id, Status: event.BlockRetracted})
		s.lastThinking = nil
	}
}

// ToolStart announces a tool. If the tool was announced before, ToolStart emits
// nothing and returns false.
func (s *Scope) ToolStart(d event.ToolStart) bool {
	if s.ToolOpen(d.ToolUseID) || s.finished.contains(d.ToolUseID) {
		return false
	}
	s.ThinkingDone()
	s.dropUnnamed(d.ToolUseID)
	s.inputs = slices.DeleteFunc(s.inputs, func(id string) bool { return id == d.ToolUseID })
	s.tools = append(s.tools, tool{id: d.ToolUseID})
	s.emit(d)
	return true
}

// ToolOpen reports whether the tool has started and has no result.
func (s *Scope) ToolOpen(id string) bool { return s.toolIndex(id) >= 0 }

// ToolsOpen returns the number of tools without a result. Unnamed tools count.
func (s *Scope) ToolsOpen() int { return len(s.tools) + len(s.unnamed) }

// ToolUnnamed notes that a tool runs of which the runtime does not state yet what it does.
// ToolStart follows when the runtime states it. It emits nothing.
func (s *Scope) ToolUnnamed(id string) {
	if !s.ToolOpen(id) && !s.finished.contains(id) && !slices.Contains(s.unnamed, id) {
		s.unnamed = append(s.unnamed, id)
	}
}

func (s *Scope) dropUnnamed(id string) {
	s.unnamed = slices.DeleteFunc(s.unnamed, func(u string) bool { return u == id })
}

func (s *Scope) toolIndex(id string) int {
	return slices.IndexFunc(s.tools, func(t tool) bool { return t.id == id })
}

// ToolResult closes a tool. If the tool is not open (a second result, or one
// after the turn's end), it emits nothing and returns false.
func (s *Scope) ToolResult(d event.ToolResult) bool {
	i := s.toolIndex(d.ToolUseID)
	if i < 0 {
		s.l.media = nil
		return false
	}
	s.tools = append(s.tools[:i:i], s.tools[i+1:]...)
	s.finished.remember(d.ToolUseID, 0)
	s.l.handOver(d.Media)
	s.emit(d)
	return true
}

// Background marks an open tool as one that may outlast the turn. If it does,
// its result is backgrounded, and the task reports what follows.
func (s *Scope) Background(toolID, task string) {
	if i := s.toolIndex(toolID); i >= 0 {
		s.tools[i].task = task
	}
}

// Permission emits a permission request. It ignores a request whose id is
// already open.
func (s *Scope) Permission(d event.PermissionRequest) {
	if _, dup := s.l.Question(d.RequestID); dup {
		return
	}
	if d.ToolInput == nil {
		d.ToolInput = event.Raw("{}")
	}
	s.ThinkingDone()
	s.l.questions = append(s.l.questions, Question{ID: d.RequestID, ToolName: d.ToolName, scope: s})
	s.emit(d)
}

// Interrupt emits a question to the user that is not a permission.
func (s *Scope) Interrupt(d event.Interrupt) {
	if _, dup := s.l.Question(d.InterruptID); dup {
		return
	}
	s.ThinkingDone()
	s.l.questions = append(s.l.questions, Question{ID: d.InterruptID, Interrupt: true, scope: s})
	s.emit(d)
}

// closeAll closes thinking, text blocks, inputs, questions and tools that are open.
func (s *Scope) closeAll() {
	s.ThinkingDone()
	for len(s.blocks) > 0 {
		s.BlockEnd(s.blocks[0].key, event.BlockInterrupted, "")
	}
	s.DropInputs()
	for _, q := range slices.Clone(s.l.questions) {
		if q.scope == s {
			s.l.Resolve(q.ID, event.DecisionCancel, event.ByWithdrawn, nil)
		}
	}
	s.unnamed = nil
	for len(s.tools) > 0 {
		t := s.tools[0]
		d := event.ToolResult{ToolUseID: t.id, Status: event.ToolInterrupted, IsError: true}
		if t.task != "" {
			d.Status, d.IsError = event.ToolBackgrounded, false
		}
		s.ToolResult(d)
	}
}

// Subagent returns the id of the sub-agent, or "" for a turn.
func (s *Scope) Subagent() string { return s.sub }
