package perform

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/policy"
)

// denied is the reason of every denial: what a policy says of it is its own
// affair, and no golden's.
const denied = "The policy does not allow it."

// deciding is how long a policy takes to decide.
const deciding = 10 * time.Millisecond

// judgeOf makes a Judge of a scenario's policy; nil of none.
func judgeOf(text jsontext.Value) (adapters.Judge, error) {
	if text == nil {
		return nil, nil
	}
	p, err := policy.Load("policy", text)
	if err != nil {
		return nil, fmt.Errorf("the scenario's policy: %w", err)
	}
	judge := p.Judge()
	return func(ctx context.Context, c adapters.Call) adapters.Verdict {
		select { // a policy may ask somebody: what comes meanwhile waits for it
		case <-time.After(deciding):
		case <-ctx.Done():
		}
		return adapters.Verdict{Effect: judge(ctx, c).Effect, Reason: denied}
	}, nil
}
