// Package reference lists the adapters of this module, one for each runtime. It is not
// part of the stable interface. A new adapter is one line here: subcommands, the suite
// and the tests know it from then on.
package reference

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/acp"
	"github.com/turnspec/turnspec/adapters/chat"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/codexexec"
	"github.com/turnspec/turnspec/adapters/opencode"
	"github.com/turnspec/turnspec/adapters/opencoderun"
	"github.com/turnspec/turnspec/adapters/pi"
)

// Adapter is what each of the adapters offers beside opening sessions.
type Adapter interface {
	adapters.Adapter
	adapters.Transcriber
	// Mapping lists every message of the runtime, with the events that it becomes.
	Mapping() []adapters.Mapped
	// Unenforceable lists what a Judge cannot prevent on a version of the runtime; "" is
	// the newest.
	Unenforceable(version string) []adapters.Gap
	// ControlFiles lists the names of the files and folders in a workspace that steer the
	// runtime: settings, plugins, hooks, MCP servers, agents, skills, instructions. A tool
	// policy lets no agent write them.
	ControlFiles() []string
	// Recognizes reports whether a line of output is one of this runtime and of no
	// other.
	Recognizes(line []byte) bool
}

var all = []Adapter{
	codex.New(),
	claude.New(),
	codexexec.New(),
	opencode.New(),
	opencoderun.New(),
	pi.New(),
	acp.New(),
	chat.New(),
}

// All returns the adapters.
func All() []Adapter { return slices.Clone(all) }

// Names returns the names of their runtimes.
func Names() []string {
	out := make([]string, len(all))
	for i, a := range all {
		out[i] = a.Capabilities().Runtime
	}
	return out
}

// Of returns the adapter of a runtime, or nil.
func Of(runtime string) Adapter {
	for _, a := range all {
		if a.Capabilities().Runtime == runtime {
			return a
		}
	}
	return nil
}

// Recognize returns the adapter whose runtime wrote a line, or nil.
func Recognize(line []byte) Adapter {
	for _, a := range all {
		if a.Recognizes(line) {
			return a
		}
	}
	return nil
}
