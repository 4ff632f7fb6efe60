package adapters

import (
	"context"
	"fmt"

	"github.com/turnspec/turnspec/adapters/event"
)

// Judge decides about a tool call before anybody is asked; package policy makes
// one of a mode, a preset and rules. It must return soon: the runtime waits. It is
// called from goroutines of the session's own, for several calls at once.
type Judge func(ctx context.Context, c Call) Verdict

// Call is a tool call that waits to be judged.
type Call struct {
	Tool       string    // the canonical name, as in tool_start
	Input      event.Raw // what the model gave
	Dir        string    // where it runs: the session's working directory, or the command's own
	SubagentID string    // whose call it is, if a sub-agent's
}

// Verdict is what a Judge says. Reason is told to the model when denied.
type Verdict struct {
	Effect Effect
	Reason string
}

// Effect is what a verdict does.
type Effect string

// The effects. Ask leaves it to the runtime, and to the user where that asks.
const (
	EffectAsk   Effect = "ask"
	EffectAllow Effect = "allow"
	EffectDeny  Effect = "deny"
)

// Decide asks the judge. Where it gives no verdict (it panics, or says what is
// none of the effects) the call is denied. A denial always has a reason.
func (j Judge) Decide(ctx context.Context, c Call) (v Verdict) {
	defer func() {
		if p := recover(); p != nil {
			v = Verdict{EffectDeny, fmt.Sprintf("the policy failed: %v", p)}
		}
	}()
	switch v = j(ctx, c); v.Effect {
	case EffectAsk, EffectAllow:
		return v
	case EffectDeny:
		if v.Reason == "" {
			v.Reason = "the policy does not allow it"
		}
		return v
	}
	return Verdict{EffectDeny, fmt.Sprintf("the policy gave no verdict but %q", v.Effect)}
}

// Gap is something that a runtime does without a Judge being able to prevent it.
// Each adapter lists those of its runtime: a policy that names what stands there
// is not enforced by it.
type Gap struct {
	What   string `json:"what"`   // what is not held: a tool by its canonical name, or a way around
	Reason string `json:"reason"` // why the Judge does not see it
	Remedy string `json:"remedy"` // what holds it instead, if anything does
}
