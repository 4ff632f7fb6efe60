// Package agentfile answers two questions: which sub-agents does a workspace
// define, and how does a program add its own without touching what is there?
//
// Both runtimes read definitions from files when a session opens, each in a form
// of its own:
//
//	claude   .claude/agents/NAME.md    Markdown; the keys stand before the text, between lines of ---
//	codex    .codex/agents/NAME.toml   TOML; the text is the key developer_instructions
//
// A file that a runtime does not understand is passed over by it, with a line in
// its log at best, so that a session runs without the agent and nobody is told.
// Read and Prepare tell it, as file:line, before the session opens.
//
// Codex reads the files of a workspace that it trusts only, and versions before
// 0.120 read none.
package agentfile

import (
	"fmt"
	"path"
)

// Form is how a runtime has its definitions.
type Form string

// The forms are named as the runtimes are.
const (
	Claude Form = "claude"
	Codex  Form = "codex"
)

// Forms are all forms.
func Forms() []Form { return []Form{Claude, Codex} }

// Dir is the folder of the definitions in a workspace.
func (f Form) Dir() string { return "." + string(f) + "/agents" }

// Ext is how the names of the files end.
func (f Form) Ext() string {
	if f == Codex {
		return ".toml"
	}
	return ".md"
}

// Valid reports whether there is such a form.
func (f Form) Valid() error {
	if f != Claude && f != Codex {
		return fmt.Errorf("no form %q of agent definitions: want claude or codex", f)
	}
	return nil
}

// Agent is a sub-agent as its file defines it. What only a runtime knows of is
// not here, and is no error.
type Agent struct {
	File         string   `json:"file"` // as it was given
	Name         string   `json:"name"`
	Description  string   `json:"description"` // when to use it; the model reads it
	Instructions string   `json:"instructions"`
	Model        string   `json:"model,omitempty"`     // empty: that of the session
	Effort       string   `json:"effort,omitempty"`    // how much it reasons
	Tools        []string `json:"tools,omitempty"`     // claude: those it has; none: all
	Sandbox      string   `json:"sandbox,omitempty"`   // codex: read-only, workspace-write, danger-full-access
	Nicknames    []string `json:"nicknames,omitempty"` // codex: what its instances are called
}

// Error is something wrong in a file.
type Error struct {
	File string
	Line int // from 1; 0: the file as a whole
	Err  error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// isDefinition reports whether a runtime reads a file of that name.
func (f Form) isDefinition(name string) bool {
	return path.Ext(name) == f.Ext() && name[0] != '.'
}
