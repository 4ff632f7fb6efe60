package broken

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
)

// lax are broken in how they hold a policy.
func lax() []Adapter {
	return []Adapter{
		{
			Name: "judges-commands-alone", Sentence: "holds the policy for commands, and for no other tool",
			Fails: []string{"policy.table", "wire.own-lines"},
			mutation: judging(func(j adapters.Judge, ctx context.Context, c adapters.Call) adapters.Verdict {
				if c.Tool != "Bash" {
					return adapters.Verdict{Effect: adapters.EffectAllow}
				}
				return j(ctx, c)
			}),
		},
		{
			Name: "judges-the-first-word", Sentence: "looks at the first word of a command, and judges by that",
			Fails: []string{"policy.no-bypass", "wire.own-lines"},
			mutation: judging(func(j adapters.Judge, ctx context.Context, c adapters.Call) adapters.Verdict {
				if w := strings.Fields(command(c)); len(w) > 0 && strings.ContainsAny(command(c), ";&\n") {
					c.Input, _ = json.Marshal(map[string]string{"command": w[0]})
				}
				return j(ctx, c)
			}),
		},
		{
			Name: "allows-what-it-cannot-read", Sentence: "allows a command whose quotes do not match",
			Fails: []string{"policy.fail-closed", "wire.own-lines"},
			mutation: judging(func(j adapters.Judge, ctx context.Context, c adapters.Call) adapters.Verdict {
				if strings.Count(command(c), "'")%2 == 1 {
					return adapters.Verdict{Effect: adapters.EffectAllow}
				}
				return j(ctx, c)
			}),
		},
	}
}

// judging puts f in the place of the policy, where there is one.
func judging(f func(adapters.Judge, context.Context, adapters.Call) adapters.Verdict) mutation {
	return mutation{open: func(o *conformance.Open) {
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
