package policy

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var judgesTheFirstWord = broken.Adapter{
	Name: "judges-the-first-word", Sentence: "judges a command by its first word",
	Proves: "policy.no-bypass",
	Mutation: judging(func(j adapters.Judge, ctx context.Context, c adapters.Call) adapters.Verdict {
		if w := strings.Fields(command(c)); len(w) > 0 && strings.ContainsAny(command(c), ";&\n") {
			c.Input, _ = json.Marshal(map[string]string{"command": w[0]})
		}
		return j(ctx, c)
	}),
}
