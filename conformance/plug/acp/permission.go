package acp

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"strconv"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug"
)

// request is a session/request_permission that has no reply.
type request struct {
	tool    string
	plan    bool // it asks to approve a plan
	options []acpsdk.PermissionOption
	answer  chan acpsdk.RequestPermissionOutcome
}

// handleRequest emits a permission request and waits for its answer.
func (x *session) handleRequest(ctx context.Context, params stdjson.RawMessage) (any, *acpsdk.RequestError) {
	id, q, err := x.openRequest(params)
	x.gate.ack()
	switch {
	case err != nil:
		return nil, acpsdk.NewInvalidParams(err.Error())
	case q == nil:
		return outcome(cancelled()), nil
	}
	select {
	case o := <-q.answer:
		return outcome(o), nil
	case <-ctx.Done():
		x.Mu.Lock()
		defer x.Mu.Unlock()
		if x.requests[id] == q {
			x.resolve(id, event.DecisionCancel, event.ByWithdrawn)
		}
		return outcome(cancelled()), nil
	}
}

// openRequest parses and emits a permission request. It returns nil for a request
// that arrives after the turn was cancelled: a client answers it with cancelled.
func (x *session) openRequest(params stdjson.RawMessage) (string, *request, error) {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	var r acpsdk.RequestPermissionRequest
	if err := stdjson.Unmarshal(params, &r); err != nil {
		x.emitNotice(event.NoticeUnknownMessage, "session/request_permission: "+err.Error(), params)
		return "", nil, err
	}
	if x.cancelled && x.Running {
		return "", nil, nil
	}
	c := r.ToolCall
	// The call in the request updates a call that the agent has sent before. If it
	// has not, the request does not begin one.
	t := x.tools[c.ToolCallId]
	if t != nil {
		x.updateTool(&acpsdk.SessionToolCallUpdate{Kind: c.Kind, Locations: c.Locations, RawInput: c.RawInput, Title: c.Title, ToolCallId: c.ToolCallId}, false)
	} else {
		t = &tool{id: c.ToolCallId}
		t.merge(&acpsdk.SessionToolCallUpdate{Kind: c.Kind, RawInput: c.RawInput, Title: c.Title})
	}
	in := t.raw
	if raw, ok := c.RawInput.(map[string]any); ok {
		if b, err := stdjson.Marshal(raw); err == nil {
			in = b
		}
	}
	isPlan := c.Kind != nil && *c.Kind == acpsdk.ToolKindSwitchMode || t.kind == acpsdk.ToolKindSwitchMode
	if len(in) == 0 {
		in = event.Raw("{}")
		x.MarkUnsupported("permission_request.tool_input")
	}
	if isPlan { // then the input holds the plan to approve
		x.MarkUnsupported("permission_request.tool_input")
	}
	if !isModelID(string(t.id)) {
		x.MarkUnsupported("permission_request.tool_use_id")
	}
	x.lastRequest++
	id := "p" + strconv.Itoa(x.lastRequest)
	q := &request{tool: cmp.Or(t.title, string(t.kind)), plan: isPlan, options: r.Options, answer: make(chan acpsdk.RequestPermissionOutcome, 1)}
	x.requests[id] = q
	var names []string
	for _, o := range r.Options {
		names = append(names, string(o.Kind))
	}
	x.Emit(event.PermissionRequest{RequestID: id, ToolUseID: string(t.id), ToolName: q.tool, ToolInput: in, Options: names})
	return id, q, nil
}

func outcome(o acpsdk.RequestPermissionOutcome) acpsdk.RequestPermissionResponse {
	return acpsdk.RequestPermissionResponse{Outcome: o}
}

func cancelled() acpsdk.RequestPermissionOutcome {
	return acpsdk.RequestPermissionOutcome{Cancelled: &acpsdk.RequestPermissionOutcomeCancelled{Outcome: "cancelled"}}
}

// resolve emits the decision about a request.
func (x *session) resolve(id string, d event.Decision, by event.By) {
	q := x.requests[id]
	delete(x.requests, id)
	x.Emit(event.PermissionResolved{RequestID: id, ToolName: q.tool, Allowed: d == event.DecisionAllow, Decision: d, By: by})
}

// cancelRequests answers the open requests with cancelled, as ACP requires of a
// client that cancels.
func (x *session) cancelRequests() {
	for id, q := range x.requests {
		x.resolve(id, event.DecisionCancel, event.ByUser)
		q.answer <- cancelled()
	}
}

// Answer implements adapters.Session with the options allow_once and reject_once
// of the agent.
func (x *session) Answer(_ context.Context, id string, a adapters.Answer) error {
	switch {
	case a.Value != nil:
		return plug.Unsupported("an answer in words")
	case a.Input != nil:
		return plug.Unsupported("another input for the tool")
	case a.Message != "":
		return plug.Unsupported("a message to the model with a decision")
	case a.Scope != "":
		return plug.Unsupported("how long allow_always holds")
	case a.Decision == event.DecisionCancel:
		return plug.Unsupported("a rejection that ends the turn")
	}
	kind := acpsdk.PermissionOptionKindRejectOnce
	if a.Decision == event.DecisionAllow {
		kind = acpsdk.PermissionOptionKindAllowOnce
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	q := x.requests[id]
	if q == nil {
		return adapters.ErrUnknownID
	}
	if q.plan {
		return plug.Unsupported("the approval of a plan without a change of mode") // each option also sets a mode
	}
	for _, o := range q.options {
		if o.Kind == kind {
			x.resolve(id, a.Decision, event.ByUser)
			q.answer <- acpsdk.RequestPermissionOutcome{Selected: &acpsdk.RequestPermissionOutcomeSelected{Outcome: "selected", OptionId: o.OptionId}}
			return nil
		}
	}
	return plug.Unsupported("the agent offers no " + string(kind))
}
