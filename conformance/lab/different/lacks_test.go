package different

import (
	"reflect"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// without returns an adapter whose events lack types and members.
func without(name, sentence string, what ...string) Adapter {
	return Adapter{Name: name, Sentence: sentence, Lacks: what, Events: each(func(e event.Event, out func(event.Event)) {
		if slices.Contains(what, string(e.Type())) {
			return
		}
		e.Data = withoutMembers(e.Data, what)
		out(e)
	})}
}

var (
	withoutState   = without("without-state", "reports no queue, usage, plan, checkpoint, mode or model", "queue", "usage", "plan", "checkpoint", "mode_changed", "model_changed", "result", "compaction")
	withoutDetails = without("without-details", "reports no reasoning, tasks, block ends or notices", "thinking", "task", "block_end", "notice")
	withoutOutput  = without("without-output", "emits nothing about a tool before its end", "tool_output", "tool_progress")
	withoutFields  = without("without-fields", "repeats no part of a tool's input", "tool_start.command", "tool_start.file_path", "tool_start.pattern",
		"tool_start.search_path", "tool_start.is_file_read", "tool_start.message_id", "tool_result.exit_code", "tool_result.changes", "tool_result.file_path")
	withoutThinking = without("without-thinking", "reports no reasoning", "thinking")
	withoutResults  = without("without-results", "reports no result of a turn, and no reason of its end", "result", "done.reason")
	withoutCosts    = without("without-costs", "reports tokens, but neither costs nor the context", "usage.cost", "usage.context")
	withoutChoices  = without("without-choices", "names neither the options nor the reason of a question", "permission_request.options", "permission_request.reason")
	withoutMedia    = without("without-media", "reports no pictures, neither of the user nor of tools", "tool_result.media", "user_message.attachments")
	withoutTurnIDs  = without("without-runtime-turns", "names no turn of the runtime, and not its version", "turn_start.provider_turn_id", "session_ready.runtime_version")
)

// withoutMembers returns data without members.
func withoutMembers(d event.Data, what []string) event.Data {
	out := reflect.New(reflect.TypeOf(d)).Elem()
	out.Set(reflect.ValueOf(d))
	for i := range out.NumField() {
		name, _, _ := strings.Cut(out.Type().Field(i).Tag.Get("json"), ",")
		if slices.Contains(what, string(d.EventType())+"."+name) {
			out.Field(i).SetZero()
		}
	}
	return out.Interface().(event.Data) //nolint:forcetypeassert // it is of the type of d
}
