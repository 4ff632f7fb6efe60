package perform

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
)

// denyReason is the reason of every denial. The reasons that a subject's policies give
// may change, and goldens hold the reason.
const denyReason = "The policy does not allow it."

// decisionTime is how long the policy takes to decide.
const decisionTime = 10 * time.Millisecond

// newJudge makes a Judge of a scenario's policy; nil if there is none, or if the subject
// takes none.
func newJudge(s conformance.Subject, policy jsontext.Value) (adapters.Judge, error) {
	r, ok := s.(conformance.PolicyReader)
	if policy == nil || !ok {
		return nil, nil
	}
	judge, err := r.ReadPolicy(policy)
	if err != nil {
		return nil, fmt.Errorf("the scenario's policy: %w", err)
	}
	if judge == nil {
		return nil, nil
	}
	return func(ctx context.Context, c adapters.Call) adapters.Verdict {
		select { // a policy may ask a person, so the runtime goes on meanwhile
		case <-time.After(decisionTime):
		case <-ctx.Done():
		}
		return adapters.Verdict{Effect: judge(ctx, c).Effect, Reason: denyReason}
	}, nil
}
