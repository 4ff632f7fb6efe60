package acpagent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// session is a session of the client.
type session struct {
	adapters.Session
	agent *agent
	id    acpsdk.SessionId
	named chan struct{} // closed when id is set
	ready chan string   // receives the runtime's id
	ended chan struct{} // closed after the last event

	mu       sync.Mutex
	messages int
	turn     *turn
	mode     string                        // the id of the mode that the client knows of
	titles   map[string]string             // of calls
	asked    map[string]context.CancelFunc // requests that the client has not answered
}

// turn is a prompt that has no reply.
type turn struct {
	message string // the id of the prompt's message
	number  int    // of the turn that has the message; 0 until it begins
	usage   *acpsdk.Usage
	reply   chan reply
}

type reply struct {
	response acpsdk.PromptResponse
	err      error
}

// promptText returns the text of a prompt.
func promptText(blocks []acpsdk.ContentBlock) (string, error) {
	var out []string
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			out = append(out, b.Text.Text)
		case b.ResourceLink != nil:
			out = append(out, b.ResourceLink.Uri)
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			out = append(out, r.Uri+":\n"+r.Text)
		default:
			return "", errors.New("a prompt is text and links")
		}
	}
	return strings.Join(out, "\n"), nil
}

// prompt sends a message and waits for the end of its turn.
func (s *session) prompt(ctx context.Context, text string) (acpsdk.PromptResponse, error) {
	s.mu.Lock()
	if s.turn != nil {
		s.mu.Unlock()
		return acpsdk.PromptResponse{}, acpsdk.NewInvalidRequest(map[string]any{"error": "a prompt has no reply yet"})
	}
	s.messages++
	id := "m" + strconv.Itoa(s.messages)
	t := &turn{message: id, reply: make(chan reply, 1)}
	s.turn = t
	s.mu.Unlock()
	if err := s.Send(ctx, adapters.Message{ID: id, Text: text}); err != nil {
		s.fail(reply{err: acpsdk.NewInternalError(map[string]any{"error": err.Error()})})
	}
	select {
	case r := <-t.reply:
		return r.response, r.err
	case <-s.ended:
	}
	select {
	case r := <-t.reply:
		return r.response, r.err
	default:
		return acpsdk.PromptResponse{}, acpsdk.NewInternalError(map[string]any{"error": "the session has ended"})
	}
}

// beginTurn notes the turn that has the message of the prompt. The runtime may have begun another
// one by itself before it.
func (s *session) beginTurn(number int, messages ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil && slices.Contains(messages, s.turn.message) {
		s.turn.number = number
	}
}

// fail replies to a prompt whose message was not sent.
func (s *session) fail(r reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		s.turn.reply <- r
		s.turn = nil
	}
}

// endTurn replies to the prompt of a turn. It returns when the reply is written, because the client would
// take the updates of a turn that the runtime begins after it for updates of this one.
func (s *session) endTurn(number int, r reply) {
	a := s.agent
	a.replying.Lock()
	defer a.replying.Unlock()
	select {
	case <-a.replied: // another error
	default:
	}
	s.mu.Lock()
	if s.turn == nil || s.turn.number != number {
		s.mu.Unlock()
		return // the runtime began the turn
	}
	r.response.Usage = s.turn.usage
	s.turn.reply <- r
	s.turn = nil
	s.mu.Unlock()
	select {
	case <-a.replied:
	case <-a.conn.Done():
	case <-a.ctx.Done():
	}
}

// close ends the session, and returns when all its events were sent.
func (s *session) close(ctx context.Context) error {
	err := s.Close(ctx)
	<-s.ended
	return err
}

// follow sends updates for the events of the session.
func (s *session) follow() {
	defer close(s.ended)
	for e := range s.Events() {
		if d, is := e.Data.(event.SessionReady); is {
			select {
			case s.ready <- d.ProviderSessionID:
			default: // it was named before
			}
			continue
		}
		<-s.named
		s.handle(e)
	}
}

