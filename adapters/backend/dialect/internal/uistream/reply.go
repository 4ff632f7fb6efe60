package uistream

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// Reply makes the stream with which a server answers a request of DefaultChatTransport of ai 7:
// the chunks of a turn, up to its end, or up to the first permission request that waits for an
// answer, or the first question of the runtime. The client then sends the answer in another request, and
// another Reply goes on.
//
// The stream differs from that of a Translator, because a client has no code for Turnspec's data:
//
//   - A turn has steps. If text is retracted or replaced, or a call is dropped, reset-step drops
//     the parts of the step, and those that stay follow again.
//   - Each permission request is a tool-approval-request, those of sub-agents too. useChat sends
//     answers when each tool of the last step has an output or an answer. So a request is on the
//     part of its tool only if no other tool of the step is without; otherwise it has a step and a
//     separate part, which ends when it is answered.
//   - Each question is a call of a dynamic tool with the name of its component, in a step of its own. Its id
//     begins with question/. The client gives its output. All other tools are providerExecuted: the client
//     neither runs them nor sends a message because they have outputs.
//
// It is not safe for concurrent use.
type Reply struct {
	message   string               // the id of the message whose turn the stream is; "" takes each turn
	answered  func(id string) bool // reports whether a permission request was answered already
	t         Translator
	ours      bool
	messageID string
	parts     []Chunk // of the step, in order
	inStep    bool    // start-step has no finish-step
	stepEnds  bool    // the next part begins a step
	steps     int
	stepOf    map[string]int    // of each tool
	separate  map[string]string // the tools of requests and questions with parts of their own; "" once ended
	failure   string            // the last error of the session
}

// NewReply returns a Reply with the turn that a message begins; "" if the turn runs. Answered reports
// whether a permission request was answered already.
func NewReply(message string, answered func(id string) bool) *Reply {
	return &Reply{message: message, answered: answered}
}

// approvalPart returns the id of the part of a request that has a separate part.
func approvalPart(request string) string { return "permission/" + request }

// ofQuestion is what the id of the part of a question begins with.
const ofQuestion = "question/"

// Skip takes an event that the client has received with an earlier stream.
func (r *Reply) Skip(e event.Event) { r.chunks(e) }

// Begin returns the first chunks, if the turn began with skipped events.
func (r *Reply) Begin() []Chunk {
	if !r.ours || r.t.turn == nil {
		return nil
	}
	r.post(r.t.turn.endPart("")) // as the earlier stream ended
	r.inStep = false
	return []Chunk{{Type: "start", MessageID: r.messageID}}
}

// Translate returns the chunks that an event becomes. The one that Ends is the last of the stream.
func (r *Reply) Translate(e event.Event) []Chunk {
	out := r.chunks(e)
	id := ""
	switch d := e.Data.(type) {
	case event.PermissionRequest:
		id = d.RequestID
	case event.Interrupt:
		id = d.InterruptID
	}
	if id == "" || r.t.turn == nil || !r.ours || r.answered(id) {
		return out
	}
	out = append(out, r.post(r.t.turn.endPart(""))...)
	return append(out, r.endStep(Chunk{Type: "finish", FinishReason: "tool-calls"})...)
}

func (r *Reply) chunks(e event.Event) []Chunk {
	switch d := e.Data.(type) {
	case event.SessionReady:
		r.failure = ""
	case event.TurnStart:
		if e.SubagentID == "" {
			r.beginTurn(d)
		}
	case event.Error:
		if e.Turn == 0 {
			r.failure = cmp.Or(d.Message, string(d.Code))
		}
	case event.SessionEnd:
		if r.t.turn == nil || !r.ours {
			r.t.Translate(e)
			text := cmp.Or(r.failure, "the session ended")
			return []Chunk{{Type: "start"}, {Type: "error", ErrorText: text}, {Type: "finish", FinishReason: "error"}}
		}
	}
	separate := r.ours && r.isSeparate(e)
	r.t.Approvals = !separate
	out := r.t.Translate(e)
	if !r.ours {
		return nil
	}
	out = r.post(out)
	switch d := e.Data.(type) {
	case event.PermissionRequest:
		if separate {
			out = append(out, r.approvalChunks(d)...)
		}
	case event.PermissionResolved:
		out = append(out, r.resolve(d)...)
	case event.Interrupt:
		if r.t.turn != nil {
			out = append(out, r.askQuestion(d)...)
		}
	case event.InterruptResolved:
		out = append(out, r.resolveQuestion(d)...)
	}
	return out
}

