package acp

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"strconv"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// ask is a session/request_permission that has no reply.
type ask struct {
	tool    string
	plan    bool // it is the plan that is to be approved
	options []acpsdk.PermissionOption
	answer  chan acpsdk.RequestPermissionOutcome
}

// asked tells a request for permission and waits for the answer.
func (x *session) asked(ctx context.Context, params stdjson.RawMessage) (any, *acpsdk.RequestError) {
	var r acpsdk.RequestPermissionRequest
	x.mu.Lock()
	if err := stdjson.Unmarshal(params, &r); err != nil {
		x.notice(event.NoticeUnknownMessage, "session/request_permission: "+err.Error(), params)
		x.mu.Unlock()
		x.gate.ack()
		return nil, acpsdk.NewInvalidParams(err.Error())
	}
	if x.cancelled && x.running {
		// A client that has cancelled says so to each request that still comes.
		x.mu.Unlock()
		x.gate.ack()
		return reply(cancelled()), nil
	}
	c := r.ToolCall
	// What the request says of a call that was told is an update to it; one that
	// was not told is none yet.
	t := x.tools[c.ToolCallId]
	if t != nil {
		x.call(&acpsdk.SessionToolCallUpdate{Kind: c.Kind, Locations: c.Locations, RawInput: c.RawInput, Title: c.Title, ToolCallId: c.ToolCallId}, false)
	} else {
		t = &tool{id: c.ToolCallId}
		t.take(&acpsdk.SessionToolCallUpdate{Kind: c.Kind, RawInput: c.RawInput, Title: c.Title})
	}
	in := t.raw
	if raw, ok := c.RawInput.(map[string]any); ok {
		if b, err := stdjson.Marshal(raw); err == nil {
			in = b
		}
	}
	if len(in) == 0 {
		in = event.Raw("{}")
		x.lacks["permission_request.tool_input"] = true
	}
	if !modelsOwn(string(t.id)) {
		x.lacks["permission_request.tool_use_id"] = true
	}
	x.nask++
	id := "p" + strconv.Itoa(x.nask)
	a := &ask{tool: t.title, options: r.Options, answer: make(chan acpsdk.RequestPermissionOutcome, 1)}
	if a.tool == "" {
		a.tool = string(t.kind)
	}
	a.plan = c.Kind != nil && *c.Kind == acpsdk.ToolKindSwitchMode || t.kind == acpsdk.ToolKindSwitchMode
	if a.plan {
		x.lacks["permission_request.tool_input"] = true // what stands in it is a plan
	}
	x.asks[id] = a
	var names []string
	for _, o := range r.Options {
		names = append(names, string(o.Kind))
	}
	x.emit(event.PermissionRequest{RequestID: id, ToolUseID: string(t.id), ToolName: a.tool, ToolInput: in, Options: names})
	x.mu.Unlock()
	x.gate.ack()
	select {
	case o := <-a.answer:
		return reply(o), nil
	case <-ctx.Done():
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.asks[id] == a {
			x.resolve(id, event.DecisionCancel, event.ByWithdrawn)
		}
		return reply(cancelled()), nil
	}
}

func reply(o acpsdk.RequestPermissionOutcome) acpsdk.RequestPermissionResponse {
	return acpsdk.RequestPermissionResponse{Outcome: o}
}

func cancelled() acpsdk.RequestPermissionOutcome {
	return acpsdk.RequestPermissionOutcome{Cancelled: &acpsdk.RequestPermissionOutcomeCancelled{Outcome: "cancelled"}}
}

// resolve tells what became of a question.
func (x *session) resolve(id string, d event.Decision, by event.By) {
	a := x.asks[id]
	delete(x.asks, id)
	x.emit(event.PermissionResolved{RequestID: id, ToolName: a.tool, Allowed: d == event.DecisionAllow, Decision: d, By: by})
}

// withdraw answers what is asked as the protocol wants it of a client that
// cancels.
func (x *session) withdraw() {
	for id, a := range x.asks {
		x.resolve(id, event.DecisionCancel, event.ByUser)
		a.answer <- cancelled()
	}
}

// Answer implements adapters.Session, with the choices that the agent offers:
// once allowed, once rejected.
func (x *session) Answer(_ context.Context, id string, a adapters.Answer) error {
	switch {
	case a.Value != nil:
		return fmt.Errorf("an answer in words: %w", conformance.ErrDeclaredUnsupported)
	case a.Input != nil:
		return fmt.Errorf("another input for the tool: %w", conformance.ErrDeclaredUnsupported)
	case a.Message != "":
		return fmt.Errorf("words for the model beside a decision: %w", conformance.ErrDeclaredUnsupported)
	case a.Scope != "":
		return fmt.Errorf("how long allow_always holds: %w", conformance.ErrDeclaredUnsupported)
	case a.Decision == event.DecisionCancel:
		return fmt.Errorf("a rejection that ends the turn: %w", conformance.ErrDeclaredUnsupported)
	}
	kind := acpsdk.PermissionOptionKindRejectOnce
	if a.Decision == event.DecisionAllow {
		kind = acpsdk.PermissionOptionKindAllowOnce
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	q := x.asks[id]
	if q == nil {
		return adapters.ErrUnknownID
	}
	if q.plan {
		return fmt.Errorf("a plan that is approved and no more: %w", conformance.ErrDeclaredUnsupported) // each choice is a mode too
	}
	for _, o := range q.options {
		if o.Kind == kind {
			x.resolve(id, a.Decision, event.ByUser)
			q.answer <- acpsdk.RequestPermissionOutcome{Selected: &acpsdk.RequestPermissionOutcomeSelected{Outcome: "selected", OptionId: o.OptionId}}
			return nil
		}
	}
	return fmt.Errorf("the agent offers no %s: %w", kind, conformance.ErrDeclaredUnsupported)
}
