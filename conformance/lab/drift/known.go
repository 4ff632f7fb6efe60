package drift

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/fixtures"
)

// KnownChange is a change between two versions of a runtime that was found by hand. To may be
// "newest": the change shows in each version since.
type KnownChange struct {
	Runtime, From, To string
	Change            string

	// The finding that must report it; what is a regular expression over "what: detail".
	level Level
	sort  Sort
	what  string
}

var knownChanges = []KnownChange{
	{"codex", "0.98.0", "0.120.0", "legacy `codex/event/*` notifications are no longer sent", LevelWire, Gone, `^message codex/event/agent_message_delta$`},
	{"codex", "0.98.0", "0.120.0", "turn ids are UUIDs, not 0, 1, …", LevelWire, Changed, `^field params\.turn(\.id|Id): digits → uuid`},
	{"codex", "0.120.0", "newest", "`turn.rootTurnId` is new", LevelWire, Added, `^field params\.turn\.rootTurnId`},
	{"codex", "0.120.0", "newest", "`emittedAtMs` is on every notification", LevelWire, Added, `^field emittedAtMs`},
	{"codex", "0.120.0", "newest", "items have `startedAtMs` and `completedAtMs`", LevelWire, Added, `^field params\.item\.(startedAtMs|completedAtMs)`},
	{"codex", "0.120.0", "newest", "`contentTokenCount` is new", LevelWire, Added, `^field params\.contentTokenCount`},
	{"codex", "0.98.0", "0.120.0", "`thread/status/changed` is new", LevelWire, Added, `^message thread/status/changed`},
	{"codex", "0.98.0", "0.120.0", "`serverRequest/resolved` is new", LevelWire, Added, `^message serverRequest/resolved`},
	{"codex", "0.98.0", "0.120.0", "turns have `startedAt`, `completedAt`, `durationMs`", LevelWire, Added, `^field (params|result)\.turn\.startedAt`},
	{"codex", "0.120.0", "newest", "`turn/completed` holds the last message", LevelWire, Added, `^field params\.turn\.items\[\]`},
	{"codex", "0.120.0", "newest", "`thread/rollback` is removed", LevelSchema, Gone, `^request thread/rollback$`},
	{"codex", "0.120.0", "newest", "`thread/revert` is new", LevelSchema, Added, `^request thread/revert$`},
	{"codex", "0.98.0", "0.120.0", "`turn/steer` is new", LevelSchema, Added, `^request turn/steer$`},
	{"codex", "0.120.0", "newest", "`thread/compacted` is no longer sent", LevelWire, Gone, `^message thread/compacted`},
	{"codex", "0.120.0", "newest", "`item/fileChange/outputDelta` is no longer sent", LevelWire, Gone, `^message item/fileChange/outputDelta`},
	{"codex", "0.98.0", "0.120.0", "a command's `item/started` comes before the question about it", LevelWire, Reordered, `item/commandExecution/requestApproval and item/started\(commandExecution\)`},
	{"codex", "0.98.0", "0.120.0", "questions list `availableDecisions`", LevelWire, Added, `^field params\.availableDecisions`},
	{"codex", "0.120.0", "newest", "the approval policy `on-failure` is refused", LevelSchema, Gone, `^value AskForApproval="on-failure"$`},
	{"codex", "0.98.0", "0.120.0", "commands have a `source`", LevelWire, Added, `^field params\.item\.source`},
	{"codex", "0.120.0", "newest", "commands have a `pluginId` and a `scriptPath`", LevelWire, Added, `^field params\.item\.(pluginId|scriptPath)`},
	{"codex", "0.120.0", "newest", "read paths are absolute", LevelEvents, Changed, `^member file_path of tool_(start|result)`},
	{"codex", "0.98.0", "0.120.0", "the calls of version 1 (newConversation, sendUserTurn …) are removed", LevelSchema, Gone, `^request (newConversation|sendUserTurn)$`},
	{"codex", "0.98.0", "0.120.0", "item types dynamicToolCall, hookPrompt, imageGeneration are new", LevelSchema, Added, `^type ThreadItem\.(dynamicToolCall|hookPrompt|imageGeneration)`},
	{"codex", "0.120.0", "newest", "item types functionCallOutput, sleep, subAgentActivity are new", LevelSchema, Added, `^type ThreadItem\.(functionCallOutput|sleep|subAgentActivity)`},
	{"claude", "2.1.197", "newest", "`background_tasks_changed` is new", LevelWire, Added, `^message system/background_tasks_changed`},
	{"claude", "2.1.197", "newest", "`is_backgrounded` is new", LevelWire, Added, `^field is_backgrounded`},
	{"claude", "2.1.197", "newest", "messages of sub-agents have an `agent_id`", LevelWire, Added, `^field agent_id`},
	{"claude", "2.1.197", "newest", "a broken stream is reported and retried as a stream", LevelWire, Added, `^message system/api_retry`},
	{"claude", "2.1.197", "newest", "the abandoned blocks of a broken stream are closed and named", LevelWire, Added, `^field abandoned_blocks`},
	{"claude", "2.1.197", "newest", "`command_lifecycle` is new", LevelWire, Added, `^message command_lifecycle`},
	{"claude", "2.1.197", "newest", "`user_message_uuid(s)` are new", LevelWire, Added, `^field user_message_uuids?`},
	{"claude", "2.1.197", "newest", "`result_index` and `queued_turn_count` are new", LevelWire, Added, `^field (result_index|queued_turn_count)`},
	{"claude", "2.1.197", "newest", "`model_usage_since_last_result` is new", LevelWire, Added, `^field model_usage_since_last_result`},
	{"claude", "2.1.197", "newest", "`tool_result_meta` is new", LevelWire, Added, `^field tool_result_meta`},
	{"claude", "2.1.197", "newest", "`assistant.aborted` is new", LevelWire, Added, `^field aborted`},
	{"claude", "2.1.197", "newest", "`assistant.timestamp` is new", LevelWire, Added, `^field timestamp`},
	{"claude", "2.1.197", "newest", "`stream_event.api_message_id` is new", LevelWire, Added, `^field api_message_id`},
	{"claude", "2.1.197", "newest", "`can_use_tool.requires_user_interaction` is new", LevelWire, Added, `^field request\.requires_user_interaction`},
	{"claude", "2.1.197", "newest", "`TaskCreate`, `TaskUpdate` … are no longer among the default tools", LevelWire, Changed, `^values of tools\[\]: .*-Task(Create|Get|List|Update)`},
	{"claude", "2.1.197", "newest", "`list_models` is answered", LevelWire, Added, `^request list_models`},
}

