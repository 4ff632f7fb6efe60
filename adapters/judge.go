package adapters

import (
	"context"
	"fmt"

	"github.com/turnspec/turnspec/adapters/event"
)

// Judge decides about a tool call before the user is asked. Package policy builds
// one from a mode, a preset and rules. It must return soon, because the runtime
// waits for it. The session calls it from several goroutines at once.
type Judge func(ctx context.Context, c Call) Verdict

// Call is a tool call to decide about.
type Call struct {
	Tool       string    // the canonical name, as in tool_start
	Input      event.Raw // as the model sent it
	Dir        string    // where it runs: the session's working directory, or that of the command
	SubagentID string    // if a sub-agent made the call
}

// Verdict is a Judge's decision. If the call is denied, the model receives Reason.
type Verdict struct {
	Effect Effect
	Reason string
}

// Effect is the effect of a verdict.
type Effect string

// The effects. Ask leaves the decision to the runtime, which may ask the user.
const (
	EffectAsk   Effect = "ask"
	EffectAllow Effect = "allow"
	EffectDeny  Effect = "deny"
)

// Decide calls the judge. If it panics or returns an unknown effect, the call is
// denied. A denial always has a reason.
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
	return Verdict{EffectDeny, fmt.Sprintf("the policy returned an unknown verdict: %q", v.Effect)}
}

// And returns a judge of both: the stricter of the two verdicts holds, deny before ask before
// allow. Either may be nil, which decides nothing.
func (j Judge) And(other Judge) Judge {
	switch {
	case j == nil:
		return other
	case other == nil:
		return j
	}
	return func(ctx context.Context, c Call) Verdict {
		v := j.Decide(ctx, c)
		if v.Effect == EffectDeny {
			return v
		}
		w := other.Decide(ctx, c)
		if w.Effect == EffectDeny || w.Effect == EffectAsk && v.Effect == EffectAllow {
			return w
		}
		return v
	}
}

// Gap is something that a runtime does without submitting it to the Judge. Each
// adapter lists the gaps of its runtime: a rule of a policy about one of them has
// no effect there.
type Gap struct {
	What   string `json:"what"`   // what is not enforced: a tool by its canonical name, or a way around it
	Reason string `json:"reason"` // why it does not reach the Judge
	Remedy string `json:"remedy"` // what enforces it instead, if anything does
}
