package compare

import (
	"regexp"
	"slices"
	"strings"
)

// noiseMembers are members that are dropped at any depth, with the reason.
var noiseMembers = map[string]string{
	"startedAt":             clock,
	"completedAt":           clock,
	"createdAt":             clock,
	"updatedAt":             clock,
	"recencyAt":             clock,
	"sectionEnteredAt":      clock,
	"timestamp":             clock,
	"end_time":              clock,
	"start_time":            clock,
	"elapsed":               clock,
	"elapsedSeconds":        clock,
	"elapsed_time_seconds":  clock,
	"duration":              clock,
	"durationSeconds":       clock,
	"wall_time_seconds":     clock,
	"resets_at":             clock,
	"resetsAt":              clock,
	"mtime":                 clock,
	"pid":                   "a process id",
	"messaging_socket_path": "named after a process id",
	"installationId":        "made for each home",
	"signature":             "of reasoning: the model server makes it",
	"wire-sha256":           "of the recording itself",
}

const clock = "depends on the clock"

// timingMembers end in a unit of time, but the client or the model chooses them.
var timingMembers = map[string]bool{"yield_time_ms": true, "timeout_ms": true, "timeoutMs": true, "autoResolutionMs": true}

// noiseSuffix covers emittedAtMs, startedAtMs, completedAtMs, durationMs,
// totalDurationMs, duration_ms, duration_api_ms, ttft_ms, ttft_stream_ms,
// time_to_request_ms, thinking_duration_ms, retry_delay_ms (it has jitter) ….
func noiseSuffix(name string) bool {
	return (strings.HasSuffix(name, "_ms") || strings.HasSuffix(name, "Ms")) && !timingMembers[name]
}

var emittedAt = regexp.MustCompile(`,?"emittedAtMs":\d+`)

// idMembers hold ids that a runtime makes.
var idMembers = map[string]bool{
	"uuid": true, "session_id": true, "sessionId": true, "threadId": true, "thread_id": true, "turnId": true, "turn_id": true,
	"rootTurnId": true, "root_turn_id": true, "itemId": true, "item_id": true, "request_id": true, "requestId": true,
	"task_id": true, "taskId": true, "run_id": true, "runId": true, "agent_id": true, "agentId": true, "callId": true,
	"call_id": true, "tool_use_id": true, "toolUseId": true, "parent_tool_use_id": true, "processId": true, "process_id": true,
	"api_message_id": true, "conversationId": true, "prompt_id": true, "expectedTurnId": true, "clientId": true,
	"clientUserMessageId": true, "backgroundTaskId": true, "shell_id": true, "forkedFromId": true, "parentThreadId": true,
	"attachedToThreadId": true, "agentThreadId": true, "senderThreadId": true, "receiverThreadIds": true,
	"user_message_uuid": true, "user_message_uuids": true, "command_uuid": true, "message_uuid": true, "leafUuid": true,
	"new_conversation_id": true, "hook_id": true, "turnsBackwardsCursor": true, "itemsBackwardsCursor": true,
	"nextCursor": true, "backwardsCursor": true, "agentNickname": true, "agent_nickname": true,
	"entryId": true, "parentId": true, "targetId": true, "firstKeptEntryId": true,
	"ref": true, // of a sub-agent that gets a message
}

// mintedID matches ids in members named "id", which hold names of models too. The last
// form is that of the entries of Pi's sessions.
var mintedID = regexp.MustCompile(`^(?:(?:msg|item|call|toolu|srvtoolu|req|resp|rs|fc|ctc|ws|exec|chatcmpl|run|plan|subagent)[_-]|[0-9a-f]{8}$)`)

