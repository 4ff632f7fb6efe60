package agentfile_test

import (
	"fmt"
	"os"
	"testing/fstest"

	"github.com/turnspec/turnspec/adapters/backend/agentfile"
)

// A program ships its own agents, for example embedded, and prepares the workspace
// before it opens a session there.
func ExamplePrepare() {
	workspace, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(workspace) }()
	templates := fstest.MapFS{"agents/claude/reviewer.md": {Data: []byte(`---
name: reviewer
description: Reads what was changed.
tools: Read, Grep
---
Say what could go wrong, in one line each.
`)}}
	for range 2 {
		done, err := agentfile.Prepare(agentfile.Claude, workspace, templates, "agents/claude")
		if err != nil {
			panic(err) // file:line and the error
		}
		for _, p := range done {
			fmt.Println(p.Name, p.File, "there already:", p.Kept != "")
		}
	}
	// Output:
	// reviewer .claude/agents/reviewer.md there already: false
	// reviewer .claude/agents/reviewer.md there already: true
}
