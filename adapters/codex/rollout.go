package codex

import (
	"cmp"
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
// of its API, and as an event for the screen. The first of the two counts.
type rollout struct {
	l *ledger.Ledger

	bounded bool              // the file has lines for the beginning and the end of turns
	asked   bool              // the turn has a message of the user
	blocks  int               // of text and reasoning, so far
	text    string            // the last message of the turn
	said    [2]map[string]int // how often each text of the turn came, by source
	calls   int               // that have no id, so far
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
	Role    lenient.Str `json:"role"`
	Message lenient.Str `json:"message"`
	Text    lenient.Str `json:"text"`
	Reason  lenient.Str `json:"reason"`

	Content jsontext.Value `json:"content"`
	Summary jsontext.Value `json:"summary"`

	Name      lenient.Str    `json:"name"`
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
	case "session_meta", "turn_context", "response_item", "event_msg", "compacted":
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
	case "response_item":
		return r.handleItem(&p)
	case "event_msg":
		return r.handleEvent(&p)
	}
	return true
}

// handleItem handles an item of the model's API.
func (r *rollout) handleItem(p *rolloutPayload) bool {
	switch p.Type {
	case "message":
		if p.Role == "assistant" { // those of the user hold the runtime's own words too
			r.addText(fromItem, textOfParts(p.Content))
		}
	case "reasoning":
		for _, x := range append(lenient.Decode[lenient.List[rolloutPayload]](p.Summary), lenient.Decode[lenient.List[rolloutPayload]](p.Content)...) {
			r.addThinking(fromItem, string(x.Text)) // an event has one of them
		}
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call":
		r.startTool(p)
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		r.endTool(p)
	case "ghost_snapshot", "compaction", "compaction_summary":
	default:
		return false
	}
	return true
}

// handleEvent handles an event for the screen.
func (r *rollout) handleEvent(p *rolloutPayload) bool {
	switch p.Type {
	case "task_started", "turn_started":
		r.endTurn()
		r.bounded = true
		r.turn()
	case "user_message":
		if !r.bounded {
			r.endTurn()
		}
		d := event.UserMessage{MessageID: string(p.ID), Text: string(p.Message), Via: event.ViaTurn}
		if r.l.Turn() != nil && r.asked {
			d.Via = event.ViaSteer
		}
		r.turn().Emit(d)
		r.asked = true
	case "agent_message":
		r.addText(fromEvent, string(p.Message))
	case "agent_reasoning", "agent_reasoning_raw_content":
		r.addThinking(fromEvent, string(p.Text))
	case "token_count":
		if k := p.Info.Total; int64(k.Total) > 0 {
			r.turn().Emit(event.Usage{Scope: event.ScopeSession, Tokens: event.Tokens{Input: int64(k.Input), Cached: int64(k.Cached), Output: int64(k.Output), Reasoning: int64(k.Reasoning), Total: int64(k.Total)}})
		}
	case "task_complete", "turn_complete":
		r.endTurn()
	case "turn_aborted":
		r.turn()
		r.l.Done(event.Done{Stopped: true})
	case "error", "stream_error":
		r.turn()
		r.l.Error(errorOf(&turnError{Message: p.Message}))
	case "warning":
		r.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: string(p.Message)})
	case "context_compacted", "thread_name_updated", "thread_settings_applied":
	default:
		return false
	}
	return true
}

// turn returns the running turn, and begins one if none runs.
func (r *rollout) turn() *ledger.Scope {
	if sc := r.l.Turn(); sc != nil {
		return sc
	}
	r.l.SessionReady(event.SessionReady{Runtime: "codex"}) // the file may begin later
	r.asked, r.text, r.said = false, "", [2]map[string]int{{}, {}}
	return r.l.TurnStart(event.TurnStart{Cause: event.CauseUser})
}

// endTurn ends the running turn, if there is one.
func (r *rollout) endTurn() {
	sc := r.l.Turn()
	if sc == nil {
		return
	}
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

func (r *rollout) addText(from source, text string) {
	sc := r.turn()
	if text == "" || r.isRepeated(from, text) {
		return
	}
	r.blocks++
	key := strconv.Itoa(r.blocks)
	sc.Delta(key, "", text)
	sc.BlockEnd(key, event.BlockComplete, "")
	r.text = text
}

func (r *rollout) addThinking(from source, text string) {
	sc := r.turn()
	if text == "" || r.isRepeated(from, text) {
		return
	}
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
	sc.ToolStart(event.ToolStart{ToolUseID: id, Tool: string(cmp.Or(p.Name, p.Type)), Input: input})
	if p.Type == "web_search_call" {
		sc.ToolResult(event.ToolResult{ToolUseID: id, Status: event.ToolOK}) // the server has run it
	}
}

// endTool handles the output of a call: a string, or a list of parts.
func (r *rollout) endTool(p *rolloutPayload) {
	r.turn().ToolResult(event.ToolResult{ToolUseID: string(p.CallID), Output: textOfParts(p.Output), Status: event.ToolOK})
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