func (s *session) handle(e event.Event) {
	switch d := e.Data.(type) {
	case event.PermissionRequest:
		s.ask(d)
		return
	case event.PermissionResolved:
		s.forget(d.RequestID)
		return
	case event.Interrupt:
		s.decide(d)
		return
	case event.InterruptResolved:
		s.forget(d.InterruptID)
		return
	}
	if e.SubagentID != "" {
		return
	}
	switch d := e.Data.(type) {
	case event.TurnStart:
		s.beginTurn(e.Turn, d.MessageIDs...)
	case event.UserMessage:
		s.beginTurn(e.Turn, d.MessageID)
	case event.Delta:
		s.update(acpsdk.UpdateAgentMessageText(d.Text))
	case event.Thinking:
		if d.Text != "" {
			s.update(acpsdk.UpdateAgentThoughtText(d.Text))
		}
	case event.ToolStart:
		s.mu.Lock()
		s.titles[d.ToolUseID] = titleOf(d)
		s.mu.Unlock()
		s.update(startOf(d))
	case event.ToolResult:
		s.update(resultOf(d))
	case event.Plan:
		s.update(planOf(d))
	case event.ModeChanged:
		s.changeMode(d.Value)
	case event.Usage:
		s.count(e.Turn, d)
	case event.Done:
		r := acpsdk.PromptResponse{StopReason: acpsdk.StopReasonEndTurn}
		if d.Stopped {
			r.StopReason = acpsdk.StopReasonCancelled
		}
		s.endTurn(e.Turn, reply{response: r})
	case event.Error:
		data := map[string]any{"code": string(d.Code), "error": d.Message}
		if d.Code == event.ErrorAuth {
			s.endTurn(e.Turn, reply{err: acpsdk.NewAuthRequired(data)})
			return
		}
		s.endTurn(e.Turn, reply{err: acpsdk.NewInternalError(data)})
	}
}

// update sends an update. The client may have left, which ends the session.
func (s *session) update(u acpsdk.SessionUpdate) {
	_ = s.agent.conn.SessionUpdate(s.agent.ctx, acpsdk.SessionNotification{SessionId: s.id, Update: u})
}

// changeMode reports a mode that the client did not choose: the reply to
// session/set_mode has told it of another one.
func (s *session) changeMode(value string) {
	id := modeID(value)
	s.mu.Lock()
	known := s.mode == id
	s.mode = id
	s.mu.Unlock()
	if !known && id != "" {
		s.update(acpsdk.SessionUpdate{CurrentModeUpdate: &acpsdk.SessionCurrentModeUpdate{CurrentModeId: acpsdk.SessionModeId(id), SessionUpdate: "current_mode_update"}})
	}
}

// count keeps the usage of the turn for the reply.
func (s *session) count(number int, d event.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == nil || s.turn.number != number || d.Scope != event.ScopeTurn {
		return
	}
	cached, reasoning := int(d.Tokens.Cached), int(d.Tokens.Reasoning)
	s.turn.usage = &acpsdk.Usage{
		InputTokens: int(d.Tokens.Input), OutputTokens: int(d.Tokens.Output), TotalTokens: int(d.Tokens.Total), CachedReadTokens: &cached, ThoughtTokens: &reasoning,
	}
}

// kindOf returns the kind of a call.
func kindOf(d event.ToolStart) acpsdk.ToolKind {
	switch {
	case d.Command != "":
		return acpsdk.ToolKindExecute
	case d.IsFileRead:
		return acpsdk.ToolKindRead
	case d.Pattern != "" || d.Query != "":
		return acpsdk.ToolKindSearch
	case d.URL != "":
		return acpsdk.ToolKindFetch
	case d.FilePath != "":
		return acpsdk.ToolKindEdit
	}
	return acpsdk.ToolKindOther
}

// titleOf returns what the client shows of a call.
func titleOf(d event.ToolStart) string {
	return strings.TrimSpace(cmp.Or(d.Command, d.Tool+" "+cmp.Or(d.FilePath, d.Pattern, d.Query, d.URL, d.SubagentName)))
}

func startOf(d event.ToolStart) acpsdk.SessionUpdate {
	options := []acpsdk.ToolCallStartOpt{acpsdk.WithStartKind(kindOf(d)), acpsdk.WithStartStatus(acpsdk.ToolCallStatusInProgress)}
	if d.Input != nil {
		options = append(options, acpsdk.WithStartRawInput(d.Input))
	}
	if d.FilePath != "" {
		options = append(options, acpsdk.WithStartLocations([]acpsdk.ToolCallLocation{{Path: d.FilePath}}))
	}
	return acpsdk.StartToolCall(acpsdk.ToolCallId(d.ToolUseID), titleOf(d), options...)
}

func resultOf(d event.ToolResult) acpsdk.SessionUpdate {
	status := acpsdk.ToolCallStatusCompleted
	if d.Status != event.ToolOK && d.Status != event.ToolBackgrounded {
		status = acpsdk.ToolCallStatusFailed
	}
	return acpsdk.UpdateToolCall(acpsdk.ToolCallId(d.ToolUseID), acpsdk.WithUpdateStatus(status), acpsdk.WithUpdateRawOutput(d.Output),
		acpsdk.WithUpdateContent([]acpsdk.ToolCallContent{acpsdk.ToolContent(acpsdk.TextBlock(d.Output))}))
}

func planOf(d event.Plan) acpsdk.SessionUpdate {
	entries := []acpsdk.PlanEntry{}
	for _, step := range d.Steps {
		entries = append(entries, acpsdk.PlanEntry{Content: step.Text, Priority: acpsdk.PlanEntryPriorityMedium, Status: acpsdk.PlanEntryStatus(step.Status)})
	}
	return acpsdk.UpdatePlan(entries...)
}
