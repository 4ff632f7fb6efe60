package adapters_test

import (
	"context"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
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

// TestDecideAsks: the judge sees the call and the context as they are, and what
// it says beside the effect stays.
func TestDecideAsks(t *testing.T) {
	g := gomega.NewWithT(t)
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "amber"))
	call := adapters.Call{Tool: "Bash", Input: event.Raw(`{"command":"ls"}`), Dir: "/w", SubagentID: "a1"}
	var saw adapters.Call
	var value any
	var judge adapters.Judge = func(ctx context.Context, c adapters.Call) adapters.Verdict {
		cancel()
		<-ctx.Done()
		saw, value = c, ctx.Value(key{})
		return adapters.Verdict{Effect: adapters.EffectAsk, Reason: "who knows"}
	}
	g.Expect(judge.Decide(ctx, call)).To(gomega.Equal(adapters.Verdict{Effect: adapters.EffectAsk, Reason: "who knows"}))
	g.Expect(saw).To(gomega.Equal(call))
	g.Expect(value).To(gomega.Equal("amber"))
}

// TestDecideWithoutAJudge: a Judge that was never set allows nothing.
func TestDecideWithoutAJudge(t *testing.T) {
	g := gomega.NewWithT(t)
	v := adapters.Judge(nil).Decide(t.Context(), adapters.Call{})
	g.Expect(v.Effect).To(gomega.Equal(adapters.EffectDeny))
	g.Expect(v.Reason).To(gomega.HavePrefix("the policy failed: "))
}
