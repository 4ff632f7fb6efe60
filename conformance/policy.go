package conformance

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/policy"
)

// denied is the reason of every denial: what a policy says of it is its own
// affair, and no golden's.
const denied = "The policy does not allow it."

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
		return adapters.Verdict{Effect: judge(ctx, c).Effect, Reason: denied}
	}, nil
}
