package codex

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// rollout converts the lines of a rollout file (~/.codex/sessions/…/rollout-….jsonl), in which
// the runtime keeps a thread, to events. Most of what the model says is there twice: as an item
// of its API, and as an event for the screen, which in newer versions holds an item of the app server.
// The first of the two counts.
type rollout struct {
	l *ledger.Ledger

	bounded bool              // the file has lines for the beginning and the end of turns
	turnID  string            // of the turn that began last, if the file has it
	items   bool              // the file has items of the app server
	asked   bool              // the turn has a message of the user
	blocks  int               // of text and reasoning, so far
	text    string            // the last message of the turn
	said    [2]map[string]int // how often each text of the turn came, by source
	ids     map[string]bool   // of the messages of the turn
	calls   int               // that have no id, so far
	held    []rolloutPayload  // calls, and a message that may be a summary, in order
	missing map[string]bool   // the notices about what is not in the file
}

// source is where a text comes from.
type source int

const (
	fromItem source = iota
	fromEvent
)

// rolloutLine is a line of a rollout file.
type rolloutLine struct {
	Type    lenient.Str    `json:"type"`
	Payload jsontext.Value `json:"payload"`
}

// rolloutPayload holds the members of what a line has.
type rolloutPayload struct {
	Type    lenient.Str `json:"type"`
	ID      lenient.Str `json:"id"`
	Cwd     lenient.Str `json:"cwd"`
	Version lenient.Str `json:"cli_version"`
	Base    struct {
		Thread lenient.Str `json:"thread_id"`
	} `json:"history_base"`
	Role    lenient.Str `json:"role"`
	Message lenient.Str `json:"message"`
	Text    lenient.Str `json:"text"`
	Reason  lenient.Str `json:"reason"`

	Content jsontext.Value `json:"content"`
	Summary jsontext.Value `json:"summary"`

	TurnID lenient.Str    `json:"turn_id"`
	Item   jsontext.Value `json:"item"`  // of item_completed
	Error  jsontext.Value `json:"error"` // of task_complete
	Turns  lenient.Num    `json:"num_turns"`
	Code   jsontext.Value `json:"codex_error_info"`

	Name      lenient.Str    `json:"name"`
	Namespace lenient.Str    `json:"namespace"`
	CallID    lenient.Str    `json:"call_id"`
	Arguments lenient.Str    `json:"arguments"` // of function_call: JSON
	Input     lenient.Str    `json:"input"`     // of custom_tool_call: text
	Action    jsontext.Value `json:"action"`    // of local_shell_call and web_search_call
	Output    jsontext.Value `json:"output"`

	Info struct {
		Total struct {
			Input     lenient.Num `json:"input_tokens"`
			Cached    lenient.Num `json:"cached_input_tokens"`
			Output    lenient.Num `json:"output_tokens"`
			Reasoning lenient.Num `json:"reasoning_output_tokens"`
			Total     lenient.Num `json:"total_tokens"`
		} `json:"total_token_usage"`
	} `json:"info"`
}

// decodeRollout reads a line. ok is false if it is not one of a rollout file.
func decodeRollout(b []byte) (l rolloutLine, ok bool) {
	if json.Unmarshal(b, &l, lenient.Options) != nil || l.Payload.Kind() != '{' {
		return l, false
	}
	switch l.Type {
	case "session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state", "token_usage_record", "retained_context":
		return l, true
	}
	return l, false
}

// handleLine handles a line. It reports whether the line is known.
func (r *rollout) handleLine(b []byte) bool {
	l, ok := decodeRollout(b)
	if !ok {
		return false
	}
	p := lenient.Decode[rolloutPayload](l.Payload)
	switch l.Type {
	case "session_meta":
		r.l.SessionReady(event.SessionReady{Runtime: "codex", RuntimeVersion: string(p.Version), ProviderSessionID: string(p.ID), Cwd: string(p.Cwd)})
		if p.Base.Thread != "" {
			r.noticeMissing("the turns before this file are in another one, of thread " + string(p.Base.Thread))
		}
	case "compacted":
		r.held = slices.DeleteFunc(r.held, func(h rolloutPayload) bool { return h.Type == "message" }) // it is the summary
		sc := r.turn()
		sc.Emit(event.Compaction{Phase: event.PhaseStart})
		sc.Emit(event.Compaction{Phase: event.PhaseEnd})
	case "response_item":
		return r.handleItem(&p)
	case "event_msg":
		return r.handleEvent(&p)
	}
	return true
}

