package adapters_test

import (
	"context"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// TestDecide: an unclear verdict denies, and a denial has a reason.
func TestDecide(t *testing.T) {
	returning := func(v adapters.Verdict) adapters.Judge {
		return func(context.Context, adapters.Call) adapters.Verdict { return v }
	}
	for name, c := range map[string]struct {
		judge adapters.Judge
		want  adapters.Verdict
	}{
		"allow":            {returning(adapters.Verdict{Effect: adapters.EffectAllow}), adapters.Verdict{Effect: adapters.EffectAllow}},
		"ask":              {returning(adapters.Verdict{Effect: adapters.EffectAsk}), adapters.Verdict{Effect: adapters.EffectAsk}},
		"deny":             {returning(adapters.Verdict{Effect: adapters.EffectDeny, Reason: "no"}), adapters.Verdict{Effect: adapters.EffectDeny, Reason: "no"}},
		"without a reason": {returning(adapters.Verdict{Effect: adapters.EffectDeny}), adapters.Verdict{Effect: adapters.EffectDeny, Reason: "the policy does not allow it"}},
		"nothing":          {returning(adapters.Verdict{}), adapters.Verdict{Effect: adapters.EffectDeny, Reason: `the policy returned an unknown verdict: ""`}},
		"another word":     {returning(adapters.Verdict{Effect: "yes"}), adapters.Verdict{Effect: adapters.EffectDeny, Reason: `the policy returned an unknown verdict: "yes"`}},
		"a panic":          {func(context.Context, adapters.Call) adapters.Verdict { panic("late") }, adapters.Verdict{Effect: adapters.EffectDeny, Reason: "the policy failed: late"}},
	} {
		t.Run(name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(c.judge.Decide(context.Background(), adapters.Call{Tool: "Bash"})).To(gomega.Equal(c.want))
		})
	}
}

// TestDecidePassesCallAndContext: the judge receives the call and the context
// unchanged, and Decide keeps the reason of its verdict.
func TestDecidePassesCallAndContext(t *testing.T) {
	g := gomega.NewWithT(t)
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "amber"))
	call := adapters.Call{Tool: "Bash", Input: event.Raw(`{"command":"ls"}`), Dir: "/w", SubagentID: "a1"}
	var got adapters.Call
	var value any
	var judge adapters.Judge = func(ctx context.Context, c adapters.Call) adapters.Verdict {
		cancel()
		<-ctx.Done()
		got, value = c, ctx.Value(key{})
		return adapters.Verdict{Effect: adapters.EffectAsk, Reason: "who knows"}
	}
	g.Expect(judge.Decide(ctx, call)).To(gomega.Equal(adapters.Verdict{Effect: adapters.EffectAsk, Reason: "who knows"}))
	g.Expect(got).To(gomega.Equal(call))
	g.Expect(value).To(gomega.Equal("amber"))
}

// TestJudgeAnd checks that the stricter verdict of two judges holds.
func TestJudgeAnd(t *testing.T) {
	g := gomega.NewWithT(t)
	always := func(e adapters.Effect) adapters.Judge {
		return func(context.Context, adapters.Call) adapters.Verdict {
			return adapters.Verdict{Effect: e, Reason: string(e)}
		}
	}
	strict := []adapters.Effect{adapters.EffectAllow, adapters.EffectAsk, adapters.EffectDeny}
	for i, a := range strict {
		for j, b := range strict {
			want := strict[max(i, j)]
			g.Expect(always(a).And(always(b)).Decide(t.Context(), adapters.Call{})).To(gomega.Equal(adapters.Verdict{Effect: want, Reason: string(want)}))
		}
		g.Expect(always(a).And(nil).Decide(t.Context(), adapters.Call{}).Effect).To(gomega.Equal(a))
		g.Expect(adapters.Judge(nil).And(always(a)).Decide(t.Context(), adapters.Call{}).Effect).To(gomega.Equal(a))
	}
	panics := func(context.Context, adapters.Call) adapters.Verdict { panic("no rules") }
	g.Expect(always(adapters.EffectAllow).And(panics).Decide(t.Context(), adapters.Call{}).Effect).To(gomega.Equal(adapters.EffectDeny))
	g.Expect(adapters.Judge(nil).And(nil)).To(gomega.BeNil())
}

// TestNilJudgeDenies: a Judge that was never set allows nothing.
func TestNilJudgeDenies(t *testing.T) {
	g := gomega.NewWithT(t)
	v := adapters.Judge(nil).Decide(t.Context(), adapters.Call{})
	g.Expect(v.Effect).To(gomega.Equal(adapters.EffectDeny))
	g.Expect(v.Reason).To(gomega.HavePrefix("the policy failed: "))
}