const uuid = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`

// noiseTexts are parts of texts that depend on chance.
var noiseTexts = []struct {
	find *regexp.Regexp
	has  []string // each match contains one of them, which is faster to look for
	repl string
}{
	{regexp.MustCompile(`tool-results/[a-z0-9]+\.txt`), []string{"tool-results/"}, "tool-results/<file>"},                                         // where a long output is stored
	{regexp.MustCompile(`<elided:\d+>`), []string{"<elided:"}, "<elided>"},                                                                        // prose that holds a number varies in length
	{regexp.MustCompile(`Wall time: [\d.]+ seconds`), []string{"Wall time: "}, "Wall time: <t> seconds"},                                          // Codex, to the model
	{regexp.MustCompile(`Chunk ID: [0-9a-f]+`), []string{"Chunk ID: "}, "Chunk ID: <id>"},                                                         // Codex, to the model
	{regexp.MustCompile(`(nickname[\\"]+: ?[\\"]+)[\w .'-]+`), []string{"nickname"}, "$1<name>"},                                                  // Codex, to the model: a sub-agent's, by chance
	{regexp.MustCompile(`\bsha256:[0-9a-f]{64}\b`), []string{"sha256:"}, "sha256:<hash>"},                                                         // Codex, of a file that names the working directory
	{regexp.MustCompile(`session ID \d+`), []string{"session ID "}, "session ID <id>"},                                                            // Codex, to the model: a running command's handle
	{regexp.MustCompile(`((?:_ms|Ms)["\\]*: ?)\d+`), []string{"_ms", "Ms"}, "$1<t>"},                                                              // JSON or a trailer within a text
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:-\d{3}Z|(?:\.\d+)?Z?)`), []string{"T"}, "<time>"},                               // file names, logs
	{regexp.MustCompile(`\bpi-bash-[0-9a-f]+\.log`), []string{"pi-bash-"}, "pi-bash-<id>.log"},                                                    // where Pi stores a long output
	{regexp.MustCompile(`(Resuming agent )[0-9a-z]{7}\b`), []string{"Resuming agent "}, "$1<id>"},                                                 // Claude, to the model: the start of an id
	{regexp.MustCompile(`\.claude/plans/[\w-]+\.md`), []string{".claude/plans/"}, ".claude/plans/<plan>.md"},                                      // Claude names a plan by chance
	{regexp.MustCompile(`sessions/\d{4}/\d\d/\d\d/`), []string{"sessions/"}, "sessions/<date>/"},                                                  // Codex stores its threads by day
	{regexp.MustCompile(`\b\d+(?:\.\d+)?(?:ms|µs)\b`), []string{"ms", "µs"}, "<t>"},                                                               // durations
	{regexp.MustCompile(`\b(took|after|in) \d+(?:\.\d+)?(?: seconds|s)\b`), []string{"took ", "after ", "in "}, "$1 <t>"},                         // durations
	{regexp.MustCompile(`((?:127\.0\.0\.1|localhost|\[::1\]):)(?:\d{2,5}\b|<port>)`), []string{"127.0.0.1:", "localhost:", "[::1]:"}, "$1<port>"}, // a port of ours
	{regexp.MustCompile(`\([A-Z][\w ]* [\d.]+; (?:x86_64|aarch64|arm64)\)`), []string{"x86_64", "aarch64", "arm64"}, "(<system>)"},                // Codex's user agent names the machine's system
	{regexp.MustCompile(`cc-socks/\d+\.sock`), []string{"cc-socks/"}, "cc-socks/<pid>.sock"},                                                      // Claude, named by process
	{regexp.MustCompile(`(retry(?:ing)?,? (?:in|after)|try again in) \d+(?:\.\d+)? ?(?:s|sec|seconds)`), []string{"try"}, "$1 <t>"},               // jitter
}

// IsNoise reports whether a comparison ignores members of this name.
func IsNoise(member string) bool {
	_, noise := noiseMembers[member]
	return noise || noiseSuffix(member)
}

// HoldsID reports whether members of this name hold ids that a runtime makes.
func HoldsID(member string) bool { return idMembers[member] }

var anyID = regexp.MustCompile(uuid + "|" + blob)

// MaskText replaces the parts of a text that depend on chance.
func MaskText(s string) string {
	return maskNoise(anyID.ReplaceAllString(s, "<id>"))
}

func maskNoise(s string) string {
	for _, t := range noiseTexts {
		if slices.ContainsFunc(t.has, func(part string) bool { return strings.Contains(s, part) }) {
			s = t.find.ReplaceAllString(s, t.repl)
		}
	}
	return s
}
