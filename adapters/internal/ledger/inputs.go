package ledger

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
)

// InputStart announces that the model begins to write the input of a call. It does nothing
// if the session does not stream inputs, or if the call was announced, has started or ended.
func (s *Scope) InputStart(id, tool string) {
	if !s.l.StreamInputs || id == "" || slices.Contains(s.inputs, id) || s.ToolOpen(id) || s.finished.contains(id) {
		return
	}
	s.ThinkingDone()
	s.inputs = append(s.inputs, id)
	s.emit(event.ToolInput{ToolUseID: id, Tool: tool})
}

// Input emits a piece of the input of a call that InputStart announced.
func (s *Scope) Input(id, text string) {
	if text != "" && slices.Contains(s.inputs, id) {
		s.emit(event.ToolInput{ToolUseID: id, Text: text})
	}
}

// DropInputs drops the calls whose input has begun and that have not started: they do not
// start any more.
func (s *Scope) DropInputs() {
	for _, id := range s.inputs {
		s.emit(event.ToolInput{ToolUseID: id, Dropped: true})
	}
	s.inputs = nil
}
