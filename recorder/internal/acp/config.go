package acp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/recorder/internal/claude"
	"github.com/turnspec/turnspec/recorder/internal/codex"
	"github.com/turnspec/turnspec/recorder/internal/drive"
	"github.com/turnspec/turnspec/recorder/internal/opencode"
)

// agent is how one of the agents is started and what it can do.
type agent struct {
	// inner is the runtime that the agent drives; nil: it is a runtime itself.
	inner *drive.Runtime
	// modes are the modes of the agent, by the modes of scenarios; "" is the mode in force.
	modes map[string]string
	// option is the option of the agent for a mode of scenarios that is no mode of the agent.
	option modeOption
	// effort is the agent's option for how much the model reasons.
	effort string
	// listsForFork reports that the agent lists its commands for a copy of a session too.
	listsForFork bool
	// configured reports that the agent is started for a mode: what it asks about does not
	// change while it runs.
	configured bool
	// judged is added to its environment if a policy decides about each call.
	judged []string
	// connect turns how the inner runtime is started into how the agent is.
	connect func(drive.Connection) (drive.Connection, error)
	// start returns how an agent without an inner runtime is started.
	start func(needs []string, modelURL string) (drive.Connection, error)
	// unpacks is the variable for the folder into which the program unpacks itself, once for all
	// recordings; "": it does not.
	unpacks string
}

// modeOption is an option by which an agent has a mode of scenarios.
type modeOption struct{ mode, id, on, off string }

// agents are found by the name that precedes the number in a version.
var agents = map[string]agent{
	"codex-acp": {
		inner: codex.Runtime,
		modes: map[string]string{
			"ask": "read-only", "accept-edits": "workspace-write", "read-only": "read-only", "never": "agent-full-access",
			"plan": "",
		},
		option:  modeOption{mode: "plan", id: "collaboration_mode", on: "plan", off: "default"},
		effort:  "reasoning_effort",
		connect: connectCodex,
	},
	"claude-agent-acp": {
		inner: claude.Runtime,
		modes: map[string]string{
			"ask": "default", "accept-edits": "acceptEdits", "plan": "plan", "dont-ask": "dontAsk", "never": "bypassPermissions",
		},
		effort:  "effort",
		connect: connectClaude,
	},
	// What opencode asks about is in its settings, and its modes are its agents.
	"copilot": {
		modes:   map[string]string{"ask": sessionModes + "agent", "never": sessionModes + "agent", "plan": sessionModes + "plan"},
		option:  modeOption{mode: "never", id: "allow_all", on: "on", off: "off"},
		start:   startCopilot,
		unpacks: "COPILOT_PKG_CACHE_HOME",
	},
	"qwen-code": {
		modes: map[string]string{"ask": "default", "accept-edits": "auto-edit", "plan": "plan", "never": "yolo"},
		start: startQwen,
	},
	"opencode": {
		inner: opencode.Runtime,
		modes: map[string]string{
			"ask": "build", "accept-edits": "build", "never": "build", "plan": "plan",
		},
		effort:     "effort",
		configured: true, listsForFork: true,
		judged:  []string{`OPENCODE_PERMISSION={"*":"ask"}`},
		connect: connectOpenCode,
	},
}

func agentFor(version string) (agent, error) {
	for name, a := range agents {
		if strings.HasPrefix(version, name+"-") {
			return a, nil
		}
	}
	return agent{}, fmt.Errorf("acp: %q begins with the name of no agent", version)
}

// connect implements drive.Runtime.Connect.
func connect(version, mode string, needs []string, modelURL string) (drive.Connection, error) {
	a, err := agentFor(version)
	if err != nil {
		return drive.Connection{}, err
	}
	if _, ok := a.modes[mode]; !ok {
		return drive.Connection{}, fmt.Errorf("mode: acp %s has no mode %q: write `not on acp %s: REASON` in the scenario", version, mode, version)
	}
	if a.start != nil {
		conn, err := a.start(needs, modelURL)
		if err != nil {
			return conn, fmt.Errorf("acp %s: %w", version, err)
		}
		return conn, nil
	}
	inner := mode
	if a.inner == claude.Runtime {
		inner = "ask" // the mode is set when the session is open
	}
	conn, err := a.inner.Connect("", inner, needs, modelURL)
	if err != nil {
		return conn, fmt.Errorf("acp %s: %w", version, err)
	}
	return a.connect(conn)
}

// connectCodex writes the options of Codex into its settings, because the agent passes none
// on.
func connectCodex(inner drive.Connection) (drive.Connection, error) {
	return drive.Connection{
		Env:  []string{"CODEX_PATH=codex", "NO_BROWSER=1", "CODEX_ACP_PROMPT_SUGGESTIONS=false"},
		Home: codex.SettingsOf(inner.Args),
	}, nil
}

// connectClaude passes on what Claude Code reads from its environment.
func connectClaude(inner drive.Connection) (drive.Connection, error) {
	for _, a := range inner.Args {
		return inner, fmt.Errorf("the agent does not pass %s to Claude Code", a)
	}
	// From 0.101 the agent asks for what the user might say next, which no scenario answers.
	inner.Env = append(slices.Clone(inner.Env), "CLAUDE_CODE_EXECUTABLE=claude", "NO_BROWSER=1", "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=0")
	return inner, nil
}

// connectOpenCode starts opencode as an agent.
func connectOpenCode(inner drive.Connection) (drive.Connection, error) {
	inner.Args = []string{"acp"}
	return inner, nil
}
