package acp

import (
	"cmp"
	stdjson "encoding/json"
	"errors"
	"fmt"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters/event"
)

// translator is the state of the translation of the agent's updates. It is guarded
// by Mu.
type translator struct {
	cancelled bool          // the running turn was
	turnEnded chan struct{} // closed when the running turn has ended
	message   string        // the id of the message of the open block, if the agent sent one
	thought   string        // the open block of thinking, or ""

	tools map[acpsdk.ToolCallId]*tool
	order []acpsdk.ToolCallId
}

// handleUpdate handles a session/update.
func (x *session) handleUpdate(params stdjson.RawMessage) {
	var head struct {
		Update struct {
			Kind string `json:"sessionUpdate"`
		} `json:"update"`
	}
	if err := stdjson.Unmarshal(params, &head); err != nil {
		x.emitNotice(event.NoticeUnknownMessage, "session/update: "+err.Error(), params)
		return
	}
	if x.loading {
		return
	}
	switch head.Update.Kind {
	case "available_commands_update", "config_option_update", "session_info_update":
		return // a client may show these as choices or as the title
	case "user_message_chunk":
		return // BeginTurn has emitted it
	}
	var n acpsdk.SessionNotification
	err := stdjson.Unmarshal(params, &n)
	if err == nil && x.id != "" && n.SessionId != x.id {
		err = fmt.Errorf("of session %s, which is not open", n.SessionId)
	}
	if err == nil {
		err = x.translate(&n.Update)
	}
	if err != nil {
		x.emitNotice(event.NoticeUnknownMessage, "session/update: "+err.Error(), params)
	}
}

var errNoEvent = errors.New("there is no event for it")

func (x *session) translate(u *acpsdk.SessionUpdate) error {
	switch {
	case u.AgentMessageChunk != nil:
		c := u.AgentMessageChunk
		if c.Content.Text == nil {
			return errNoEvent
		}
		x.addText(c.Content.Text.Text, c.MessageId)
	case u.AgentThoughtChunk != nil:
		c := u.AgentThoughtChunk
		if c.Content.Text == nil {
			return errNoEvent
		}
		x.addThought(c.Content.Text.Text)
	case u.ToolCall != nil:
		c := u.ToolCall
		x.updateTool(&acpsdk.SessionToolCallUpdate{
			Meta: c.Meta, Content: c.Content, Kind: &c.Kind, Locations: c.Locations, RawInput: c.RawInput, RawOutput: c.RawOutput,
			Status: &c.Status, Title: &c.Title, ToolCallId: c.ToolCallId,
		}, true)
	case u.ToolCallUpdate != nil:
		x.updateTool(u.ToolCallUpdate, false)
	case u.Plan != nil:
		d := event.Plan{Steps: []event.PlanStep{}}
		for _, e := range u.Plan.Entries {
			d.Steps = append(d.Steps, event.PlanStep{Text: e.Content, Status: event.StepStatus(e.Status)})
		}
		x.Emit(d)
	case u.CurrentModeUpdate != nil:
		x.Emit(event.ModeChanged{Value: string(u.CurrentModeUpdate.CurrentModeId)})
	case u.UsageUpdate != nil:
		d := event.Usage{Context: &event.Context{Used: int64(u.UsageUpdate.Used), Window: int64(u.UsageUpdate.Size)}}
		if c := u.UsageUpdate.Cost; c != nil {
			d.Cost = &c.Amount
		}
		x.Emit(d)
	default:
		return errNoEvent
	}
	return nil
}

// addText emits a piece of text. It belongs to the open block, unless the agent sent
// the id of another message with it.
func (x *session) addText(text string, message *string) {
	x.endThought()
	of := ""
	if message != nil {
		of = *message
	}
	if x.Block != "" && of != x.message {
		x.EndBlock(event.BlockComplete)
	}
	if x.Block == "" {
		x.Block, x.message = x.NextBlock(), of
	}
	x.Emit(event.Delta{Text: text, MessageID: cmp.Or(of, x.Block), BlockID: x.Block})
}

func (x *session) addThought(text string) {
	x.EndBlock(event.BlockComplete)
	if x.thought == "" {
		x.thought = x.NextBlock()
	}
	x.Emit(event.Thinking{Text: text, BlockID: x.thought})
}

func (x *session) endThought() {
	if x.thought != "" {
		x.Emit(event.Thinking{Done: true, BlockID: x.thought})
		x.thought = ""
	}
}

// endTurn ends the turn with the reply to its prompt.
func (x *session) endTurn(r acpsdk.PromptResponse, err error) {
	stopped := err == nil && r.StopReason == acpsdk.StopReasonCancelled
	status := event.BlockComplete
	if stopped || err != nil {
		status = event.BlockInterrupted
	}
	x.closeTurn(status, stopped || err != nil || x.cancelled)
	if u := r.Usage; u != nil {
		d := event.Usage{Tokens: event.Tokens{Input: int64(u.InputTokens), Output: int64(u.OutputTokens), Total: int64(u.TotalTokens)}}
		if u.CachedReadTokens != nil {
			d.Tokens.Cached = int64(*u.CachedReadTokens)
		}
		if u.ThoughtTokens != nil {
			d.Tokens.Reasoning = int64(*u.ThoughtTokens)
		}
		x.Emit(d)
	}
	x.Running = false
	switch {
	case err != nil:
		x.Emit(event.Error{Code: event.ErrorUnknown, Message: errorText(err)})
	case stopped:
		x.Emit(event.Done{Stopped: true})
	default:
		x.Emit(event.Done{})
	}
}

// closeTurn ends the open blocks and starts the calls that have no tool_start yet.
// The client ends open calls only if the turn was broken off: otherwise the agent
// has to end them.
func (x *session) closeTurn(status event.BlockStatus, broken bool) {
	x.endThought()
	x.EndBlock(status)
	for _, id := range x.order {
		t := x.tools[id]
		if t.ended {
			continue
		}
		x.startTool(t)
		if broken {
			x.endTool(t, event.ToolInterrupted)
		}
	}
}
