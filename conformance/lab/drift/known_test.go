package drift_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/drift"
	"github.com/turnspec/turnspec/conformance/report/table"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

var update = flag.Bool("update", false, "write KNOWN.md")

// known is a change that was measured by hand, and the finding that must report it:
// level, sort, and what, a regular expression over "what: detail".
type known struct {
	runtime, from, to string
	change            string
	level             drift.Level
	sort              drift.Sort
	what              string
}

var knownChanges = []known{
	{"codex", "0.98.0", "0.120.0", "legacy `codex/event/*` notifications are no longer sent", drift.LevelWire, drift.Gone, `^message codex/event/agent_message_delta$`},
	{"codex", "0.98.0", "0.120.0", "turn ids are UUIDs, not 0, 1, …", drift.LevelWire, drift.Changed, `^field params\.turn(\.id|Id): digits → uuid`},
	{"codex", "0.120.0", "0.169.0", "`turn.rootTurnId` is new", drift.LevelWire, drift.Added, `^field params\.turn\.rootTurnId`},
	{"codex", "0.120.0", "0.169.0", "`emittedAtMs` is on every notification", drift.LevelWire, drift.Added, `^field emittedAtMs`},
	{"codex", "0.120.0", "0.169.0", "items have `startedAtMs` and `completedAtMs`", drift.LevelWire, drift.Added, `^field params\.item\.(startedAtMs|completedAtMs)`},
	{"codex", "0.120.0", "0.169.0", "`contentTokenCount` is new", drift.LevelWire, drift.Added, `^field params\.contentTokenCount`},
	{"codex", "0.98.0", "0.120.0", "`thread/status/changed` is new", drift.LevelWire, drift.Added, `^message thread/status/changed`},
	{"codex", "0.98.0", "0.120.0", "`serverRequest/resolved` is new", drift.LevelWire, drift.Added, `^message serverRequest/resolved`},
	{"codex", "0.98.0", "0.120.0", "turns have `startedAt`, `completedAt`, `durationMs`", drift.LevelWire, drift.Added, `^field (params|result)\.turn\.startedAt`},
	{"codex", "0.120.0", "0.169.0", "`turn/completed` holds the last message", drift.LevelWire, drift.Added, `^field params\.turn\.items\[\]`},
	{"codex", "0.120.0", "0.169.0", "`thread/rollback` is removed", drift.LevelSchema, drift.Gone, `^request thread/rollback$`},
	{"codex", "0.120.0", "0.169.0", "`thread/revert` is new", drift.LevelSchema, drift.Added, `^request thread/revert$`},
	{"codex", "0.98.0", "0.120.0", "`turn/steer` is new", drift.LevelSchema, drift.Added, `^request turn/steer$`},
	{"codex", "0.120.0", "0.169.0", "`thread/compacted` is no longer sent", drift.LevelWire, drift.Gone, `^message thread/compacted`},
	{"codex", "0.120.0", "0.169.0", "`item/fileChange/outputDelta` is no longer sent", drift.LevelWire, drift.Gone, `^message item/fileChange/outputDelta`},
	{"codex", "0.98.0", "0.120.0", "a command's `item/started` comes before the question about it", drift.LevelWire, drift.Reordered, `item/commandExecution/requestApproval and item/started\(commandExecution\)`},
	{"codex", "0.98.0", "0.120.0", "questions list `availableDecisions`", drift.LevelWire, drift.Added, `^field params\.availableDecisions`},
	{"codex", "0.120.0", "0.169.0", "the approval policy `on-failure` is refused", drift.LevelSchema, drift.Gone, `^value AskForApproval="on-failure"$`},
	{"codex", "0.98.0", "0.120.0", "commands have a `source`", drift.LevelWire, drift.Added, `^field params\.item\.source`},
	{"codex", "0.120.0", "0.169.0", "commands have a `pluginId` and a `scriptPath`", drift.LevelWire, drift.Added, `^field params\.item\.(pluginId|scriptPath)`},
	{"codex", "0.120.0", "0.169.0", "read paths are absolute", drift.LevelEvents, drift.Changed, `^member file_path of tool_(start|result)`},
	{"codex", "0.98.0", "0.120.0", "the calls of version 1 (newConversation, sendUserTurn …) are removed", drift.LevelSchema, drift.Gone, `^request (newConversation|sendUserTurn)$`},
	{"codex", "0.98.0", "0.120.0", "item types dynamicToolCall, hookPrompt, imageGeneration are new", drift.LevelSchema, drift.Added, `^type ThreadItem\.(dynamicToolCall|hookPrompt|imageGeneration)`},
	{"codex", "0.120.0", "0.169.0", "item types functionCallOutput, sleep, subAgentActivity are new", drift.LevelSchema, drift.Added, `^type ThreadItem\.(functionCallOutput|sleep|subAgentActivity)`},
	{"claude", "2.1.197", "2.1.329", "`background_tasks_changed` is new", drift.LevelWire, drift.Added, `^message system/background_tasks_changed`},
	{"claude", "2.1.197", "2.1.329", "`is_backgrounded` is new", drift.LevelWire, drift.Added, `^field is_backgrounded`},
	{"claude", "2.1.197", "2.1.329", "messages of sub-agents have an `agent_id`", drift.LevelWire, drift.Added, `^field agent_id`},
	{"claude", "2.1.197", "2.1.329", "a broken stream is reported and retried as a stream", drift.LevelWire, drift.Added, `^message system/api_retry`},
	{"claude", "2.1.197", "2.1.329", "the abandoned blocks of a broken stream are closed and named", drift.LevelWire, drift.Added, `^field abandoned_blocks`},
	{"claude", "2.1.197", "2.1.329", "`command_lifecycle` is new", drift.LevelWire, drift.Added, `^message command_lifecycle`},
	{"claude", "2.1.197", "2.1.329", "`user_message_uuid(s)` are new", drift.LevelWire, drift.Added, `^field user_message_uuids?`},
	{"claude", "2.1.197", "2.1.329", "`result_index` and `queued_turn_count` are new", drift.LevelWire, drift.Added, `^field (result_index|queued_turn_count)`},
	{"claude", "2.1.197", "2.1.329", "`model_usage_since_last_result` is new", drift.LevelWire, drift.Added, `^field model_usage_since_last_result`},
	{"claude", "2.1.197", "2.1.329", "`tool_result_meta` is new", drift.LevelWire, drift.Added, `^field tool_result_meta`},
	{"claude", "2.1.197", "2.1.329", "`assistant.aborted` is new", drift.LevelWire, drift.Added, `^field aborted`},
	{"claude", "2.1.197", "2.1.329", "`assistant.timestamp` is new", drift.LevelWire, drift.Added, `^field timestamp`},
	{"claude", "2.1.197", "2.1.329", "`stream_event.api_message_id` is new", drift.LevelWire, drift.Added, `^field api_message_id`},
	{"claude", "2.1.197", "2.1.329", "`can_use_tool.requires_user_interaction` is new", drift.LevelWire, drift.Added, `^field request\.requires_user_interaction`},
	{"claude", "2.1.197", "2.1.329", "`TaskCreate`, `TaskUpdate` … are no longer among the default tools", drift.LevelWire, drift.Changed, `^values of tools\[\]: .*-Task(Create|Get|List|Update)`},
	{"claude", "2.1.197", "2.1.329", "`list_models` is answered", drift.LevelWire, drift.Added, `^request list_models`},
}

