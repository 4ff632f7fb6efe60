package codex

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
)

// The kinds of messages, as in the runtime's schema.
const (
	kindNotification = "notification"
	kindRequest      = "server-request"
	kindItem         = "item"
)

// mappedKinds are the messages that become events. doc.go describes them in
// detail.
var mappedKinds = []adapters.Mapped{
	{Kind: kindNotification, Name: "turn/started", Event: "turn_start, thinking"},
	{Kind: kindNotification, Name: "turn/completed", Event: "result and done, or error"},
	{Kind: kindNotification, Name: "item/started", Event: "by the item's type"},
	{Kind: kindNotification, Name: "item/completed", Event: "by the item's type"},
	{Kind: kindNotification, Name: "item/agentMessage/delta", Event: "delta"},
	{Kind: kindNotification, Name: "item/plan/delta", Event: "delta"},
	{Kind: kindNotification, Name: "item/reasoning/textDelta", Event: "thinking"},
	{Kind: kindNotification, Name: "item/reasoning/summaryTextDelta", Event: "thinking"},
	{Kind: kindNotification, Name: "item/commandExecution/outputDelta", Event: "tool_output; after the turn task"},
	{Kind: kindNotification, Name: "item/fileChange/outputDelta", Event: "tool_output"},
	{Kind: kindNotification, Name: "turn/plan/updated", Event: "plan"},
	{Kind: kindNotification, Name: "thread/tokenUsage/updated", Event: "usage"},
	{Kind: kindNotification, Name: "thread/compacted", Event: "compaction"},
	{Kind: kindNotification, Name: "error", Event: "block_end retracted and notice retry; turn/completed reports the error itself"},
	{Kind: kindNotification, Name: "serverRequest/resolved", Event: "permission_resolved, interrupt_resolved"},
	{Kind: kindNotification, Name: "model/rerouted", Event: "model_changed"},
	{Kind: kindNotification, Name: "thread/settings/updated", Event: "model_changed, mode_changed"},
	{Kind: kindNotification, Name: "warning", Event: "notice"},
	{Kind: kindNotification, Name: "guardianWarning", Event: "notice"},
	{Kind: kindNotification, Name: "configWarning", Event: "notice"},
	{Kind: kindNotification, Name: "windows/worldWritableWarning", Event: "notice"},
	{Kind: kindNotification, Name: "deprecationNotice", Event: "notice"},
	{Kind: kindNotification, Name: "mcpServer/startupStatus/updated", Event: "notice if it failed; nothing waits for a successful start"},
	{Kind: kindNotification, Name: "thread/started", Event: "session_ready of a transcript; live, the reply reports it"},
	{Kind: kindRequest, Name: "item/commandExecution/requestApproval", Event: "permission_request"},
	{Kind: kindRequest, Name: "execCommandApproval", Event: "permission_request"},
	{Kind: kindRequest, Name: "item/fileChange/requestApproval", Event: "permission_request"},
	{Kind: kindRequest, Name: "applyPatchApproval", Event: "permission_request"},
	{Kind: kindRequest, Name: "item/permissions/requestApproval", Event: "permission_request"},
	{Kind: kindRequest, Name: "mcpServer/elicitation/request", Event: "permission_request of an MCP tool, else interrupt"},
	{Kind: kindRequest, Name: "item/tool/requestUserInput", Event: "interrupt"},
	{Kind: kindRequest, Name: "item/tool/call", Event: "the client's tool runs; tool_start and tool_result if there is no item"},
	{Kind: kindRequest, Name: "attestation/generate", Event: "an error reply at once, notice"},
	{Kind: kindRequest, Name: "currentTime/read", Event: "an error reply at once, notice"},
	{Kind: kindRequest, Name: "account/chatgptAuthTokens/refresh", Event: "an error reply at once, notice"},
	{Kind: kindItem, Name: "userMessage", Event: "user_message"},
	{Kind: kindItem, Name: "agentMessage", Event: "delta, block_end"},
	{Kind: kindItem, Name: "plan", Event: "delta, block_end"},
	{Kind: kindItem, Name: "reasoning", Event: "thinking"},
	{Kind: kindItem, Name: "commandExecution", Event: "tool_start, tool_result"},
	{Kind: kindItem, Name: "fileChange", Event: "tool_start, tool_result"},
	{Kind: kindItem, Name: "mcpToolCall", Event: "tool_start, tool_result"},
	{Kind: kindItem, Name: "dynamicToolCall", Event: "tool_start, tool_result"},
	{Kind: kindItem, Name: "functionCall", Event: "tool_start, tool_result"},
	{Kind: kindItem, Name: "functionCallOutput", Event: "tool_start, tool_result"},
	{Kind: kindItem, Name: "webSearch", Event: "tool_start, tool_result"},
	{Kind: kindItem, Name: "imageView", Event: "tool_start, tool_result"},
	{Kind: kindItem, Name: "imageGeneration", Event: "tool_start, tool_result"},
	{Kind: kindItem, Name: "sleep", Event: "tool_start, tool_result"},
	{Kind: kindItem, Name: "collabAgentToolCall", Event: "tool_start, tool_result, task"},
	{Kind: kindItem, Name: "subAgentActivity", Event: "tool_start, tool_result, task"},
	{Kind: kindItem, Name: "contextCompaction", Event: "compaction"},
	{Kind: kindItem, Name: "exitedReviewMode", Ignored: "a message with the same text follows it, however the review ends"},
	{Kind: kindItem, Name: "enteredReviewMode", Ignored: "the turn continues like any other"},
	{Kind: kindItem, Name: "hookPrompt", Ignored: "text from a hook to the model"},
}

