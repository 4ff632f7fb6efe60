// Package wireonly answers one question for transports: what of an opening can
// only a runtime's own wire say?
package wireonly

import "github.com/turnspec/turnspec/conformance"

// Beyond is what of an opening neither ACP nor the routes of a sidecar have a word
// for, or "".
func Beyond(o conformance.Open) string {
	for _, not := range []struct {
		wanted bool
		what   string
	}{
		{len(o.Args) > 0, "arguments of the runtime"},
		{o.Fork, "a fork"},
		{o.Unarchive, "an archive"},
		{o.Checkpoints, "checkpoints"},
		{o.Questions, "questions of MCP servers"},
		{len(o.Tools) > 0 || len(o.Hooks) > 0, "tools and hooks of the client"},
		{o.Components != nil, "components"},
		{o.Schema != nil, "the schema of an answer"},
		{o.Policy != nil, "a policy of tools"},
		{o.Model != "", "the runtime's name of a model"},
	} {
		if not.wanted {
			return not.what
		}
	}
	return ""
}
