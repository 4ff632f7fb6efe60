package tool

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// tooling returns a mutation of the client's tools.
func toolMutation(f func(t *adapters.Tool)) broken.Mutation {
	return broken.Mutation{Open: func(o *conformance.Open) {
		o.Tools = slices.Clone(o.Tools)
		for i := range o.Tools {
			f(&o.Tools[i])
		}
	}}
}