// handleItem handles an item of the model's API. What an item of the app server may follow is
// held until that or the next item comes.
func (r *rollout) handleItem(p *rolloutPayload) bool {
	switch p.Type {
	case "message":
		if p.Role != "assistant" { // those of the user hold the runtime's own words too
			return true
		}
		r.emitHeld()
		r.turn()
		if r.items && !r.hasMessage(p) {
			r.held = append(r.held, *p)
			return true
		}
		r.addText(fromItem, string(p.ID), textOfParts(p.Content))
	case "reasoning":
		for _, x := range append(lenient.Decode[lenient.List[rolloutPayload]](p.Summary), lenient.Decode[lenient.List[rolloutPayload]](p.Content)...) {
			r.addThinking(fromItem, string(x.Text)) // an event has one of them
		}
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call":
		r.turn()
		r.held = append(r.held, *p)
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		r.endTool(p)
	case "ghost_snapshot", "compaction", "compaction_summary":
	default:
		return false
	}
	return true
}

// hasMessage reports whether an event has had a message.
func (r *rollout) hasMessage(p *rolloutPayload) bool {
	return r.ids[string(p.ID)] || r.said[fromEvent][textOfParts(p.Content)] > r.said[fromItem][textOfParts(p.Content)]
}

// emitHeld emits what is held, because no item of the app server has come for it.
func (r *rollout) emitHeld() {
	held := r.held
	r.held = nil
	for i := range held {
		if held[i].Type == "message" {
			r.addText(fromItem, string(held[i].ID), textOfParts(held[i].Content))
		} else {
			r.startTool(&held[i])
		}
	}
}

// handleEvent handles an event for the screen.
func (r *rollout) handleEvent(p *rolloutPayload) bool {
	switch p.Type {
	case "task_started", "turn_started":
		if r.bounded && r.l.Turn() != nil { // the runtime was killed
			r.emitHeld()
			r.noticeMissing(cutTextMissing)
			r.l.Done(event.Done{Stopped: true})
		}
		r.endTurn()
		r.bounded, r.turnID = true, string(p.TurnID)
		r.turn()
	case "user_message":
		r.addUserMessage(event.UserMessage{MessageID: string(p.ID), Text: string(p.Message)})
	case "agent_message":
		r.addText(fromEvent, "", string(p.Message))
	case "item_completed":
		return r.handleCompleted(p.Item, string(p.TurnID))
	case "agent_reasoning", "agent_reasoning_raw_content":
		r.addThinking(fromEvent, string(p.Text))
	case "token_count":
		if k := p.Info.Total; int64(k.Total) > 0 && (r.l.Turn() != nil || !r.bounded) {
			r.turn().Emit(event.Usage{Scope: event.ScopeSession, Tokens: event.Tokens{Input: int64(k.Input), Cached: int64(k.Cached), Output: int64(k.Output), Reasoning: int64(k.Reasoning), Total: int64(k.Total)}})
		}
	case "task_complete", "turn_complete":
		if p.Error.Kind() == '{' {
			e := lenient.Decode[rolloutPayload](p.Error)
			r.fail(&e)
		}
		r.endTurn()
	case "turn_aborted":
		r.turn()
		r.emitHeld()
		r.noticeMissing(cutTextMissing)
		r.l.Done(event.Done{Stopped: true})
	case "error":
		r.fail(p)
	case "stream_error":
		r.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeRetry, Text: string(p.Message)})
	case "warning":
		r.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: string(p.Message)})
	case "thread_rolled_back":
		r.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: fmt.Sprintf("the user took %d turns back, which are still shown", int64(p.Turns))})
	case "context_compacted", "thread_name_updated", "thread_settings_applied", "thread_goal_updated",
		"entered_review_mode", "exited_review_mode", // the messages of a review are there too
		"exec_command_end", "patch_apply_end", "mcp_tool_call_end", "web_search_end", "view_image_tool_call", "plan_update": // the calls are items
	default:
		return false
	}
	return true
}

// cutTextMissing is the notice about text that the model did not complete.
const cutTextMissing = "text that was not complete when a turn was stopped, failed or got a message is not in the file"

// noticeMissing emits a notice about what is not in the file, once.
func (r *rollout) noticeMissing(text string) {
	if r.missing == nil {
		r.missing = map[string]bool{}
	}
	if !r.missing[text] {
		r.missing[text] = true
		r.l.Notice(event.LevelInfo, event.NoticeWarning, text, nil)
	}
}

