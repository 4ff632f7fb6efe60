package claude

import "github.com/turnspec/turnspec/adapters"

// Unenforceable is what a Judge does not hold on a version of the runtime. It is
// the same on all that are known: a hook sees every tool call, in every mode and
// of every sub-agent. What is left is no tool call; each was seen on the real
// runtime, and a test tries it again.
func Unenforceable(string) []adapters.Gap {
	return []adapters.Gap{
		{
			What:   "Bash: what an allowed command does",
			Reason: "there is no sandbox: the Judge sees the command, and what it starts runs with all the user's rights",
			Remedy: "a container",
		},
		{
			What:   "hooks of settings files",
			Reason: "they are commands of the workspace's or the user's own, which run beside the Judge",
			Remedy: "look at .claude/settings.json before; a policy that denies writing .claude keeps the model from making any",
		},
	}
}
