package drive

import "fmt"

// modelNeed is what a scenario needs of the way between runtime and model: how
// patient the runtime is, and how far it may go.
type modelNeed struct {
	codex  func(provider string) []string // arguments; nil: it has no such setting
	claude func() (args, env []string)
	away   bool // nobody listens where the model should be
}

// modelNeeds hold for every version. A recording must not wait for the seconds
// that runtimes leave between tries.
var modelNeeds = map[string]modelNeed{
	"few-retries": {
		codex: func(p string) []string {
			return []string{"-c", p + ".request_max_retries=1", "-c", p + ".stream_max_retries=2"}
		},
		claude: func() (args, env []string) { return nil, []string{"CLAUDE_CODE_MAX_RETRIES=1"} },
	},
	"short-idle": {
		codex: func(p string) []string { return []string{"-c", p + ".stream_idle_timeout_ms=400"} },
		claude: func() (args, env []string) {
			return nil, []string{"CLAUDE_ENABLE_STREAM_WATCHDOG=1", "CLAUDE_STREAM_IDLE_TIMEOUT_MS=400"}
		},
	},
	"turn-limit": {claude: func() (args, env []string) { return []string{"--max-turns", "2"}, nil }},
	"budget":     {claude: func() (args, env []string) { return []string{"--max-budget-usd", "0.0001"}, nil }},
	"no-model": {
		codex:  func(string) []string { return nil },
		claude: func() (args, env []string) { return nil, nil },
		away:   true,
	},
	"task-list": { // tasks made one by one; 2.1.329 offers them only when asked
		claude: func() (args, env []string) {
			return nil, []string{"CLAUDE_CODE_ENABLE_TODO_TOOLS=1", "CLAUDE_CODE_ENABLE_TASKS=1"}
		},
	},
	"search-tools": {
		codex:  func(string) []string { return nil },
		claude: func() (args, env []string) { return []string{"--tools", "Bash,Read,Edit,Write,Glob,Grep"}, nil },
	},
}

// nowhere is an address of loopback where nothing listens.
const nowhere = "http://127.0.0.1:9"

// reach takes from needs what concerns the way to the model, and returns the
// others.
func (c *config) reach(runtime string, needs []string) (rest []string, err error) {
	for _, n := range needs {
		m, ok := modelNeeds[n]
		if !ok {
			rest = append(rest, n)
			continue
		}
		c.away = c.away || m.away
		switch {
		case runtime == "codex" && m.codex != nil:
			c.args = append(c.args, m.codex("model_providers.fake")...)
		case runtime == "claude" && m.claude != nil:
			args, env := m.claude()
			c.args, c.env = append(c.args, args...), append(c.env, env...)
		default:
			return nil, fmt.Errorf("needs: %s has no setting for %q: say `not on %s: why`", runtime, n, runtime)
		}
	}
	return rest, nil
}
