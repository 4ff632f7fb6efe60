package claude

import (
	"strings"

	"github.com/turnspec/turnspec/adapters"
)

// Unenforceable lists what a Judge cannot prevent on a version of the runtime.
// The list is the same for all known versions: a hook sees every tool call, in
// every mode and of every sub-agent. The remaining gaps are not tool calls;
// each was observed on the real runtime, and a test repeats it.
func Unenforceable(string) []adapters.Gap {
	return []adapters.Gap{
		{
			What:   "Bash: what an allowed command does",
			Reason: "there is no sandbox: the Judge sees only the command, and processes that it starts have all the user's rights",
			Remedy: "a container",
		},
		{
			What:   "hooks of settings files",
			Reason: "they are commands of the workspace or the user and run without the Judge",
			Remedy: "check .claude/settings.json first; a policy that denies writing .claude prevents the model from adding any",
		},
	}
}

// ControlFiles implements reference.Adapter.
func (Adapter) ControlFiles() []string {
	return strings.Fields(".claude .mcp.json .claude-plugin CLAUDE.md CLAUDE.local.md")
}
