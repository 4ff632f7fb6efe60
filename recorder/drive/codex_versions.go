package drive

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// codexVersion is what the client must know of a version of Codex.
type codexVersion struct {
	// model is a slug with bundled metadata, so that the runtime offers
	// apply_patch and plain tools. Slugs that are newer than gpt-5.5 get tools
	// by JavaScript only.
	model string
	// What the client sends waits for these notifications, so that it always
	// stands at the same place: the end of the greeting, of thread/start and
	// thread/fork, and of thread/resume. "": nothing follows the reply.
	greeting, started, resumed string
	// reverts: it takes turns back by their id (thread/revert), and not by their
	// number (thread/rollback).
	reverts bool
	// archived is told when a thread was put away. "": nothing is.
	archived string
	// kills says that turn/interrupt kills the turn's commands and that no line
	// tells it; they go on in the background otherwise.
	kills bool
	// clings says that it does not end while a question of a turn that is over
	// has no answer.
	clings bool
	// mute are requests of a lifecycle that get no answer, silent the
	// notifications that follow none.
	mute, silent []string
	// serverStatus: it says how the start of each MCP server went.
	serverStatus bool
	// quiet switches off what only waits when there is no network.
	quiet []string
	// settles: a request changes the settings of a thread; else they go with a
	// turn. resolves: it tells that it took note of an answer.
	settles, resolves bool
	// offers says what it can do for a scenario, and the flags that this takes.
	offers map[string][]string
}

var codexVersions = map[string]codexVersion{
	"0.169.0": {
		model: "gpt-5.5", reverts: true, archived: "thread/archived",
		greeting: "remoteControl/status/changed", started: "thread/started", resumed: "thread/goal/cleared",
		serverStatus: true,
		settles:      true, resolves: true,
		offers: map[string][]string{
			"permission":          nil,
			"elicitation":         nil,
			"question":            nil,
			"granular":            nil,
			"request-permissions": {"--enable", "request_permissions_tool"},
			"steer":               nil,
			"plan":                {"-c", "tools.update_plan={enabled=true}"},
			"subagent":            {"--enable", "multi_agent_v2"},
			"compaction":          smallWindow,
			// A slug without metadata gets the tools of the kind before that.
			"delegate": {"-c", `model="gpt-5.1-codex"`},
			"nested":   {"-c", "agents.max_depth=3"},
			// Its newest slugs call every tool from a script that the model writes.
			"code-mode": {"-c", `model="gpt-6.1-sol"`},
		},
	},
	"0.120.0": {
		model: "gpt-5.3-codex", archived: "thread/archived",
		greeting: bwrapWarning, started: "thread/started",
		serverStatus: true,
		resolves:     true,
		mute:         []string{"turn/interrupt"},
		// Its end waits five seconds for a list of plugins.
		quiet: []string{"--disable", "plugins"},
		offers: map[string][]string{
			"permission":          nil,
			"elicitation":         nil,
			"question":            nil,
			"granular":            nil,
			"request-permissions": {"--enable", "request_permissions_tool"},
			"steer":               nil,
			"plan":                nil,
			"subagent":            nil,
			"delegate":            nil,
			"nested":              {"-c", "agents.max_depth=3"},
			"compaction":          smallWindow,
		},
	},
	"0.98.0": {
		model:   "gpt-5.1-codex",
		started: "codex/event/mcp_startup_complete", resumed: "codex/event/mcp_startup_complete",
		kills: true, clings: true, mute: []string{"turn/interrupt"}, silent: []string{"thread/archived", "thread/unarchived", "thread/deleted"},
		// thread/start waits five seconds for a list of models.
		quiet: []string{"--disable", "remote_models"},
		offers: map[string][]string{
			"permission":  nil,
			"elicitation": nil,
			"question":    nil,
			"compaction":  smallWindow,
			"plan":        nil,
			"subagent":    {"--enable", "collab"},
			"delegate":    {"--enable", "collab"},
		},
	},
}

// smallWindow makes the runtime sum up a history of some size.
var smallWindow = []string{"-c", "model_auto_compact_token_limit=100000"}

// bwrapWarning ends the greeting of a version that warns where the machine has
// no bubblewrap of its own, and sends nothing else.
const bwrapWarning = "configWarning"

// greets says which notification ends the greeting with that PATH.
func (v codexVersion) greets(path string) string {
	if v.greeting != bwrapWarning {
		return v.greeting
	}
	for _, dir := range filepath.SplitList(path) {
		if found, err := filepath.Glob(filepath.Join(dir, "bwrap")); err == nil && len(found) > 0 {
			return ""
		}
	}
	return v.greeting
}

// codexAt is the entry of a version, else that of the newest one before it: a
// release that nobody has looked at yet is expected to be like the last one. No
// version means the newest.
func codexAt(version string) codexVersion {
	known := slices.SortedFunc(maps.Keys(codexVersions), fixtures.CompareVersions)
	at := known[0]
	for _, k := range known {
		if version == "" || fixtures.CompareVersions(k, version) <= 0 {
			at = k
		}
	}
	return codexVersions[at]
}

// codexModes are approval policy and sandbox of the modes that scenarios name.
var codexModes = map[string][2]string{
	"ask":          {"untrusted", "danger-full-access"},
	"accept-edits": {"on-request", "workspace-write"},
	"plan":         {"on-request", "workspace-write"},
	"read-only":    {"on-request", "read-only"},
	"dont-ask":     {"never", "read-only"},
	"never":        {"never", "danger-full-access"},
}

func codexConfig(version, mode string, needs []string) (config, error) {
	v := codexAt(version)
	c := config{codex: v, model: v.model, policy: codexModes[mode][0], sandbox: codexModes[mode][1], plans: mode == "plan", args: slices.Clone(v.quiet)}
	for _, n := range needs {
		flags, ok := v.offers[n]
		if !ok {
			return c, fmt.Errorf("needs: codex %s has no configuration for %q, only for %s: say `not on codex %s: why`",
				version, n, strings.Join(sortedKeys(v.offers), ", "), version)
		}
		c.args = append(c.args, flags...)
		c.granular = c.granular || n == "granular"
		if n == "elicitation" {
			// With the policy never the runtime declines by itself. With this one
			// it asks nothing else that a server marks as reading only.
			c.policy = "on-request"
		}
	}
	return c, nil
}
