package codex

import (
	"github.com/turnspec/turnspec/adapters"
	"strings"
)

// gap is something that a range of versions does without asking.
type gap struct {
	adapters.Gap
	from, to int // minor version numbers; 0: unbounded
}

// Each gap was observed on the real runtime with a Judge that denies
// everything; a test repeats it.
var gaps = []gap{
	{to: 120, Gap: adapters.Gap{
		What:   "Bash: commands that the runtime knows to only read",
		Reason: "the runtime never asks about them, in any mode",
		Remedy: "a sandbox prevents writing; nothing limits reading to the workspace",
	}},
	{Gap: adapters.Gap{
		What:   "Bash: commands that a rule file allows",
		Reason: "rules in .codex/rules of the workspace and of the user allow them without asking",
		Remedy: "check these files first; a policy that denies writing .codex prevents the model from adding any",
	}},
	{Gap: adapters.Gap{
		What:   "Bash: what is typed into a command that runs",
		Reason: "the runtime asks only about the command",
		Remedy: "deny commands that execute their input: shells, interpreters",
	}},
	{Gap: adapters.Gap{
		What:   "Bash: what an allowed command does outside of the sandbox",
		Reason: "an allowed command that fails in the sandbox soon after its start runs again without it, and the runtime does not ask",
		Remedy: "a container",
	}},
	{to: 120, Gap: adapters.Gap{
		What:   "Read: pictures anywhere on the disk",
		Reason: "the runtime never asks, and no setting disables the tool",
		Remedy: "a container",
	}},
	{to: 98, Gap: adapters.Gap{
		What:   "mcp__*: tools of servers",
		Reason: "the runtime never asks about them",
		Remedy: "start only servers whose tools are all allowed",
	}},
	{from: 99, to: 120, Gap: adapters.Gap{
		What:   "mcp__*: tools that their server calls read-only",
		Reason: "the runtime never asks about them",
		Remedy: "start only servers whose read-only tools are all allowed",
	}},
	{from: 121, Gap: adapters.Gap{
		What:   "mcp__*: tools that the user's own servers call read-only",
		Reason: "the runtime asks only if a setting of the server requires it; the adapter sets it for the servers of Options.MCP",
		Remedy: "in the user's config.toml: default_tools_approval_mode = \"prompt\"",
	}},
	{Gap: adapters.Gap{
		What:   "Task: that a sub-agent is started",
		Reason: "the runtime never asks about it",
		Remedy: "calls of the sub-agent are judged as usual",
	}},
}

// Unenforceable lists what a Judge cannot prevent on a version of the runtime;
// "" is the newest known version.
func Unenforceable(version string) []adapters.Gap {
	minor := minorVersion(version)
	var out []adapters.Gap
	for _, g := range gaps {
		if minor >= g.from && (g.to == 0 || minor <= g.to) {
			out = append(out, g.Gap)
		}
	}
	return out
}

// ControlFiles implements reference.Adapter.
func (Adapter) ControlFiles() []string {
	return strings.Fields(".codex .agents AGENTS.md AGENTS.override.md")
}
