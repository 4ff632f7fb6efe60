package session

import (
	"regexp"
	"sync"

	"github.com/turnspec/turnspec/adapters/event"
)

// mintedIDs are the members whose values an adapter may choose. A transcript may choose
// others, as a session that continues another one does.
var mintedIDs = []string{"block_id", "request_id", "interrupt_id", "message_id", "message_ids", "checkpoint_id"}

// freedom is how a transcript may differ from the session.
type freedom int

const (
	equal    freedom = iota
	mayLack          // one of the two may leave the value out, but neither may have another
	mayVary          // the value may be different
	apart            // the event may come at another place
	optional         // the event may come at another place, and the transcript may lack it
	either           // the event may come at another place, and one of the two may lack it
)

// transcriptRule is what a transcript may leave out or have otherwise, and why.
type transcriptRule struct {
	Type   event.Type
	Member string // "" for the whole event
	If     string // a regular expression over the text of the event; of a member: of the session's event
	May    freedom
	Why    string
}

// The text of an event is its canonical form, followed by these.
const (
	ofCommand    = " in a turn with cause command"
	ofClientTool = " of a tool of the client"
	ofRepeated   = " with words that the output repeats"
	ofCrash      = " in a turn that crashed"
	ofSignal     = " in a turn that a signal may have stopped"
	ofCutCall    = " about a call that ran when the runtime ended or the turn was stopped"
	ofNoDecision = " in a scenario whose client answers without a decision"
	ofUnseen     = " of a turn whose start no line reports"
	ofJoined     = " on a wire that joins the names of servers with those of their tools"
)

