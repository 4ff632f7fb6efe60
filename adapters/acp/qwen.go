package acp

import (
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// drainQueue is the request by which Qwen Code asks for messages into the running turn, after each
// call.
const drainQueue = "craft/drainMidTurnQueue"

// qwenMode is the notification by which Qwen Code states its mode.
const qwenMode = "qwen/notify/session/mode-update"

// qwenFailure begins the details of an error of the model's API: its status.
var qwenFailure = regexp.MustCompile(`^\d{3} `)

// qwenMeta is what Qwen Code adds to the empty piece that ends each message of the model.
type qwenMeta struct {
	Usage struct {
		Input  lenient.Num `json:"inputTokens"`
		Output lenient.Num `json:"outputTokens"`
		Total  lenient.Num `json:"totalTokens"`
		Think  lenient.Num `json:"thoughtTokens"`
		Cached lenient.Num `json:"cachedReadTokens"`
	} `json:"usage"`
}

// qwenUsage emits the tokens that an empty piece states: those of one request to the model.
func (t *translator) qwenUsage(u *update) {
	n := lenient.Decode[qwenMeta](u.Meta).Usage
	if n.Total == 0 || t.l.Turn() == nil {
		return
	}
	t.l.Emit(event.Usage{Scope: event.ScopeRequest, Tokens: event.Tokens{
		Input: int64(n.Input), Cached: int64(n.Cached), Output: int64(n.Output), Reasoning: int64(n.Think), Total: int64(n.Total),
	}})
}

// completeQwen completes the result of a call of Qwen Code: its content is what the model gets, and
// its raw output describes that. The tool that writes a file shows an old text for a change alone.
func (*translator) completeQwen(c *toolCall, d *event.ToolResult) {
	if text := textsOf(c.content); text != "" {
		d.Output = text
	}
	out := lenient.Decode[struct {
		Exit jsontext.Value `json:"exitCode"`
	}](c.rawOutput)
	setExitCode(d, out.Exit)
	in := lenient.Decode[struct {
		Content *lenient.Str `json:"content"`
	}](c.input)
	if in.Content != nil && len(c.diffs) == 1 && c.diffs[0].OldText != nil && *c.diffs[0].OldText == "" && !d.IsError {
		d.Changes = []event.FileChange{{Path: string(c.diffs[0].Path), Kind: event.ChangeAdd, Diff: string(*in.Content)}}
	}
}