// fail ends the turn in an error.
func (r *rollout) fail(p *rolloutPayload) {
	r.turn()
	r.emitHeld()
	r.noticeMissing(cutTextMissing)
	r.l.Error(errorOf(&turnError{Message: p.Message, CodexErrorInfo: camelInfo(p.Code)}))
}

// addUserMessage emits a message of the user, which begins a turn in a file without bounds.
func (r *rollout) addUserMessage(d event.UserMessage) {
	if !r.bounded {
		r.endTurn()
	}
	sc := r.turn()
	r.emitHeld()
	d.Via = event.ViaTurn
	if r.asked {
		d.Via = event.ViaSteer
		r.noticeMissing(cutTextMissing)
	}
	sc.Emit(d)
	r.asked = true
}

// turn returns the running turn, and begins one if none runs.
func (r *rollout) turn() *ledger.Scope {
	if sc := r.l.Turn(); sc != nil {
		return sc
	}
	r.l.SessionReady(event.SessionReady{Runtime: "codex"}) // the file may begin later
	r.asked, r.text, r.said, r.ids = false, "", [2]map[string]int{{}, {}}, map[string]bool{}
	return r.l.TurnStart(event.TurnStart{Cause: event.CauseUser})
}

// endTurn ends the running turn, if there is one.
func (r *rollout) endTurn() {
	sc := r.l.Turn()
	if sc == nil {
		return
	}
	r.emitHeld()
	if r.text != "" {
		sc.Emit(event.Result{Text: r.text})
	}
	r.l.Done(event.Done{})
}

// isRepeated reports whether the other source of a text has it already.
func (r *rollout) isRepeated(from source, text string) bool {
	r.said[from][text]++
	return r.said[from][text] <= r.said[1-from][text]
}

// addText adds a message of the model, whose id may be "".
func (r *rollout) addText(from source, id, text string) {
	sc := r.turn()
	if text == "" || r.ids[id] || r.isRepeated(from, text) {
		return
	}
	r.ids[id] = id != ""
	r.blocks++
	key := strconv.Itoa(r.blocks)
	sc.Delta(key, id, text)
	sc.BlockEnd(key, event.BlockComplete, "")
	r.text = text
}

func (r *rollout) addThinking(from source, text string) {
	sc := r.turn()
	if text == "" || r.isRepeated(from, text) {
		return
	}
	r.emitHeld()
	r.blocks++
	sc.Thinking(strconv.Itoa(r.blocks), text)
	sc.ThinkingDone()
}

func (r *rollout) startTool(p *rolloutPayload) {
	sc := r.turn()
	id := string(cmp.Or(p.CallID, p.ID))
	if id == "" {
		r.calls++
		id = "call." + strconv.Itoa(r.calls)
	}
	input := event.Raw(p.Arguments)
	switch {
	case p.Action.Kind() == '{':
		input = p.Action.Clone()
	case p.Arguments == "" || !jsontext.Value(p.Arguments).IsValid(lenient.Options):
		input, _ = jsontext.AppendQuote(nil, string(cmp.Or(p.Arguments, p.Input))) // the error only reports replaced characters
	}
	tool := string(cmp.Or(p.Name, p.Type))
	if p.Namespace != "" {
		tool = string(p.Namespace) + "__" + tool
	}
	sc.ToolStart(event.ToolStart{ToolUseID: id, Tool: tool, Input: input})
	if p.Type == "web_search_call" {
		sc.ToolResult(event.ToolResult{ToolUseID: id, Status: event.ToolOK}) // the server has run it
	}
}

// endTool handles the output of a call: a string, or a list of parts. It is dropped if an item of
// the app server had it.
func (r *rollout) endTool(p *rolloutPayload) {
	r.emitHeld()
	d := event.ToolResult{ToolUseID: string(p.CallID), Output: textOfParts(p.Output), Status: event.ToolOK}
	switch { // the runtime's words are all there is
	case strings.Contains(d.Output, "rejected by user"):
		d.Status = event.ToolDenied
	case strings.HasSuffix(d.Output, "aborted by user"):
		d.Status = event.ToolInterrupted
	}
	d.IsError = d.Status != event.ToolOK
	r.turn().ToolResult(d)
}

// textOfParts returns the text of content: a string, a list of parts, or JSON.
func textOfParts(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return string(lenient.Decode[lenient.Str](v))
	case '{':
		return string(v)
	}
	var b strings.Builder
	for _, p := range lenient.Decode[lenient.List[rolloutPayload]](v) {
		b.WriteString(string(p.Text))
	}
	return b.String()
}
