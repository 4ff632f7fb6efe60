package claude

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// config is how the runtime is started for what a scenario needs.
type config struct {
	args, env   []string
	mode        string // permission mode
	unreachable bool   // the model cannot be reached
	// reportsQueue: the runtime reports what becomes of each message that has a
	// uuid (command_lifecycle), and whether the session is idle
	// (session_state_changed). queue.go handles the versions that do not.
	reportsQueue bool
	flags        []string // optional outputs that not every version has
}

// since is the first version with reportsQueue. Older ones exit at once if they get
// an option that they do not have.
const since = "2.1.329"

// modes are the permission modes of the runtime, by the modes of scenarios.
var modes = map[string]string{
	"ask": "default", "accept-edits": "acceptEdits", "plan": "plan", "dont-ask": "dontAsk", "never": "bypassPermissions",
}

// setting is how the runtime gets what a scenario needs.
type setting struct {
	args, env   []string
	unreachable bool
}

var settings = map[string]setting{
	"permission":  {},
	"commands":    {},
	"subagent":    {},
	"nested":      {},
	"question":    {},
	"elicitation": {},
	"plan":        {env: []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1", "CLAUDE_CODE_ENABLE_TASKS=0"}}, // a list that is written as a whole
	"task-list":   {env: []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1", "CLAUDE_CODE_ENABLE_TASKS=1"}}, // tasks one by one; 2.1.329 offers them only on request
	"compaction":  {env: []string{"CLAUDE_CODE_AUTO_COMPACT_WINDOW=100000"}},
	"checkpoint":  {env: []string{"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1"}},
	"hook-events": {args: []string{"--include-hook-events"}},
	// A recording must not wait for the seconds between two requests.
	"few-retries":  {env: []string{"CLAUDE_CODE_MAX_RETRIES=1"}},
	"short-idle":   {env: []string{"CLAUDE_ENABLE_STREAM_WATCHDOG=1", "CLAUDE_STREAM_IDLE_TIMEOUT_MS=400"}},
	"no-model":     {unreachable: true},
	"search-tools": {args: []string{"--tools", "Bash,Read,Edit,Write,Glob,Grep"}},
}

// configFor returns how a version is started. A version that is not known is
// expected to be like the last one before it; "" is the newest.
func configFor(version, mode string, needs []string) (config, error) {
	c := config{mode: modes[mode]}
	if version == "" || wire.CompareVersions(version, since) >= 0 {
		c.reportsQueue, c.flags = true, []string{"--forward-subagent-text"}
	}
	if c.mode == "" {
		return c, fmt.Errorf("mode: claude has no mode %q: write `not on claude: REASON` in the scenario", mode)
	}
	for _, n := range needs {
		s, ok := settings[n]
		if !ok {
			return c, fmt.Errorf("needs: claude has no configuration for %q, only for %s: write `not on claude: REASON` in the scenario",
				n, strings.Join(slices.Sorted(maps.Keys(settings)), ", "))
		}
		c.args, c.env = append(c.args, s.args...), append(c.env, s.env...)
		c.unreachable = c.unreachable || s.unreachable
	}
	return c, nil
}

func connect(version, mode string, needs []string, modelURL string) (drive.Connection, error) {
	c, err := configFor(version, mode, needs)
	return c.connection(modelURL), err
}

func (c config) connection(modelURL string) drive.Connection {
	if c.unreachable {
		modelURL = drive.Nowhere
	}
	return drive.Connection{Args: c.args, Env: append([]string{
		"ANTHROPIC_BASE_URL=" + modelURL, "ANTHROPIC_API_KEY=dummy",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"IS_SANDBOX=1",
	}, c.env...)}
}
