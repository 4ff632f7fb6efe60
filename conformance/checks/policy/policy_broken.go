package policy

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// judging puts f in the place of the policy, where there is one.
func judging(f func(adapters.Judge, context.Context, adapters.Call) adapters.Verdict) broken.Mutation {
	return broken.Mutation{Open: func(o *conformance.Open) {
		if j := o.Judge; j != nil {
			o.Judge = func(ctx context.Context, c adapters.Call) adapters.Verdict { return f(j, ctx, c) }
		}
	}}
}

func command(c adapters.Call) string {
	var in struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(c.Input, &in) // of another tool it has none
	return in.Command
}
