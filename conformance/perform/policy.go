package perform

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/policy"
)

// denyReason is the reason of every denial. The reasons that package policy gives
// may change, and goldens hold the reason.
const denyReason = "The policy does not allow it."

// decisionTime is how long the policy takes to decide.
const decisionTime = 10 * time.Millisecond

// newJudge makes a Judge of a scenario's policy; nil if there is none.
func newJudge(text jsontext.Value) (adapters.Judge, error) {
	if text == nil {
		return nil, nil
	}
	p, err := policy.Load("policy", text)
	if err != nil {
		return nil, fmt.Errorf("the scenario's policy: %w", err)
	}
	judge := p.Judge()
	return func(ctx context.Context, c adapters.Call) adapters.Verdict {
		select { // a policy may ask a person, so the runtime goes on meanwhile
		case <-time.After(decisionTime):
		case <-ctx.Done():
		}
		return adapters.Verdict{Effect: judge(ctx, c).Effect, Reason: denyReason}
	}, nil
}
