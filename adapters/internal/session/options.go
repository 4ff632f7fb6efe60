package session

import (
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
)

// wanted reports for each option that a runtime may lack whether a session is to be opened
// with it.
var wanted = map[string]func(o adapters.Options) bool{
	"at":                func(o adapters.Options) bool { return o.At != "" },
	"checkpoints":       func(o adapters.Options) bool { return o.Checkpoints },
	"config":            func(o adapters.Options) bool { return len(o.Config) > 0 },
	"extra dirs":        func(o adapters.Options) bool { return len(o.ExtraDirs) > 0 },
	"fork":              func(o adapters.Options) bool { return o.Fork },
	"hooks":             func(o adapters.Options) bool { return len(o.Hooks) > 0 },
	"instructions":      func(o adapters.Options) bool { return o.Instructions != "" },
	"max cost":          func(o adapters.Options) bool { return o.MaxCost > 0 },
	"max requests":      func(o adapters.Options) bool { return o.MaxRequests > 0 },
	"mcp":               func(o adapters.Options) bool { return len(o.MCP) > 0 },
	"resume":            func(o adapters.Options) bool { return o.Resume != "" },
	"schema":            func(o adapters.Options) bool { return len(o.Schema) > 0 },
	"setting sources":   func(o adapters.Options) bool { return o.SettingSources != nil },
	"stream tool input": func(o adapters.Options) bool { return o.StreamToolInput },
	"tools":             func(o adapters.Options) bool { return len(o.Tools) > 0 },
	"unarchive":         func(o adapters.Options) bool { return o.Unarchive },
}

// RefuseOptions returns an error for the first of the named options, in the order of the
// alphabet, that o has. An adapter names those that its runtime lacks.
func RefuseOptions(o adapters.Options, names ...string) error {
	for _, name := range slices.Sorted(slices.Values(names)) {
		if wanted[name](o) {
			return fmt.Errorf("%s: %w", name, adapters.ErrUnsupported)
		}
	}
	return nil
}
