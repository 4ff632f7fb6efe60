package defects

import "slices"

// Bug is a mistake that users of real adapters have reported. The named defect
// reproduces it, and the check catches it in the scenario, on each runtime.
type Bug struct {
	What     string
	Reported string // where, or ""
	Defect   string
	Check    string
	Scenario string
}

// Bugs returns the reported bugs.
func Bugs() []Bug { return slices.Clone(bugs) }

var bugs = []Bug{
	{"text is shown twice", "ex_mcp#14, parsar#308", "shows-the-result-too", "text.once", "text/plain"},
	{"paragraphs are glued across tool calls", "houston#1076, sigit#65", "one-block-for-all", "text.paragraph-break", "tool/text-tool-text-three-rounds"},
	{"an unknown message kills the stream", "claude-agent-sdk-python#599", "dies-of-the-unknown", "wire.unknown", "text/plain"},
	{"the permission channel is closed and a question gets no reply", "claude-agent-sdk-python#1105", "closes-before-it-answers", "permission.answered-once", "permission/allow"},
	{"the user is no longer asked, and a denied tool runs", "claude-code#34046", "allows-everything", "permission.deny-enforced", "permission/deny-then-stop"},
	{"a failed start looks like a hang", "claude-agent-sdk-python#387", "hangs-when-it-cannot-start", "process.start-failure", "process/bad-flag"},
	{"the runtime sends no result and does not exit, and the turn never ends", "claude-code#59243", "waits-for-ever", "turn.stall-ends", "text/plain"},
	{"the end of a turn is lost", "openai/codex#35810", "loses-the-end", "turn.one-terminal", "text/plain"},
	{"a turn ends too early", "multica#7554", "ends-with-the-words", "turn.not-before-end", "tool/text-tool-text-three-rounds"},
	{"a turn ends twice", "claude-code#25629", "ends-twice", "turn.one-terminal", "text/plain"},
	{"the end of a child thread ends the parent's turn", "cc-connect#1816", "ends-with-the-child", "turn.child-end-is-not-parent-end", "subagent/ends-while-the-parent-talks"},
	{"the work of sub-agents is shown as the parent's", "", "flattens-sub-agents", "subagent.attributed", "subagent/outlives-the-turn"},
	{"the spinner of a tool never ends", "hermes-agent#114395", "spins-for-ever", "tool.paired", "stop/mid-tool"},
	{"a tool call appears that the model never made", "hermes-agent#114395", "invents-a-tool", "tool.known", "tool/text-tool-text-three-rounds"},
	{"the stored history differs from the live chat", "AgentRecall#503", "reuses-its-buffer", "replay.equals-live", "tool/text-tool-text-three-rounds"},
	{"events are out of order", "AgentRecall#503", "swaps-deltas", "text.order", "text/plain"},
	{"a thinking bubble is blank", "claude-agent-sdk-typescript#337", "thinks-blank", "thinking.hidden", "thinking/then-text"},
	{"a big frame kills the turn", "openclaw#71793", "reads-short-lines", "wire.long-line", "text/plain"},
}
