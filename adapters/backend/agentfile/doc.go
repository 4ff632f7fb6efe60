// Package agentfile reads the sub-agents that a workspace defines, and adds those of a
// program without changing the files that exist. It is not part of the stable interface.
//
// Both runtimes read definitions from files when a session opens, each in its own
// form:
//
//	claude   .claude/agents/NAME.md    Markdown; the keys precede the text, between lines of ---
//	codex    .codex/agents/NAME.toml   TOML; the text is the key developer_instructions
//
// Both read the folder with all its subfolders, and hidden files too (measured with
// Claude Code 2.1.329; codex-rs agent_roles.rs). They compare names exactly.
//
// If a runtime cannot read a file, it skips the file, at best with a line in its
// log, and the session runs without the agent. Read and Prepare report such a file
// as file:line before the session opens.
//
// Codex reads the files of a workspace only if it trusts the workspace. Versions
// before 0.120 read none.
package agentfile

import (
	"fmt"
	"path"
)

// Form is the form of the definitions of a runtime.
type Form string

// The forms have the names of the runtimes.
const (
	Claude Form = "claude"
	Codex  Form = "codex"
)

// Forms returns all forms.
func Forms() []Form { return []Form{Claude, Codex} }

// Dir returns the folder of the definitions in a workspace.
func (f Form) Dir() string { return "." + string(f) + "/agents" }

// Ext returns the extension of the file names.
func (f Form) Ext() string {
	if f == Codex {
		return ".toml"
	}
	return ".md"
}

// Valid returns an error if f is none of the forms.
func (f Form) Valid() error {
	if f != Claude && f != Codex {
		return fmt.Errorf("no form %q of agent definitions: want claude or codex", f)
	}
	return nil
}

// Agent is a sub-agent as its file defines it. Further keys of a runtime are not an
// error; Agent leaves them out.
type Agent struct {
	File         string   `json:"file"` // as given to Parse
	Name         string   `json:"name"`
	Description  string   `json:"description"` // for the model: when to use the agent
	Instructions string   `json:"instructions"`
	Model        string   `json:"model,omitempty"`     // the session's if empty
	Effort       string   `json:"effort,omitempty"`    // of reasoning
	Tools        []string `json:"tools,omitempty"`     // claude: the tools that it may use; all if empty
	Sandbox      string   `json:"sandbox,omitempty"`   // codex: read-only, workspace-write, danger-full-access
	Nicknames    []string `json:"nicknames,omitempty"` // codex: names of its instances
}

// Error is an error in a file.
type Error struct {
	File string
	Line int // from 1; 0 for the whole file
	Err  error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// isDefinition reports whether a runtime reads a file with that name.
func (f Form) isDefinition(name string) bool {
	return path.Ext(name) == f.Ext() && name != f.Ext()
}
