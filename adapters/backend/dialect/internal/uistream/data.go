package uistream

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// data returns a part of the type data-NAME, with the sub-agent of the event.
func data[T any](name, id string, e event.Event, v T) Chunk {
	return Chunk{Type: "data-" + name, ID: id, Data: dialect.Marshal(scoped[T]{v, e.SubagentID})}
}

type scoped[T any] struct {
	Data       T      `json:",embed"`
	SubagentID string `json:"subagent_id,omitempty"`
}

// permission is the data of data-permission.
type permission struct {
	Request  event.PermissionRequest   `json:"request"`
	Resolved *event.PermissionResolved `json:"resolved,omitzero"`

	asked bool // there was a tool-approval-request, without an answer
}

// question is the data of data-question.
type question struct {
	Interrupt event.Interrupt          `json:"interrupt"`
	Resolved  *event.InterruptResolved `json:"resolved,omitzero"`
}

// removed is the data of a component that was removed.
type removed struct {
	ComponentID string `json:"component_id"`
	Removed     bool   `json:"removed"`
}

func (u *turn) request(e event.Event, d event.PermissionRequest, approvals bool) []Chunk {
	p := &permission{Request: d}
	u.requests[d.RequestID] = p
	var out []Chunk
	if approvals && e.SubagentID == "" && d.ToolUseID != "" {
		if t := u.tools[d.ToolUseID]; t == nil {
			out = u.startTool(d.ToolUseID, d.ToolName, d.ToolInput)
		}
		if t := u.tools[d.ToolUseID]; !t.ended {
			p.asked = true
			t.requests = append(t.requests, p)
			out = append(out, Chunk{Type: "tool-approval-request", ToolCallID: d.ToolUseID, ApprovalID: d.RequestID, Reason: d.Reason})
		}
	}
	return append(out, data("permission", d.RequestID, e, *p))
}

func (u *turn) resolve(e event.Event, d event.PermissionResolved) []Chunk {
	p := u.requests[d.RequestID]
	if p == nil {
		p = &permission{Request: event.PermissionRequest{RequestID: d.RequestID, ToolName: d.ToolName, ToolInput: event.Raw("null")}}
		u.requests[d.RequestID] = p
	}
	if p.Resolved != nil {
		return nil
	}
	p.Resolved = &d
	out := []Chunk{data("permission", d.RequestID, e, *p)}
	t := u.tools[p.Request.ToolUseID]
	if !p.asked {
		return out
	}
	return append(out, t.respond(p, d.Allowed))
}

// respond answers a tool-approval-request.
func (t *tool) respond(p *permission, allowed bool) Chunk {
	p.asked, t.denied = false, !allowed
	return Chunk{Type: "tool-approval-response", ApprovalID: p.Request.RequestID, Approved: &allowed}
}

func (u *turn) interruptChunks(e event.Event, d event.Interrupt) []Chunk {
	q := &question{Interrupt: d}
	u.questions[d.InterruptID] = q
	return []Chunk{data("question", d.InterruptID, e, *q)}
}

func (u *turn) answer(e event.Event, d event.InterruptResolved) []Chunk {
	q := u.questions[d.InterruptID]
	if q == nil {
		q = &question{Interrupt: event.Interrupt{InterruptID: d.InterruptID, Props: event.Raw("null")}}
		u.questions[d.InterruptID] = q
	}
	q.Resolved = &d
	return []Chunk{data("question", d.InterruptID, e, *q)}
}

func (t *Translator) mergeComponent(d event.ComponentUpdate) {
	if t.components == nil {
		t.components = map[string]event.ComponentUpdate{}
	}
	if old, ok := t.components[d.ComponentID]; ok && d.Merge {
		d.Props = replay.MergeProps(old.Props, d.Props)
	}
	d.Merge = false
	t.components[d.ComponentID] = d
}

// aside translates what is neither text nor a tool. An event without a case is data-NAME with the
// name of its type; its id is its key.
func (u *turn) aside(e event.Event) []Chunk {
	switch d := e.Data.(type) {
	case event.SessionReady:
		return nil // a stream is a turn
	case event.UserMessage:
		if d.Via == event.ViaTurn {
			return nil // the client that sent it shows it
		}
	case event.Plan:
		id := "plan"
		if e.SubagentID != "" {
			id += "/" + e.SubagentID
		}
		return []Chunk{data("plan", id, e, d)}
	case event.Compaction:
		if d.Phase == event.PhaseStart || u.compactions == 0 {
			u.compactions++
		}
		return []Chunk{data("compaction", fmt.Sprintf("compaction-%d", u.compactions), e, d)}
	case event.Checkpoint:
		return []Chunk{data("checkpoint", "", e, d)} // each is a separate fact
	}
	c := Chunk{Type: "data-" + strings.ReplaceAll(string(e.Type()), "_", "-"), ID: e.Data.EventKey(), Data: withAgent(e)}
	c.Transient = event.RowOf(e.Type()).Transient
	return []Chunk{c}
}

// withAgent returns the data of an event, with its sub-agent.
func withAgent(e event.Event) event.Raw {
	b := dialect.Marshal(e.Data)
	if e.SubagentID == "" {
		return b
	}
	agent := dialect.Marshal(struct {
		SubagentID string `json:"subagent_id"`
	}{e.SubagentID})
	if len(b) == len("{}") {
		return agent
	}
	return append(append(b[:len(b)-1], ','), agent[1:]...)
}
