package acp

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// judgedInput is the input of a call in the form that policies read: a command is one text, a
// path is named file_path. A member that cannot be read stays as it is, so that the policy
// sees that.
func (c *toolCall) judgedInput() event.Raw {
	members := lenient.Decode[map[string]jsontext.Value](c.input)
	if members == nil {
		members = map[string]jsontext.Value{}
	}
	switch c.kind {
	case "execute":
		if command := c.command(); command != "" {
			members["command"] = lenient.Encode(command)
		}
	case "read", "edit", "delete", "move":
		if path := c.start().FilePath; path != "" && members["file_path"] == nil && (members["path"] == nil || members["path"].Kind() == '"') {
			members["file_path"] = lenient.Encode(path)
		}
	}
	return lenient.Encode(members)
}

// gaps are what agents do without asking.
var gaps = []adapters.Gap{
	{
		What:   "*: calls about which the agent does not ask",
		Reason: "the agent alone decides which calls need permission, or which files and commands it leaves to the client",
		Remedy: "a mode of the agent that asks, and a container",
	},
}

// Unenforceable lists what a Judge cannot prevent. The versions do not differ in it.
func (Adapter) Unenforceable(string) []adapters.Gap { return slices.Clone(gaps) }

// ControlFiles implements reference.Adapter: the files of well-known agents.
func (Adapter) ControlFiles() []string {
	return strings.Fields(".gemini GEMINI.md .qwen QWEN.md .goose .goosehints .cursor .kiro .augment AGENTS.md")
}
