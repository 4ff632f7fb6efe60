package codex

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// version is how a version of Codex differs from others.
type version struct {
	// model has metadata in the program, so that the runtime offers apply_patch
	// and plain tools. Models newer than gpt-5.5 get tools by JavaScript only.
	model string
	// What the client sends waits for these notifications, so that it is always
	// at the same place: the last one of the greeting, the last one after
	// thread/start and thread/fork, and after thread/resume. "": nothing follows
	// the reply.
	greeting, started, resumed string
	// reverts: turns are removed by id (thread/revert), not by number
	// (thread/rollback).
	reverts bool
	// archived follows thread/archive. "": nothing does.
	archived string
	// killsCommands: turn/interrupt kills the turn's commands, and no line
	// reports it. Otherwise they go on in the background.
	killsCommands bool
	// needsAnswers: the process does not exit while a question of an ended turn
	// has no answer.
	needsAnswers bool
	// unanswered are reads that get no reply, silent the notifications that do
	// not follow one.
	unanswered, silent []string
	// serverStatus: the start of each MCP server is reported.
	serverStatus bool
	// offline are options that switch off what only waits without a network.
	offline []string
	// updatesSettings: a request changes the settings of a thread; otherwise they
	// are part of a turn. resolves: the runtime reports that it has read an
	// answer.
	updatesSettings, resolves bool
	// offers are the options for each need of a scenario.
	offers map[string][]string
}

