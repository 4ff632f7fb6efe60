package codex

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/mapping"
)

// The kinds of messages, as in the runtime's schema.
const (
	kindNotification = "notification"
	kindRequest      = "server-request"
	kindItem         = "item"
)

// Mapping lists every message of the runtime, in all versions, with the events
// that it becomes. doc.go describes them in detail. A name may end in *.
func Mapping() []adapters.Mapped {
	return slices.Concat(
		mapping.Mapped(kindNotification, "turn_start, thinking", "turn/started"),
		mapping.Mapped(kindNotification, "result and done, or error", "turn/completed"),
		mapping.Mapped(kindNotification, "by the item's type", "item/started", "item/completed"),
		mapping.Mapped(kindNotification, "delta", "item/agentMessage/delta", "item/plan/delta"),
		mapping.Mapped(kindNotification, "thinking", "item/reasoning/textDelta", "item/reasoning/summaryTextDelta"),
		mapping.Mapped(kindNotification, "tool_output; after the turn task", "item/commandExecution/outputDelta"),
		mapping.Mapped(kindNotification, "tool_output", "item/fileChange/outputDelta"),
		mapping.Mapped(kindNotification, "tool_progress", "item/mcpToolCall/progress"),
		mapping.Mapped(kindNotification, "plan", "turn/plan/updated"),
		mapping.Mapped(kindNotification, "usage", "thread/tokenUsage/updated"),
		mapping.Mapped(kindNotification, "compaction", "thread/compacted"),
		mapping.Mapped(kindNotification, "block_end retracted and notice retry; turn/completed reports the error itself", "error"),
		mapping.Mapped(kindNotification, "permission_resolved, interrupt_resolved", "serverRequest/resolved"),
		mapping.Mapped(kindNotification, "model_changed", "model/rerouted"),
		mapping.Mapped(kindNotification, "model_changed, mode_changed", "thread/settings/updated"),
		mapping.Mapped(kindNotification, "notice", "warning", "guardianWarning", "configWarning", "windows/worldWritableWarning",
			"deprecationNotice"),
		mapping.Mapped(kindNotification, "notice if it failed; nothing waits for a successful start", "mcpServer/startupStatus/updated"),
		mapping.Mapped(kindNotification, "session_ready of a transcript; live, the reply reports it", "thread/started"),
		mapping.Mapped(kindRequest, "permission_request", "item/commandExecution/requestApproval", "execCommandApproval",
			"item/fileChange/requestApproval", "applyPatchApproval", "item/permissions/requestApproval"),
		mapping.Mapped(kindRequest, "permission_request of an MCP tool, else interrupt", "mcpServer/elicitation/request"),
		mapping.Mapped(kindRequest, "interrupt", "item/tool/requestUserInput"),
		mapping.Mapped(kindRequest, "the client's tool runs; tool_start and tool_result if there is no item", "item/tool/call"),
		mapping.Mapped(kindRequest, "an error reply at once, notice", "attestation/generate", "currentTime/read",
			"account/chatgptAuthTokens/refresh"),
		mapping.Mapped(kindItem, "user_message", "userMessage"),
		mapping.Mapped(kindItem, "delta, block_end", "agentMessage", "plan"),
		mapping.Mapped(kindItem, "thinking", "reasoning"),
		mapping.Mapped(kindItem, "tool_start, tool_result", "commandExecution", "fileChange", "mcpToolCall", "dynamicToolCall", "functionCall",
			"functionCallOutput", "webSearch", "imageView", "imageGeneration", "sleep"),
		mapping.Mapped(kindItem, "tool_start, tool_result, task", "collabAgentToolCall", "subAgentActivity"),
		mapping.Mapped(kindItem, "compaction", "contextCompaction"),
		mapping.Ignored(kindItem, "a message with the same text follows it, however the review ends", "exitedReviewMode"),
		mapping.Ignored(kindItem, "the turn continues like any other", "enteredReviewMode"),
		mapping.Ignored(kindItem, "text from a hook to the model", "hookPrompt"),
		mapping.Ignored(kindNotification, "turns and requests report it, with their ids", "thread/status/changed"),
		mapping.Ignored(kindNotification, "the file changes report it, each once", "turn/diff/updated"),
		mapping.Ignored(kindNotification, "it precedes its item, with other paths; the item is complete", "item/fileChange/patchUpdated"),
		mapping.Ignored(kindNotification, "the deltas contain the part's index", "item/reasoning/summaryPartAdded", "reasoning/summaryPartAdded"),
		mapping.Ignored(kindNotification, "0.98 repeats each event once or twice in this old form", "codex/event/*"),
		mapping.Ignored(kindNotification, "repeats the model's items", "rawResponseItem/completed", "rawResponse/completed"),
		mapping.Ignored(kindNotification, "an old form of other messages", "sessionConfigured", "authStatusChange", "loginChatGptComplete"),
		mapping.Ignored(kindNotification, "the client's own list of threads, and its settings", "thread/readState/changed", "thread/archived",
			"thread/unarchived", "thread/deleted", "thread/closed", "thread/reverted", "thread/name/updated", "thread/section/changed",
			"thread/attachment/updated", "thread/goal/updated", "thread/goal/cleared", "thread/prediction/updated", "thread/queue/changed",
			"thread/project/updated", "thread/environment/connected", "thread/environment/disconnected", "project/changed"),
		mapping.Ignored(kindNotification, "it follows requests that this adapter never sends", "account/updated", "account/gatewayOAuth/changed",
			"account/rateLimits/updated", "account/login/completed", "app/list/updated", "skills/changed", "remoteControl/status/changed",
			"fs/changed", "fuzzyFileSearch/sessionUpdated", "fuzzyFileSearch/sessionCompleted", "externalAgentConfig/import/progress",
			"externalAgentConfig/import/completed", "mcpServer/oauthLogin/completed", "mcpServer/event/stream/notification",
			"windowsSandbox/setupCompleted", "thread/search/partial"),
		mapping.Ignored(kindNotification, "commands of the client, not of the agent", "command/exec/outputDelta", "process/outputDelta",
			"process/exited"),
		mapping.Ignored(kindNotification, "voice, which has no event", "thread/realtime/*"),
		mapping.Ignored(kindNotification, "the user's own hooks", "hook/started", "hook/completed"),
		mapping.Ignored(kindNotification, "the runtime decides; the item shows the decision", "item/autoApprovalReview/started",
			"item/autoApprovalReview/completed", "autoApprovalReview/strictReviewRequired"),
		mapping.Ignored(kindNotification, "input of the model to a command has no item and no event",
			"item/commandExecution/terminalInteraction"),
		mapping.Ignored(kindNotification, "the provider's bookkeeping", "model/verification", "model/safetyBuffering/updated",
			"modelProvider/authRecoveryStarted", "modelProvider/authRecoveryCompleted", "turn/moderationMetadata"),
	)
}

// ignoredNames and ignoredPrefixes index the notifications that Mapping ignores.
var ignoredNames, ignoredPrefixes = func() (map[string]bool, []string) {
	names, prefixes := map[string]bool{}, []string(nil)
	for _, m := range Mapping() {
		switch p, many := strings.CutSuffix(m.Name, "*"); {
		case m.Kind != kindNotification || m.Ignored == "":
		case many:
			prefixes = append(prefixes, p)
		default:
			names[m.Name] = true
		}
	}
	return names, prefixes
}()

// isIgnored reports whether a notification is known and becomes no event.
func isIgnored(method string) bool {
	return ignoredNames[method] || slices.ContainsFunc(ignoredPrefixes, func(p string) bool { return strings.HasPrefix(method, p) })
}
