package codex

import (
	"github.com/turnspec/turnspec/adapters"
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
		Reason: "it asks about none of them, in any mode",
		Remedy: "a sandbox keeps them from writing; nothing keeps their reading within the workspace",
	}},
	{Gap: adapters.Gap{
		What:   "Bash: commands that a rule file allows",
		Reason: "rules in .codex/rules of the workspace and of the user let them run unasked",
		Remedy: "look at these files before; a policy that denies writing .codex keeps the model from making any",
	}},
	{Gap: adapters.Gap{
		What:   "Bash: what is typed into a command that runs",
		Reason: "it asks about the command alone",
		Remedy: "deny commands that take commands from their input: shells, interpreters",
	}},
	{Gap: adapters.Gap{
		What:   "Bash: what an allowed command does outside of the sandbox",
		Reason: "an allowed command that fails in the sandbox soon after its start runs once more without it, unasked",
		Remedy: "a container",
	}},
	{to: 120, Gap: adapters.Gap{
		What:   "Read: pictures anywhere on the disk",
		Reason: "it asks about none, and no setting takes the tool away",
		Remedy: "a container",
	}},
	{to: 98, Gap: adapters.Gap{
		What:   "mcp__*: tools of servers",
		Reason: "it asks about none of them",
		Remedy: "start no server whose tools are not all allowed",
	}},
	{from: 99, to: 120, Gap: adapters.Gap{
		What:   "mcp__*: tools that their server calls read-only",
		Reason: "it asks about none of them",
		Remedy: "start no server whose read-only tools are not all allowed",
	}},
	{from: 121, Gap: adapters.Gap{
		What:   "mcp__*: tools that the user's own servers call read-only",
		Reason: "it asks about them only where a setting of the server says so: the adapter says it of those in Options.MCP",
		Remedy: "in the user's config.toml: default_tools_approval_mode = \"prompt\"",
	}},
	{Gap: adapters.Gap{
		What:   "Task: that a sub-agent is started",
		Reason: "it asks about none",
		Remedy: "what the sub-agent does is asked about as ever",
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
