package policy

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// judging returns a mutation that replaces the policy, if there is one, by f.
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
	_ = json.Unmarshal(c.Input, &in) // other tools have no command
	return in.Command
}
