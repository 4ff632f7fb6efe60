package policy

import (
	"context"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var allowsWhatItCannotRead = broken.Adapter{
	Name: "allows-what-it-cannot-read", Sentence: "allows a command whose quotes do not match",
	Fails: []string{"policy.fail-closed", "wire.valid-input"},
	Mutation: judging(func(j adapters.Judge, ctx context.Context, c adapters.Call) adapters.Verdict {
		if strings.Count(command(c), "'")%2 == 1 {
			return adapters.Verdict{Effect: adapters.EffectAllow}
		}
		return j(ctx, c)
	}),
}