// reports compares the pairs of versions in the corpus, each once.
func reports(t *testing.T) map[string]*drift.Report {
	t.Helper()
	out := map[string]*drift.Report{}
	c := fixtures.Embedded()
	scenarios, err := c.Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	if !whole() {
		scenarios = slices.DeleteFunc(scenarios, func(s *fixtures.Scenario) bool { return !telling.MatchString(s.ID) })
	}
	references := map[string]adapters.Adapter{"codex": codex.New(), "claude": claude.New()}
	for _, k := range knownChanges {
		if out[pairOf(k)] != nil {
			continue
		}
		cfg := drift.Config{
			Runtime: k.runtime, Scenarios: scenarios, Checks: checks.All(),
			Subject: backend.Adapter(k.runtime, references[k.runtime]),
		}
		for version, side := range map[string]*drift.Side{k.from: &cfg.From, k.to: &cfg.To} {
			got, ok, err := drift.Stored(c, scenarios, k.runtime, version)
			if err != nil || !ok {
				t.Fatalf("the corpus holds no %s %s: %v", k.runtime, version, err)
			}
			if got.Schema, err = drift.StoredSchema(c, k.runtime, version); err != nil || got.Schema == nil {
				t.Fatalf("the corpus holds no schema of %s %s: %v", k.runtime, version, err)
			}
			*side = got
		}
		rep, err := drift.Compare(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		out[pairOf(k)] = rep
	}
	return out
}

func pairOf(k known) string { return k.runtime + " " + k.from + " " + k.to }

// whole reports whether to compare all recordings, as `make matrix` does, and not only those
// of the telling scenarios.
func whole() bool { return *update || racesample.Whole() }

// telling matches the scenarios in which the known changes show.
var telling = regexp.MustCompile(`^(text/plain$|tool/(one|command|parallel)|permission/(allow|deny)$|(subagent|background|compaction|stop|file)/|model/cut-|question/one$)`)

// rare is the part of a finding that depends on the number of scenarios.
const rare = " (rare now)"

// TestKnownChangesAreFound checks that each change that was measured by hand is
// found, and that KNOWN.md shows the finding.
func TestKnownChangesAreFound(t *testing.T) {
	if racesample.Enabled {
		t.Skip("it runs the whole corpus, which takes minutes with the race detector")
	}
	reps := reports(t)
	var b strings.Builder
	b.WriteString("# Known changes and the findings that report them\n\nWritten by `go test ./conformance/lab/drift -run TestKnownChangesAreFound -update`; the test fails if one is no longer found.\n\n")
	var rows [][]string
	for _, k := range knownChanges {
		what := regexp.MustCompile(k.what)
		finding := ""
		for _, c := range reps[pairOf(k)].Changes {
			text := c.What
			if c.Detail != "" {
				text += ": " + c.Detail
			}
			if c.Level == k.level && c.Sort == k.sort && what.MatchString(text) {
				first, _, _ := strings.Cut(text, "\n")
				finding = fmt.Sprintf("%s: %s `%s`", c.Level, c.Sort, first)
				break
			}
		}
		if finding == "" {
			t.Errorf("%s %s → %s: %s: nothing of level %s, sort %s matches %q", k.runtime, k.from, k.to, k.change, k.level, k.sort, k.what)
		}
		rows = append(rows, []string{k.runtime, k.from, k.to, k.change, finding})
	}
	table.New(&b).Markdown([]string{"runtime", "from", "to", "known change", "finding"}, rows)
	if *update {
		if err := os.WriteFile("KNOWN.md", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile("KNOWN.md")
	want, got := string(stored), b.String()
	if !whole() {
		want, got = strings.ReplaceAll(want, rare, ""), strings.ReplaceAll(got, rare, "")
	}
	if err != nil || want != got {
		t.Errorf("KNOWN.md differs from what is found now: go test ./conformance/lab/drift -run TestKnownChangesAreFound -update (%v)", err)
	}
}