// ignoredNotifications are the known notifications without an event, by reason.
var ignoredNotifications = []struct {
	why   string
	names []string
}{
	{"turns and requests report it, with their ids", []string{
		"thread/status/changed",
	}},
	{"the file changes report it, each once", []string{
		"turn/diff/updated",
	}},
	{"it precedes its item, with other paths; the item is complete", []string{
		"item/fileChange/patchUpdated",
	}},
	{"the deltas contain the part's index", []string{
		"item/reasoning/summaryPartAdded", "reasoning/summaryPartAdded",
	}},
	{"0.98 repeats each event once or twice in this old form", []string{
		"codex/event/*",
	}},
	{"repeats the model's items", []string{
		"rawResponseItem/completed", "rawResponse/completed",
	}},
	{"an old form of other messages", []string{
		"sessionConfigured", "authStatusChange", "loginChatGptComplete",
	}},
	{"the client's own list of threads, and its settings", []string{
		"thread/readState/changed", "thread/archived", "thread/unarchived", "thread/deleted", "thread/closed", "thread/reverted",
		"thread/name/updated", "thread/section/changed", "thread/attachment/updated", "thread/goal/updated",
		"thread/goal/cleared", "thread/prediction/updated", "thread/queue/changed", "thread/project/updated",
		"thread/environment/connected", "thread/environment/disconnected", "project/changed",
	}},
	{"it follows requests that this adapter never sends", []string{
		"account/updated", "account/gatewayOAuth/changed", "account/rateLimits/updated", "account/login/completed",
		"app/list/updated", "skills/changed", "remoteControl/status/changed", "fs/changed", "fuzzyFileSearch/sessionUpdated",
		"fuzzyFileSearch/sessionCompleted", "externalAgentConfig/import/progress", "externalAgentConfig/import/completed",
		"mcpServer/oauthLogin/completed", "mcpServer/event/stream/notification", "windowsSandbox/setupCompleted",
	}},
	{"commands of the client, not of the agent", []string{
		"command/exec/outputDelta", "process/outputDelta", "process/exited",
	}},
	{"voice, which has no event", []string{
		"thread/realtime/*",
	}},
	{"the user's own hooks", []string{
		"hook/started", "hook/completed",
	}},
	{"the runtime decides; the item shows the decision", []string{
		"item/autoApprovalReview/started", "item/autoApprovalReview/completed", "autoApprovalReview/strictReviewRequired",
	}},
	{"input of the model to a command has no item and no event", []string{
		"item/commandExecution/terminalInteraction",
	}},
	{"progress text of a server, not output", []string{
		"item/mcpToolCall/progress",
	}},
	{"the provider's bookkeeping", []string{
		"model/verification", "model/safetyBuffering/updated", "modelProvider/authRecoveryStarted",
		"modelProvider/authRecoveryCompleted", "turn/moderationMetadata",
	}},
}

// ignoredNames and ignoredPrefixes index ignoredNotifications.
var ignoredNames, ignoredPrefixes = func() (map[string]bool, []string) {
	names, prefixes := map[string]bool{}, []string(nil)
	for _, s := range ignoredNotifications {
		for _, n := range s.names {
			if p, many := strings.CutSuffix(n, "*"); many {
				prefixes = append(prefixes, p)
			} else {
				names[n] = true
			}
		}
	}
	return names, prefixes
}()

// isIgnored reports whether a notification is known and becomes no event.
func isIgnored(method string) bool {
	return ignoredNames[method] || slices.ContainsFunc(ignoredPrefixes, func(p string) bool { return strings.HasPrefix(method, p) })
}

// Mapping lists every message of the runtime, in all versions, with the events
// that it becomes.
func Mapping() []adapters.Mapped {
	out := slices.Clone(mappedKinds)
	for _, s := range ignoredNotifications {
		for _, n := range s.names {
			out = append(out, adapters.Mapped{Kind: kindNotification, Name: n, Ignored: s.why})
		}
	}
	return out
}
