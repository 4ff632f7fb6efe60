package acp

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// qwenName is the name by which Qwen Code introduces itself, and qwenProgram that of its program.
const (
	qwenName    = "qwen-code"
	qwenProgram = "qwen"
)

// drainQueue is the request by which Qwen Code asks for messages into the running turn, after each
// call.
const drainQueue = "craft/drainMidTurnQueue"

// isQwen reports whether the agent is Qwen Code.
func (t *translator) isQwen() bool { return agentNamed(t.agent(), qwenName) }

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
