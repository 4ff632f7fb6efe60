package acp

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// knownAgent is what an agent does differently from the protocol and from most agents. What a line
// states by itself is not here: the adapter reads it of every agent.
type knownAgent struct {
	name    string   // by which it introduces itself, in lower case and without a scope
	program string   // under which it is installed
	args    []string // of the program, so that it speaks the protocol

	// Opening and settings.

	reachesURLsOnly bool // it opens a session with a server over stdio without a word, and without the server
	modeAtStart     bool // its environment says what it asks about, and its modes are its agents
	modesInTurn     bool // current_mode_update comes in turns alone: what the client sets is a config_option_update

	// Messages.

	namesNoMessages bool // pieces of text have no message id
	asksByUsage     bool // usage_update says that it is about to ask the model, so the message before has ended
	// ownPiece reports whether a piece is the agent's own words and none of the model: the words
	// of an error, which the reply has too, or what a command prints.
	ownPiece func(u *update) bool
	// ownText handles the agent's own text where it looks like a piece of the model's, and reports
	// whether it was the agent's.
	ownText func(t *translator, sc *ledger.Scope, text string) bool

	// Tool calls.

	toolName       func(t *translator, u *update) string // of a call whose name no member states
	partialInput   bool                                  // a call is announced with a part of its input
	inputIsChange  bool                                  // a question about a call has what the call changes, or parts of a command, as its input
	plansByTool    bool                                  // the list of steps is the input of TodoWrite
	outputAfterEnd bool                                  // a command's output comes when it has ended, once more and in another form
	cutsOutput     bool                                  // it cuts long output of a command that runs, see cutOutput
	// rejected reports whether the raw output states that the call was not allowed; nil if
	// the agent does not state that.
	rejected func(c *toolCall) bool
	// completeResult adds what content and status do not state.
	completeResult func(t *translator, c *toolCall, d *event.ToolResult)

	// Ends of turns.

	failsTurn       func(d errorDetails) bool // the error is that of a turn, not of another request
	reasoningApart  bool                      // output tokens do not include those of reasoning
	completesTokens func(d *event.Usage)      // says of what the tokens in the reply to a message are
}

// agents has a row for each agent that differs. The first that is installed is started, if the
// caller names none.
var agents = []knownAgent{
	{
		name: "codex-acp", program: "codex-acp",
		ownPiece: func(u *update) bool { return u.MessageID == "" },
	},
	{
		name: "claude-agent-acp", program: "claude-agent-acp",
		modesInTurn: true,
		ownPiece:    func(u *update) bool { return !strings.HasPrefix(string(u.MessageID), "msg_") },
	},
	{
		name: "opencode", program: "opencode", args: []string{"acp"},
		modeAtStart: true,
		toolName:    (*translator).openCodeTool, partialInput: true, inputIsChange: true, plansByTool: true, cutsOutput: true,
		completeResult: (*translator).completeOpenCode,
		failsTurn:      func(d errorDetails) bool { return d.Service == "session" },
		reasoningApart: true,
		completesTokens: func(d *event.Usage) { // those of the last request
			d.Scope = event.ScopeRequest
			if d.Context != nil { // it states what the request held, without the reply
				d.Context.Used = d.Tokens.Total
			}
		},
	},
	{
		name: "copilot", program: "copilot", args: []string{"--acp"},
		reachesURLsOnly: true,
		namesNoMessages: true, asksByUsage: true, ownText: (*translator).copilotText,
		toolName: (*translator).copilotTool, inputIsChange: true, outputAfterEnd: true, rejected: (*toolCall).isRejected,
		completeResult:  (*translator).completeCopilot,
		completesTokens: func(d *event.Usage) { d.Scope, d.Context = event.ScopeSession, nil }, // it estimates the context before each request
	},
	{
		name: "qwen-code", program: "qwen", args: []string{"--acp"},
		namesNoMessages: true,
		completeResult:  (*translator).completeQwen,
		failsTurn:       func(d errorDetails) bool { return qwenFailure.MatchString(string(d.Details)) },
	},
}

// otherAgent is an agent that the table does not have.
var otherAgent knownAgent

// agentOf returns the row of the agent that introduces itself.
func agentOf(r *initResult) *knownAgent {
	name := r.name()
	if i := slices.IndexFunc(agents, func(a knownAgent) bool { return a.name == name }); i >= 0 {
		return &agents[i]
	}
	return &otherAgent
}

// programs are the names under which agents are installed.
func programs() []string {
	names := []string{"acp"}
	for _, a := range agents {
		names = append(names, a.program)
	}
	return names
}

// argsOf returns the arguments that a program needs to speak the protocol.
func argsOf(program string) []string {
	if i := slices.IndexFunc(agents, func(a knownAgent) bool { return a.program == program }); i >= 0 {
		return agents[i].args
	}
	return nil
}
