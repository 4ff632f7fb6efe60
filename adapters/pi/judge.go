package pi

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// askedTools are the tools that the extension asks about, by mode. With a Judge it asks
// about every tool.
var askedTools = map[string][]string{
	adapters.ModeNever:       {},
	adapters.ModeAcceptEdits: {"bash"},
	adapters.ModeAsk:         {"bash", "edit", "write"},
}

// unjudged is what the mode decides about a tool, which with a Judge is always asked about; ""
// if it asks the user.
func (c *client) unjudged(tool string) event.Decision {
	if slices.ContainsFunc(askedTools[c.mode], func(name string) bool { return toolName(name) == tool }) {
		return ""
	}
	return event.DecisionAllow
}

// judgedInput is the input of a call in the form that policies read: a path is named
// file_path.
func judgedInput(d event.PermissionRequest) event.Raw {
	switch d.ToolName {
	case "Read", "Edit", "Write":
	default:
		return d.ToolInput
	}
	members := lenient.Decode[map[string]jsontext.Value](d.ToolInput)
	if members == nil {
		return d.ToolInput
	}
	members["file_path"] = members["path"]
	delete(members, "path")
	return lenient.Encode(members)
}

// gaps are what the runtime does without asking.
var gaps = []adapters.Gap{
	{
		What:   "Bash: what an allowed command does",
		Reason: "the runtime has no sandbox",
		Remedy: "a container",
	},
	{
		What:   "*: calls that another extension allows, changes or makes itself",
		Reason: "extensions of the user and of the workspace run inside the runtime",
		Remedy: "--no-extensions in Options.Args loads the adapter's extension alone",
	},
}

// Unenforceable lists what a Judge cannot prevent. The versions do not differ in it.
func (Adapter) Unenforceable(string) []adapters.Gap { return slices.Clone(gaps) }

// ControlFiles implements reference.Adapter.
func (Adapter) ControlFiles() []string {
	return strings.Fields(".pi .agents AGENTS.md CLAUDE.md")
}