var versions = map[string]version{
	"0.169.0": {
		model: "gpt-5.5", reverts: true, archived: "thread/archived",
		greeting: "remoteControl/status/changed", started: "thread/started", resumed: "thread/goal/cleared",
		serverStatus:    true,
		updatesSettings: true, resolves: true,
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
			// A model without metadata gets the previous generation of tools.
			"delegate": {"-c", `model="gpt-5.1-codex"`},
			"nested":   {"-c", "agents.max_depth=3"},
			// The newest models call each tool from a script that the model writes.
			"code-mode": {"-c", `model="gpt-6.1-sol"`},
		},
	},
	"0.120.0": {
		model: "gpt-5.3-codex", archived: "thread/archived",
		greeting: bwrapWarning, started: "thread/started",
		serverStatus: true,
		resolves:     true,
		unanswered:   []string{"turn/interrupt"},
		// Its exit waits five seconds for a list of plugins.
		offline: []string{"--disable", "plugins"},
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
		killsCommands: true, needsAnswers: true,
		unanswered: []string{"turn/interrupt"}, silent: []string{"thread/archived", "thread/unarchived", "thread/deleted"},
		// thread/start waits five seconds for a list of models.
		offline: []string{"--disable", "remote_models"},
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

// smallWindow makes the runtime compact a longer history.
var smallWindow = []string{"-c", "model_auto_compact_token_limit=100000"}

// anyVersion are the options for needs that each version has. A recording must
// not wait for the seconds between two requests.
var anyVersion = map[string][]string{
	"few-retries":  {"-c", provider + ".request_max_retries=1", "-c", provider + ".stream_max_retries=2"},
	"short-idle":   {"-c", provider + ".stream_idle_timeout_ms=400"},
	"no-model":     nil,
	"joins-turn":   nil,
	"search-tools": nil,
}

const provider = "model_providers.fake"

// bwrapWarning ends the greeting of a version that warns if the machine has no
// bubblewrap, and sends nothing else.
const bwrapWarning = "configWarning"

// lastGreeting is the notification that ends the greeting with this PATH.
func (v version) lastGreeting(path string) string {
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

// versionFor returns the entry of a version, or of the newest one before it,
// because a release that is not known is expected to be like the last one. "" is
// the newest.
func versionFor(number string) version {
	known := slices.SortedFunc(maps.Keys(versions), wire.CompareVersions)
	at := known[0]
	for _, k := range known {
		if number == "" || wire.CompareVersions(k, number) <= 0 {
			at = k
		}
	}
	return versions[at]
}

// modes are approval policy and sandbox for each mode of scenarios.
var modes = map[string][2]string{
	"ask":          {"untrusted", "danger-full-access"},
	"accept-edits": {"on-request", "workspace-write"},
	"plan":         {"on-request", "workspace-write"},
	"read-only":    {"on-request", "read-only"},
	"dont-ask":     {"never", "read-only"},
	"never":        {"never", "danger-full-access"},
}

// Config is how the program is started for what a scenario needs.
type Config struct {
	version
	args            []string
	policy, sandbox string
	plans           bool // turns begin in plan mode
	granular        bool // the policy names each kind of question
	unreachable     bool // the model cannot be reached
}

// Sandbox is the sandbox mode.
func (c Config) Sandbox() string { return c.sandbox }

// ConfigFor returns how a version is started.
func ConfigFor(number, mode string, needs []string) (Config, error) {
	v := versionFor(number)
	c := Config{version: v, policy: modes[mode][0], sandbox: modes[mode][1], plans: mode == "plan", args: slices.Clone(v.offline)}
	var common []string
	for _, n := range needs {
		if options, ok := anyVersion[n]; ok {
			common = append(common, options...)
			c.unreachable = c.unreachable || n == "no-model"
			continue
		}
		options, ok := v.offers[n]
		if !ok {
			known := slices.Sorted(maps.Keys(v.offers))
			return c, fmt.Errorf("needs: codex %s has no configuration for %q, only for %s: write `not on codex %s: REASON` in the scenario",
				number, n, strings.Join(append(known, slices.Sorted(maps.Keys(anyVersion))...), ", "), number)
		}
		c.args = append(c.args, options...)
		c.granular = c.granular || n == "granular"
		if n == "elicitation" {
			// With the policy never the runtime declines by itself. With this one
			// it asks nothing else about a tool that its server marks as read-only.
			c.policy = "on-request"
		}
	}
	c.args = append(c.args, common...)
	return c, nil
}

// Connect implements drive.Runtime.Connect.
func Connect(number, mode string, needs []string, modelURL string) (drive.Connection, error) {
	c, err := ConfigFor(number, mode, needs)
	return c.connection(modelURL), err
}

// Args returns the options of the program, for any of its subcommands.
func (c Config) Args(modelURL string) []string { return c.connection(modelURL).Args }

func (c Config) connection(modelURL string) drive.Connection {
	if c.unreachable {
		modelURL = drive.Nowhere
	}
	return drive.Connection{Model: c.model, Args: append([]string{
		"-c", `model_provider="fake"`,
		"-c", fmt.Sprintf(provider+`={name="fake",base_url="%s/v1",wire_api="responses",requires_openai_auth=false}`, modelURL),
		"-c", fmt.Sprintf("model=%q", c.model),
		"-c", "analytics.enabled=false",
	}, c.args...)}
}

// SettingsOf returns the file below the home folder that has the same effect as options. Of two
// values of an option the last one holds: a file must not have both.
func SettingsOf(args []string) map[string]string {
	var lines []string
	for i, a := range args {
		if i == 0 {
			continue
		}
		switch args[i-1] {
		case "-c":
			key, _, _ := strings.Cut(a, "=")
			lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, key+"=") })
			lines = append(lines, tomlLines(a)...)
		case "--enable":
			lines = append(lines, "features."+a+"=true")
		case "--disable":
			lines = append(lines, "features."+a+"=false")
		}
	}
	return map[string]string{".codex/config.toml": strings.Join(lines, "\n") + "\n"}
}

// tomlLines returns an option as lines of a file. There, another line cannot add to a table
// that is written in one.
func tomlLines(option string) []string {
	key, value, _ := strings.Cut(option, "=")
	members, ok := strings.CutPrefix(value, "{")
	if !ok {
		return []string{option}
	}
	var lines []string
	for member := range strings.SplitSeq(strings.TrimSuffix(members, "}"), ",") {
		lines = append(lines, key+"."+member)
	}
	return lines
}
