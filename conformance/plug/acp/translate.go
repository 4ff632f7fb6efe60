package acp

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strconv"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters/event"
)

// translator is what has been told of the turns so far. It is guarded by the
// session's lock.
type translator struct {
	turn      int
	running   bool // a prompt has no reply
	cancelled bool // and was cancelled
	turnOver  chan struct{}

	blocks  int
	block   string // the open block of text, or ""
	message string // whose it is, where the agent says so
	thought string // the open block of thinking, or ""

	tools map[acpsdk.ToolCallId]*tool
	order []acpsdk.ToolCallId
}

// update takes a session/update.
func (x *session) update(params stdjson.RawMessage) {
	var head struct {
		SessionID acpsdk.SessionId `json:"sessionId"`
		Update    struct {
			Kind string `json:"sessionUpdate"`
		} `json:"update"`
	}
	if err := stdjson.Unmarshal(params, &head); err != nil {
		x.notice(event.NoticeUnknownMessage, "session/update: "+err.Error(), params)
		return
	}
	if x.loading {
		return
	}
	switch head.Update.Kind {
	case "available_commands_update", "config_option_update", "session_info_update":
		return // what a client may offer, and how it may call the session: nothing that happened
	case "user_message_chunk":
		return // what the client has said is known here
	}
	var n acpsdk.SessionNotification
	err := stdjson.Unmarshal(params, &n)
	if err == nil && x.id != "" && n.SessionId != x.id {
		err = fmt.Errorf("of session %s, which is not open", n.SessionId)
	}
	if err == nil {
		err = x.take(&n.Update)
	}
	if err != nil {
		x.notice(event.NoticeUnknownMessage, "session/update: "+err.Error(), params)
	}
}

var errNoWord = errors.New("there is no event for it")

func (x *session) take(u *acpsdk.SessionUpdate) error {
	switch {
	case u.AgentMessageChunk != nil:
		c := u.AgentMessageChunk
		if c.Content.Text == nil {
			return errNoWord
		}
		x.text(c.Content.Text.Text, c.MessageId)
	case u.AgentThoughtChunk != nil:
		c := u.AgentThoughtChunk
		if c.Content.Text == nil {
			return errNoWord
		}
		x.think(c.Content.Text.Text)
	case u.ToolCall != nil:
		c := u.ToolCall
		x.call(&acpsdk.SessionToolCallUpdate{
			Meta: c.Meta, Content: c.Content, Kind: &c.Kind, Locations: c.Locations, RawInput: c.RawInput, RawOutput: c.RawOutput,
			Status: &c.Status, Title: &c.Title, ToolCallId: c.ToolCallId,
		}, true)
	case u.ToolCallUpdate != nil:
		x.call(u.ToolCallUpdate, false)
	case u.Plan != nil:
		d := event.Plan{Steps: []event.PlanStep{}}
		for _, e := range u.Plan.Entries {
			d.Steps = append(d.Steps, event.PlanStep{Text: e.Content, Status: event.StepStatus(e.Status)})
		}
		x.emit(d)
	case u.CurrentModeUpdate != nil:
		x.emit(event.ModeChanged{Value: string(u.CurrentModeUpdate.CurrentModeId)})
	case u.UsageUpdate != nil:
		d := event.Usage{Context: &event.Context{Used: int64(u.UsageUpdate.Used), Window: int64(u.UsageUpdate.Size)}}
		if c := u.UsageUpdate.Cost; c != nil {
			d.Cost = &c.Amount
		}
		x.emit(d)
	default:
		return errNoWord
	}
	return nil
}

// text is a piece of what the agent says. It belongs to the open block, unless
// the agent says that it is of another message.
func (x *session) text(text string, message *string) {
	x.endThought()
	of := ""
	if message != nil {
		of = *message
	}
	if x.block != "" && of != x.message {
		x.endBlock(event.BlockComplete)
	}
	if x.block == "" {
		x.block, x.message = x.nextBlock(), of
	}
	if of == "" {
		of = x.block
	}
	x.emit(event.Delta{Text: text, MessageID: of, BlockID: x.block})
}

func (x *session) think(text string) {
	x.endBlock(event.BlockComplete)
	if x.thought == "" {
		x.thought = x.nextBlock()
	}
	x.emit(event.Thinking{Text: text, BlockID: x.thought})
}

func (x *session) nextBlock() string {
	x.blocks++
	return strconv.Itoa(x.turn) + "." + strconv.Itoa(x.blocks) // a session that is opened again begins anew to count
}

func (x *session) endBlock(s event.BlockStatus) {
	if x.block != "" {
		x.emit(event.BlockEnd{BlockID: x.block, Status: s})
		x.block = ""
	}
}

func (x *session) endThought() {
	if x.thought != "" {
		x.emit(event.Thinking{Done: true, BlockID: x.thought})
		x.thought = ""
	}
}

// replied takes the reply to a prompt, which ends the turn.
func (x *session) replied(r acpsdk.PromptResponse, err error) {
	stopped := err == nil && r.StopReason == acpsdk.StopReasonCancelled
	how := event.BlockComplete
	if stopped || err != nil {
		how = event.BlockInterrupted
	}
	x.closeTurn(how, stopped || err != nil || x.cancelled)
	if u := r.Usage; u != nil {
		d := event.Usage{Tokens: event.Tokens{Input: int64(u.InputTokens), Output: int64(u.OutputTokens), Total: int64(u.TotalTokens)}}
		if u.CachedReadTokens != nil {
			d.Tokens.Cached = int64(*u.CachedReadTokens)
		}
		if u.ThoughtTokens != nil {
			d.Tokens.Reasoning = int64(*u.ThoughtTokens)
		}
		x.emit(d)
	}
	x.running = false
	switch {
	case err != nil:
		x.emit(event.Error{Code: event.ErrorUnknown, Message: said(err)})
	case stopped:
		x.emit(event.Done{Stopped: true, Reason: string(r.StopReason)})
	default:
		x.emit(event.Done{Reason: string(r.StopReason)})
	}
}

// closeTurn closes what is open at the end of a turn. Calls that have no end are
// a client's to close only where the turn was broken off: else the agent owes
// their end.
func (x *session) closeTurn(how event.BlockStatus, broken bool) {
	x.endThought()
	x.endBlock(how)
	for _, id := range x.order {
		t := x.tools[id]
		if t.ended {
			continue
		}
		x.start(t)
		if broken {
			x.end(t, event.ToolInterrupted)
		}
	}
}
