package policy

import (
	"context"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var judgesCommandsAlone = broken.Adapter{
	Name: "judges-commands-alone", Sentence: "applies the policy to commands only",
	Proves: "policy.table",
	Mutation: judging(func(j adapters.Judge, ctx context.Context, c adapters.Call) adapters.Verdict {
		if c.Tool != "Bash" {
			return adapters.Verdict{Effect: adapters.EffectAllow}
		}
		return j(ctx, c)
	}),
}

var keepsTheReason = broken.Adapter{
	Name: "keeps-the-policys-reason", Sentence: "denies without the reason of the policy",
	Proves: "policy.table",
	Mutation: judging(func(j adapters.Judge, ctx context.Context, c adapters.Call) adapters.Verdict {
		v := j(ctx, c)
		v.Reason = ""
		return v
	}),
}
