package opencode

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// askedPermissions are the permissions that are asked for, by mode. With a Judge each is.
var askedPermissions = map[string][]string{
	adapters.ModeNever:       {},
	adapters.ModeAcceptEdits: {"bash", "external_directory"},
	adapters.ModeAsk:         {"bash", "edit", "external_directory"},
	adapters.ModePlan:        {},
}

// rule is a permission rule of a session. The last that fits a call counts.
type rule struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Action     string `json:"action"`
}

// rules returns the rules of a mode.
func (c *client) rules(mode string) []rule {
	if c.o.Judge != nil {
		return []rule{{"*", "*", "ask"}}
	}
	out := []rule{{"*", "*", "allow"}}
	for _, p := range askedPermissions[mode] {
		out = append(out, rule{p, "*", "ask"})
	}
	return out
}

// unjudged is what the mode decides about a permission, which with a Judge is always asked about; ""
// if it asks the user.
func (c *client) unjudged(permission string) event.Decision {
	if slices.Contains(askedPermissions[c.mode], permission) {
		return ""
	}
	return event.DecisionAllow
}

// gaps are what the runtime does without asking.
var gaps = []adapters.Gap{
	{
		What:   "Bash: what an allowed command does",
		Reason: "the runtime has no sandbox",
		Remedy: "a container",
	},
	{
		What:   "*: calls that a plugin makes itself",
		Reason: "plugins of the user and of the workspace run inside the runtime",
		Remedy: "remove them from the settings",
	},
}

// Unenforceable lists what a Judge cannot prevent. The versions do not differ in it.
func (Adapter) Unenforceable(string) []adapters.Gap { return slices.Clone(gaps) }

// ControlFiles implements reference.Adapter.
func (Adapter) ControlFiles() []string {
	return strings.Fields(".opencode opencode.json opencode.jsonc .claude .agents AGENTS.md CLAUDE.md")
}
