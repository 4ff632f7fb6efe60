package adapters_test

import (
	"context"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
)

// TestDecide: what a judge does not say clearly is denied, and a denial has a
// reason.
func TestDecide(t *testing.T) {
	says := func(v adapters.Verdict) adapters.Judge {
		return func(context.Context, adapters.Call) adapters.Verdict { return v }
	}
	for name, c := range map[string]struct {
		judge adapters.Judge
		want  adapters.Verdict
	}{
		"allow":            {says(adapters.Verdict{Effect: adapters.EffectAllow}), adapters.Verdict{Effect: adapters.EffectAllow}},
		"ask":              {says(adapters.Verdict{Effect: adapters.EffectAsk}), adapters.Verdict{Effect: adapters.EffectAsk}},
		"deny":             {says(adapters.Verdict{Effect: adapters.EffectDeny, Reason: "no"}), adapters.Verdict{Effect: adapters.EffectDeny, Reason: "no"}},
		"without a reason": {says(adapters.Verdict{Effect: adapters.EffectDeny}), adapters.Verdict{Effect: adapters.EffectDeny, Reason: "the policy does not allow it"}},
		"nothing":          {says(adapters.Verdict{}), adapters.Verdict{Effect: adapters.EffectDeny, Reason: `the policy gave no verdict but ""`}},
		"another word":     {says(adapters.Verdict{Effect: "yes"}), adapters.Verdict{Effect: adapters.EffectDeny, Reason: `the policy gave no verdict but "yes"`}},
		"a panic":          {func(context.Context, adapters.Call) adapters.Verdict { panic("late") }, adapters.Verdict{Effect: adapters.EffectDeny, Reason: "the policy failed: late"}},
	} {
		t.Run(name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(c.judge.Decide(context.Background(), adapters.Call{Tool: "Bash"})).To(gomega.Equal(c.want))
		})
	}
}