var transcriptRules = []transcriptRule{
	{event.TypeTurnStart, "", ofUnseen, either, "the turn may end before its first line"},
	{event.TypeThinking, "", `"data":{"text":""}.*` + ofUnseen, either, "the turn may end before its first line"},
	{event.TypeError, "", ofCrash + ".*" + ofUnseen, either, "the turn may end before its first line"},
	{event.TypeSessionReady, "session_id", "", mayVary, "the client names its sessions"},
	{event.TypeSessionReady, "provider_session_id", "", mayLack, "only a reply to the client may state it"},
	{event.TypeSessionReady, "resumed", "", mayLack, "the client asked for it"},
	{event.TypeSessionReady, "forked_from", "", mayLack, "the client asked for it"},
	{event.TypeSessionReady, "model", "", mayVary, "a session may be ready before the line that states it"},
	{event.TypeSessionReady, "cwd", "", mayLack, "the client chose it"},
	{event.TypeSessionReady, "mode", "", mayLack, "the client chose it"},
	{event.TypeSessionReady, "runtime_version", "", mayLack, "a session may be ready before the line that states it"},
	{event.TypeSessionEnd, "reason", "", mayVary, "how a process ended is not in its output"},
	{event.TypeSessionEnd, "exit_code", "", mayVary, "how a process ended is not in its output"},
	{event.TypeError, "", `^{"type":"error","data"`, optional, "how a process ended is not in its output"},
	{event.TypeToolStart, "tool", `"tool":"mcp__.*` + ofJoined, mayVary, "only the client knows the names of its servers, which an agent joins with those of their tools"},
	{event.TypePermissionRequest, "tool_name", `"tool_name":"mcp__.*` + ofJoined, mayVary, "only the client knows the names of its servers, which an agent joins with those of their tools"},
	{event.TypePermissionResolved, "tool_name", `"tool_name":"mcp__.*` + ofJoined, mayVary, "only the client knows the names of its servers, which an agent joins with those of their tools"},
	{event.TypeToolResult, "", ofSignal, either, "a signal to the process is not in its output"},
	{event.TypeBlockEnd, "", `interrupted.*` + ofSignal, either, "a signal to the process is not in its output"},
	{event.TypeDone, "", ofSignal, either, "a signal to the process is not in its output"},
	{event.TypeError, "", ofSignal, either, "a signal to the process is not in its output"},
	{event.TypeError, "message", `"code":"crash"`, mayVary, "how a process ended is not in its output"},
	{event.TypeTurnStart, "message_ids", "", mayLack, "the client's ids may not be in the output"},
	{event.TypeTurnStart, "cause", ofCommand, mayVary, "only the client knows whether it sent a command as a message"},
	{event.TypeDone, "stopped", ofCommand, mayLack, "a command may end as if it had not been stopped"},
	{event.TypeToolResult, "status", `"status":"interrupted"`, mayVary, "only the client knows that it cancelled its tool"},
	{event.TypeToolResult, "status", `"status":"denied"`, mayVary, "only the client knows that it denied the call"},
	{event.TypeToolResult, "", ofClientTool, apart, "the client knows the result before the runtime reports it"},
	{event.TypeToolResult, "status", ofClientTool, mayVary, "older runtimes do not report the results of the client's tools"},
	{event.TypeToolResult, "is_error", ofClientTool, mayVary, "older runtimes do not report the results of the client's tools"},
	{event.TypeToolResult, "output", ofClientTool, mayLack, "older runtimes do not report the results of the client's tools"},
	{event.TypeToolResult, "media", ofClientTool, mayLack, "a client that runs the turns itself may send no media of its tools"},
	{event.TypeNotice, "", `"level":"warning","code":"warning"`, either, "only the client knows which conversation of a connection is its own"},
	{event.TypeNotice, "code", `"code":"refused"`, mayVary, "a transcript refuses nothing"},
	{event.TypeNotice, "level", `"code":"refused"`, mayVary, "a transcript refuses nothing"},
	{event.TypeNotice, "text", `"code":"refused"`, mayVary, "a transcript refuses nothing"},
	{event.TypeToolInput, "", "", optional, "only the client knows whether it asked for the inputs of tools in pieces"},
	{event.TypeQueue, "", "", optional, "only the client knows which of its messages wait"},
	{event.TypeUserMessage, "", ofCommand, either, "only the client knows whether it sent a command as a message"},
	{event.TypeUserMessage, "", ofCrash, optional, "a crash may come before the output repeats a message"},
	{event.TypeUserMessage, "", ofRepeated, apart, "the output may repeat a message later"},
	{event.TypeUserMessage, "", "", optional, "the output may not repeat a message"},
	{event.TypeUserMessage, "text", `"text":"/`, mayVary, "the output shows what the runtime made of a command"},
	{event.TypeUserMessage, "text", `"text":""`, mayVary, "the output shows what the runtime made of no words"},
	{event.TypeUserMessage, "text", `"via":"merge"`, mayVary, "the output may join the words of messages"},
	{event.TypeUserMessage, "attachments", "", mayVary, "the output may not repeat them, and only the client knows their names"},
	{event.TypeUserMessage, "via", "", mayVary, "only the client knows how it sent a message"},
	{event.TypePermissionResolved, "", "", apart, "the client answers before the runtime shows it"},
	{event.TypePermissionResolved, "by", "", mayVary, "who answered is not in the output"},
	{event.TypePermissionResolved, "decision", `"decision":"cancel"`, mayVary, "the output does not show which answer ended the turn"},
	{event.TypePermissionResolved, "decision", ofCutCall, mayVary, "the answer is in no output when the runtime or the turn ends before the call"},
	{event.TypePermissionResolved, "allowed", ofCutCall, mayVary, "the answer is in no output when the runtime or the turn ends before the call"},
	{event.TypePermissionResolved, "decision", ofNoDecision, mayVary, "the output shows only that the call failed"},
	{event.TypePermissionResolved, "allowed", ofNoDecision, mayVary, "the output shows only that the call failed"},
	{event.TypePermissionResolved, "decision", `"tool_name":"RequestPermissions"`, mayVary, "the output does not show which rights were granted"},
	{event.TypePermissionResolved, "allowed", `"tool_name":"RequestPermissions"`, mayVary, "the output does not show which rights were granted"},
	{event.TypeInterruptResolved, "", "", apart, "the client answers before the runtime shows it"},
	{event.TypeInterruptResolved, "by", "", mayVary, "who answered is not in the output"},
	{event.TypeInterruptResolved, "value", "", mayLack, "the answer may not be in the output"},
	{event.TypeModelChanged, "", "", either, "the client's wish is not in the output, and session_ready may state it"},
	{event.TypeModeChanged, "", "", either, "the client's wish is not in the output, and session_ready may state it"},
	{event.TypeCheckpoint, "", "", optional, "the client asked for it"},
}

// transcriptRuleOf returns what is allowed for a member of an event with this text, or for
// the whole event.
func transcriptRuleOf(t event.Type, member, text string) freedom {
	for _, r := range compiledRules()[ruleKey{t, member}] {
		if r.condition == nil || r.condition.MatchString(text) {
			return r.may
		}
	}
	return equal
}

// ruleKey is what a rule is about.
type ruleKey struct {
	event  event.Type
	member string
}

type compiledRule struct {
	condition *regexp.Regexp // nil: none
	may       freedom
}

// compiledRules are the rules by what they are about, in their order.
var compiledRules = sync.OnceValue(func() map[ruleKey][]compiledRule {
	out := map[ruleKey][]compiledRule{}
	for _, r := range transcriptRules {
		c := compiledRule{may: r.May}
		if r.If != "" {
			c.condition = regexp.MustCompile(r.If)
		}
		k := ruleKey{r.Type, r.Member}
		out[k] = append(out[k], c)
	}
	return out
})