// showKnownChanges matches the scenarios in which the known changes show.
var showKnownChanges = regexp.MustCompile(`^(text/plain$|tool/(one|command|parallel)|permission/(allow|deny)$|(subagent|background|compaction|stop|file)/|model/cut-|question/one$)`)

// FoundChange is a known change with the finding that reports it; "" if none does.
type FoundChange struct {
	KnownChange
	Finding string
}

// FindKnownChanges compares the recordings of the versions of the known changes, of all
// scenarios or of those in which they show. references has the subject of each runtime.
func FindKnownChanges(ctx context.Context, corpus fixtures.Corpus, references map[string]conformance.Subject, whole bool) ([]FoundChange, error) {
	scenarios, err := corpus.Scenarios()
	if err != nil {
		return nil, err
	}
	if !whole {
		scenarios = slices.DeleteFunc(scenarios, func(s *fixtures.Scenario) bool { return !showKnownChanges.MatchString(s.ID) })
	}
	reports := map[[3]string]*Report{}
	var out []FoundChange
	for _, k := range knownChanges {
		_, k.To, _ = fixtures.SplitCaseID(corpus.Resolve(k.Runtime + "/" + k.To))
		pair := [3]string{k.Runtime, k.From, k.To}
		if reports[pair] == nil {
			cfg := Config{Runtime: k.Runtime, Scenarios: scenarios, Checks: checks.All(), Subject: references[k.Runtime]}
			for version, side := range map[string]*Side{k.From: &cfg.From, k.To: &cfg.To} {
				if *side, err = storedWithSchema(corpus, scenarios, k.Runtime, version); err != nil {
					return nil, err
				}
			}
			if reports[pair], err = Compare(ctx, cfg); err != nil {
				return nil, err
			}
		}
		out = append(out, FoundChange{k, k.findingIn(reports[pair])})
	}
	return out, nil
}

func storedWithSchema(corpus fixtures.Corpus, scenarios []*fixtures.Scenario, runtime, version string) (Side, error) {
	side, ok, err := Stored(corpus, scenarios, runtime, version)
	if err == nil && !ok {
		err = fmt.Errorf("the corpus has no recordings of %s %s", runtime, version)
	}
	if err != nil {
		return side, err
	}
	side.Schema, err = StoredSchema(corpus, runtime, version)
	if err == nil && side.Schema == nil {
		err = fmt.Errorf("the corpus has no schema of %s %s", runtime, version)
	}
	return side, err
}

// findingIn returns the finding of a report that reports the change, or "".
func (k KnownChange) findingIn(r *Report) string {
	what := regexp.MustCompile(k.what)
	for _, c := range r.Changes {
		text := c.What
		if c.Detail != "" {
			text += ": " + c.Detail
		}
		if c.Level == k.level && c.Sort == k.sort && what.MatchString(text) {
			first, _, _ := strings.Cut(text, "\n")
			return fmt.Sprintf("%s: %s `%s`", c.Level, c.Sort, first)
		}
	}
	return ""
}
