package drive

import (
	"fmt"
	"slices"
	"strings"
)

// config is how a runtime is started for what a scenario needs.
type config struct {
	model   string
	args    []string
	policy  string // codex: approval policy; claude: permission mode
	sandbox string // codex
	// codex: the notification that ends its greeting. What the client sends
	// waits for it, so that it always stands at the same place.
	greeting string
}

// configFor maps what a scenario needs to model slug, flags and modes. Without
// the need `permission` a runtime asks nothing, so that a run has no question
// that the scenario does not name.
func configFor(runtime, version string, needs []string) (config, error) {
	var c config
	var known []string
	permission := slices.Contains(needs, "permission")
	switch runtime {
	case "codex":
		// This slug has bundled metadata: it gets apply_patch and plain tools.
		// The slugs newer than it get tools by JavaScript only.
		c = config{model: "gpt-5.5", policy: "never", sandbox: "danger-full-access"}
		if version == "0.169.0" {
			c.greeting = "remoteControl/status/changed"
		}
		known = []string{"permission", "plan", "subagent", "steer"}
		if permission {
			c.policy = "untrusted"
		}
		if slices.Contains(needs, "plan") {
			c.args = append(c.args, "-c", "tools.update_plan={enabled=true}")
		}
		if slices.Contains(needs, "subagent") {
			c.args = append(c.args, "--enable", "multi_agent_v2")
		}
	case "claude":
		c = config{policy: "bypassPermissions"}
		known = []string{"permission", "plan", "subagent", "question"}
		if permission {
			c.policy = "default"
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
