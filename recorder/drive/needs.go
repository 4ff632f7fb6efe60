package drive

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// config is how a runtime is started for what a scenario needs.
type config struct {
	model    string
	args     []string
	policy   string // codex: approval policy; claude: permission mode
	sandbox  string // codex
	plans    bool   // codex: turns begin in plan mode
	granular bool   // codex: the policy names each kind of question
	env      []string
	away     bool // nobody listens where the model should be
	codex    codexVersion
	claude   claudeVersion
}

// configFor maps what a scenario needs to model slug, flags and modes.
func configFor(runtime, version, mode string, needs []string) (config, error) {
	var c config
	var known []string
	needs, err := c.reach(program(runtime), needs)
	if err != nil {
		return c, err
	}
	switch runtime {
	case "codex", "codexexec":
		x, err := codexConfig(version, mode, needs)
		x.args, x.env, x.away = append(x.args, c.args...), c.env, c.away
		return x, err
	case "claude":
		c.policy, c.claude = claudeModes[mode], claudeOf(version)
		if c.policy == "" {
			return c, fmt.Errorf("mode: claude has no mode %q: say `not on claude: why`", mode)
		}
		known = []string{"permission", "plan", "subagent", "nested", "question", "hook-events", "elicitation", "compaction", "checkpoint"}
		if slices.Contains(needs, "plan") { // a list that is held whole; else the runtime has tasks
			c.env = append(c.env, "CLAUDE_CODE_ENABLE_TODO_TOOLS=1", "CLAUDE_CODE_ENABLE_TASKS=0")
		}
		if slices.Contains(needs, "compaction") {
			c.env = append(c.env, "CLAUDE_CODE_AUTO_COMPACT_WINDOW=100000")
		}
		if slices.Contains(needs, "checkpoint") {
			c.env = append(c.env, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1")
		}
		if slices.Contains(needs, "hook-events") {
			c.args = append(c.args, "--include-hook-events")
		}
	default:
		return c, fmt.Errorf("no client for runtime %q, want one of codex, claude", runtime)
	}
	for _, n := range needs {
		if !slices.Contains(known, n) {
			return c, fmt.Errorf("needs: %s has no configuration for %q, only for %s: say `not on %s: why`", runtime, n, strings.Join(known, ", "), runtime)
		}
	}
	return c, nil
}

// judged is for a client with a policy: it opens so that the runtime asks about
// most.
func (c *config) judged() {
	if c.sandbox != "" {
		c.policy = "untrusted"
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