func (r *Reply) beginTurn(d event.TurnStart) {
	r.ours = r.message == "" || len(d.MessageIDs) == 0 || slices.Contains(d.MessageIDs, r.message)
	r.parts, r.inStep, r.stepEnds, r.steps = nil, false, true, 0
	r.stepOf, r.separate = map[string]int{}, map[string]string{}
}

// isSeparate reports whether an event is a permission request that gets a separate part.
func (r *Reply) isSeparate(e event.Event) bool {
	d, is := e.Data.(event.PermissionRequest)
	if !is || r.t.turn == nil || r.t.turn.requests[d.RequestID] != nil {
		return false
	}
	own := r.t.turn.tools[d.ToolUseID]
	if e.SubagentID != "" || d.ToolUseID == "" || own != nil && (own.ended || own.writing || r.stepOf[d.ToolUseID] != r.steps) {
		return true
	}
	for id, t := range r.t.turn.tools {
		if id != d.ToolUseID && r.stepOf[id] == r.steps && !t.ended && !slices.ContainsFunc(t.requests, func(p *permission) bool { return p.asked }) {
			return true
		}
	}
	return false
}

// approvalChunks writes the part of a permission request.
func (r *Reply) approvalChunks(d event.PermissionRequest) []Chunk {
	id := approvalPart(d.RequestID)
	r.separate[d.RequestID] = id
	r.stepEnds = true
	input := d.ToolInput
	if input == nil {
		input = event.Raw("{}")
	}
	out := r.openPart(id, d.ToolName, input)
	return append(out, r.post([]Chunk{{Type: "tool-approval-request", ToolCallID: id, ApprovalID: d.RequestID, Reason: d.Reason}})...)
}

// openPart writes a part of a tool, in a step of its own.
func (r *Reply) openPart(id, name string, input event.Raw) []Chunk {
	name = cmp.Or(name, "unknown")
	return r.post(append(r.t.turn.endPart(""),
		Chunk{Type: "tool-input-start", ToolCallID: id, ToolName: name, Dynamic: true},
		Chunk{Type: "tool-input-available", ToolCallID: id, ToolName: name, Dynamic: true, Input: input},
	))
}

// askQuestion writes the part of a question.
func (r *Reply) askQuestion(d event.Interrupt) []Chunk {
	id := ofQuestion + d.InterruptID
	r.separate[id] = id
	r.stepEnds = true
	return r.openPart(id, d.ComponentName, d.Props)
}

// resolveQuestion ends the part of a question.
func (r *Reply) resolveQuestion(d event.InterruptResolved) []Chunk {
	id := ofQuestion + d.InterruptID
	if r.separate[id] == "" {
		return nil
	}
	r.separate[id] = ""
	end := Chunk{Type: "tool-output-available", ToolCallID: id, Dynamic: true, Output: d.Value}
	if d.By == event.ByWithdrawn {
		end = withdrawnPart(id)
	}
	return r.post([]Chunk{end})
}

// withdrawnPart ends the part of a request or a question that does not wait for an answer any more.
func withdrawnPart(id string) Chunk {
	return Chunk{Type: "tool-output-error", ToolCallID: id, ErrorText: "the request was withdrawn"}
}

// resolve ends the part of a permission request.
func (r *Reply) resolve(d event.PermissionResolved) []Chunk {
	id := r.separate[d.RequestID]
	if id == "" {
		return nil
	}
	r.separate[d.RequestID] = ""
	end := Chunk{Type: "tool-output-denied", ToolCallID: id}
	if d.Allowed {
		end = Chunk{Type: "tool-output-available", ToolCallID: id, Dynamic: true, Output: event.Raw(`"allowed"`)}
	}
	return r.post([]Chunk{{Type: "tool-approval-response", ApprovalID: d.RequestID, Approved: &d.Allowed}, end})
}

