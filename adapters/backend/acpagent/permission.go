package acpagent

import (
	"bytes"
	"context"
	"io"
	"strconv"

	acpsdk "github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// The options of a permission request.
const (
	optionAllow  = "allow"
	optionReject = "reject"
)

// yesOrNo are the options of a request that is allowed or rejected.
func yesOrNo() []acpsdk.PermissionOption {
	return []acpsdk.PermissionOption{
		{OptionId: optionAllow, Name: "Allow", Kind: acpsdk.PermissionOptionKindAllowOnce},
		{OptionId: optionReject, Name: "Reject", Kind: acpsdk.PermissionOptionKindRejectOnce},
	}
}

// request is a request for a permission.
type request struct {
	id      string
	call    acpsdk.ToolCallUpdate
	options []acpsdk.PermissionOption
	// answerOf returns the answer to the runtime, of the option that the client selects; "" if it cancels.
	answerOf func(acpsdk.PermissionOptionId) adapters.Answer
}

// permissionRequest asks for the permission to run a tool.
func permissionRequest(d event.PermissionRequest, title string) *request {
	call := acpsdk.ToolCallUpdate{ToolCallId: acpsdk.ToolCallId(d.ToolUseID), Title: &title, RawInput: d.ToolInput}
	return &request{d.RequestID, call, yesOrNo(), func(option acpsdk.PermissionOptionId) adapters.Answer {
		switch option {
		case "":
			return adapters.Answer{Decision: event.DecisionCancel}
		case optionAllow:
			return adapters.Answer{Decision: event.DecisionAllow}
		}
		return adapters.Answer{Decision: event.DecisionDeny}
	}}
}

// question is a question with choices, as runtimes ask it.
type question struct {
	Question    string `json:"question"`
	MultiSelect bool   `json:"multiSelect"`
	Options     []struct {
		Label string `json:"label"`
	} `json:"options"`
}

// questionRequest asks the client to approve a plan, or to choose the answer of a question. Other questions
// can only be declined: the protocol has no place for the answer.
func questionRequest(d event.Interrupt) *request {
	call := acpsdk.ToolCallUpdate{ToolCallId: acpsdk.ToolCallId(d.InterruptID), RawInput: d.Props}
	if d.ComponentName == "ExitPlanMode" {
		title, kind := "Approve the plan", acpsdk.ToolKindSwitchMode
		call.Title, call.Kind = &title, &kind
		return &request{d.InterruptID, call, yesOrNo(), func(option acpsdk.PermissionOptionId) adapters.Answer {
			if option == optionAllow {
				return adapters.Answer{Value: jsontext.Value(`"allow"`)}
			}
			return adapters.Answer{Value: declined}
		}}
	}
	var props struct {
		Questions []question `json:"questions"`
	}
	_ = json.Unmarshal(d.Props, &props) // a form of another kind has no questions
	title, options := d.ComponentName, []acpsdk.PermissionOption{}
	if len(props.Questions) == 1 && !props.Questions[0].MultiSelect {
		title = props.Questions[0].Question
		for i, o := range props.Questions[0].Options {
			options = append(options, acpsdk.PermissionOption{OptionId: choice(i), Name: o.Label, Kind: acpsdk.PermissionOptionKindAllowOnce})
		}
	}
	call.Title = &title
	options = append(options, acpsdk.PermissionOption{OptionId: optionReject, Name: "Decline", Kind: acpsdk.PermissionOptionKindRejectOnce})
	return &request{d.InterruptID, call, options, func(option acpsdk.PermissionOptionId) adapters.Answer {
		for i, o := range options {
			if o.OptionId == option && option == choice(i) {
				if b, err := json.Marshal(map[string]string{title: o.Name}); err == nil {
					return adapters.Answer{Value: b}
				}
			}
		}
		return adapters.Answer{Value: declined}
	}}
}

// declined is the answer to a question that is not answered.
var declined = jsontext.Value(`"deny"`)

// choice returns the id of the option of a choice.
func choice(i int) acpsdk.PermissionOptionId {
	return acpsdk.PermissionOptionId("choice-" + strconv.Itoa(i+1))
}

// request sends a request for a permission, and answers the runtime.
func (s *session) request(r *request) {
	ctx, cancel := context.WithCancel(s.agent.ctx)
	s.mu.Lock()
	s.asked[r.id] = cancel
	s.mu.Unlock()
	s.agent.asking.Lock()
	defer s.agent.asking.Unlock()
	select {
	case <-s.agent.asked: // of a request whose goroutine ended first
	default:
	}
	gone := make(chan struct{})
	go func() {
		defer cancel()
		defer close(gone)
		answer, err := s.agent.conn.RequestPermission(ctx, acpsdk.RequestPermissionRequest{SessionId: s.id, ToolCall: r.call, Options: r.options})
		if ctx.Err() != nil {
			return // it is resolved
		}
		option := acpsdk.PermissionOptionId("") // also of a client that cannot answer
		if err == nil && answer.Outcome.Selected != nil {
			option = answer.Outcome.Selected.OptionId
		}
		_ = s.Answer(ctx, r.id, r.answerOf(option)) // a stop may have resolved it
	}()
	select {
	case <-s.agent.asked: // so that requests and updates are written in the order of the events
	case <-gone:
	}
}

// orderWriter reports each request for a permission, and each reply to a prompt, that is written.
type orderWriter struct {
	io.Writer
	asked, replied chan struct{}
}

func (w *orderWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if bytes.Contains(b, []byte(`"method":"`+acpsdk.ClientMethodSessionRequestPermission+`"`)) {
		notify(w.asked) // the input of a tool may look like a request
	}
	if isPromptReply(b) {
		notify(w.replied)
	}
	return n, err
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// isPromptReply reports whether a message is the reply to a prompt, or another error.
func isPromptReply(b []byte) bool {
	var m struct {
		Method *string        `json:"method"`
		Error  jsontext.Value `json:"error"`
		Result struct {
			StopReason string `json:"stopReason"`
		} `json:"result"`
	}
	if bytes.Contains(b, []byte(`"method":"`+acpsdk.ClientMethodSessionUpdate+`"`)) || json.Unmarshal(b, &m) != nil { // an update may be large
		return false
	}
	return m.Method == nil && (m.Error != nil || m.Result.StopReason != "")
}

// forgetRequest withdraws a request that was resolved without the client.
func (s *session) forgetRequest(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.asked[id]; cancel != nil {
		cancel()
		delete(s.asked, id)
	}
}