// post adds steps to chunks of the Translator, and takes back what was retracted.
func (r *Reply) post(chunks []Chunk) (out []Chunk) {
	for _, c := range chunks {
		out = append(out, r.postOne(c)...)
	}
	return out
}

// byProvider marks a chunk of a tool that the client does not run.
func (r *Reply) byProvider(c Chunk) Chunk {
	switch c.Type {
	case "tool-input-start", "tool-input-available", "tool-output-available", "tool-output-error":
		c.ProviderExecuted = r.separate[c.ToolCallID] == "" || !strings.HasPrefix(c.ToolCallID, ofQuestion)
	}
	return c
}

func (r *Reply) postOne(c Chunk) []Chunk {
	c = r.byProvider(c)
	switch c.Type {
	case "start":
		r.messageID = c.MessageID
		return []Chunk{c}
	case "message-metadata":
		return []Chunk{c}
	case "abort", "error", "finish":
		return append(r.withdrawRequests(), r.endStep(c)...)
	}
	if c.Transient {
		return []Chunk{c}
	}
	if c.takesBack != nil {
		if out, ok := r.takeBack(*c.takesBack); ok {
			return out
		}
	}
	var out []Chunk
	if kind := c.Type; r.stepEnds && (kind == "text-start" || kind == "reasoning-start" || kind == "tool-input-start") {
		if r.inStep {
			out = append(out, Chunk{Type: "finish-step"})
		}
		out = append(out, Chunk{Type: "start-step"})
		r.inStep, r.stepEnds, r.parts = true, false, nil
		r.steps++
	}
	switch c.Type {
	case "tool-input-start":
		r.stepOf[c.ToolCallID] = r.steps
	case "tool-output-available", "tool-output-error", "tool-output-denied":
		r.stepEnds = r.stepEnds || !c.Preliminary
	}
	r.parts = append(r.parts, c)
	return append(out, c)
}

// endStep returns a chunk that ends the message, after the end of the step.
func (r *Reply) endStep(c Chunk) []Chunk {
	if !r.inStep {
		return []Chunk{c}
	}
	r.inStep = false
	return []Chunk{{Type: "finish-step"}, c}
}

// withdrawRequests ends the parts of requests that were not answered.
func (r *Reply) withdrawRequests() (out []Chunk) {
	for _, request := range slices.Sorted(maps.Keys(r.separate)) {
		if id := r.separate[request]; id != "" {
			r.separate[request] = ""
			out = append(out, r.byProvider(withdrawnPart(id)))
		}
	}
	return out
}

// takeBack drops parts of the step. It returns false if the step does not have them.
func (r *Reply) takeBack(w takenBack) ([]Chunk, bool) {
	var stay []Chunk
	at, kind := -1, ""
	for _, c := range r.parts {
		if w.has(c) {
			if at < 0 {
				at = len(stay)
				kind, _, _ = strings.Cut(c.Type, "-")
			}
			continue
		}
		stay = append(stay, c)
	}
	if at < 0 {
		return nil, false
	}
	if w.text != "" {
		id := w.parts[len(w.parts)-1]
		of := &Provider{Part{BlockID: w.block, PartID: id}}
		stay = slices.Insert(stay, at, Chunk{Type: kind + "-start", ID: id, ProviderMetadata: of}, Chunk{Type: kind + "-delta", ID: id, Delta: w.text}, Chunk{Type: kind + "-end", ID: id})
	}
	r.parts = stay
	return append([]Chunk{{Type: "reset-step"}}, stay...), true
}

// takenBack is what a chunk takes back: parts of text or reasoning, or a call.
type takenBack struct {
	block string
	parts []string
	text  string // in place of the parts
	tool  string
}

func (w takenBack) has(c Chunk) bool {
	if w.tool != "" {
		return c.ToolCallID == w.tool
	}
	kind, _, _ := strings.Cut(c.Type, "-")
	return (kind == "text" || kind == "reasoning") && slices.Contains(w.parts, c.ID)
}
