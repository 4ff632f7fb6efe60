package broken_test

import (
	"bytes"
	"io"
	"regexp"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// leavesTheQuestionOpen stops a turn and does not answer what the agent has asked, as the
// protocol demands.
var leavesTheQuestionOpen = broken.Adapter{
	Name: "leaves-the-question-open", Sentence: "stops a turn and leaves the agent's question without an answer",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		if bytes.Contains(line, []byte(`"outcome":"cancelled"`)) {
			return nil
		}
		_, err := w.Write(line)
		return err
	}},
}

// dropsTheEffort opens a session without the option that chat completions and others send
// with each message.
var dropsTheEffort = broken.Adapter{
	Name: "drops-the-effort", Sentence: "opens a session without the level of reasoning",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Effort = "" }),
}

// dropsTheModel is known for Codex and Claude Code by the matrix.
var dropsTheModel = broken.Adapter{
	Name: "drops-the-model", Sentence: "opens a session without its model",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Model = "" }),
}

// grantsNoRights answers a question about more rights with another object than the rights.
var grantsNoRights = broken.Adapter{
	Name: "grants-no-rights", Sentence: "allows more rights without saying which",
	Mutation: broken.Written(func(line []byte) []byte {
		return grantedRights.ReplaceAll(line, []byte(`"permissions":{"network":{"enabled":true}},"scope"`))
	}),
}

var grantedRights = regexp.MustCompile(`"permissions":\{.*\},"scope"`)

// asksWithoutALimit lets a turn ask the model as often as the model calls tools.
var asksWithoutALimit = broken.Adapter{
	Name: "asks-without-a-limit", Sentence: "opens a session without the limit of requests",
	Mutation: broken.Opening(func(o *conformance.Open) { o.MaxRequests = 0 }),
}

// dropsTheInstructions opens a session without an option of its command line.
var dropsTheInstructions = broken.Adapter{
	Name: "drops-the-instructions", Sentence: "opens a session without the instructions for the model",
	Mutation: broken.Opening(func(o *conformance.Open) { o.Instructions = "" }),
}

var toolMessage = regexp.MustCompile(`\{[^{}]*"role":"tool"[^{}]*\},?`)

// leavesACallOpen gives the model no result of a call.
var leavesACallOpen = broken.Adapter{
	Name: "leaves-a-call-open", Sentence: "sends a history in which a call has no result",
	Mutation: broken.Written(func(line []byte) []byte {
		return toolMessage.ReplaceAll(line, nil)
	}),
}

// forksAtTheEnd is seen if the fork is to leave messages out.
var forksAtTheEnd = broken.Adapter{
	Name: "forks-at-the-end", Sentence: "forks a session with all of its messages",
	Mutation: broken.Opening(func(o *conformance.Open) { o.At = "" }),
}

// offersNoHint offers each tool of the client as one that changes something.
var offersNoHint = broken.Adapter{
	Name: "offers-no-hint", Sentence: "does not say which tools of the client only read",
	Mutation: broken.Written(func(line []byte) []byte {
		return bytes.ReplaceAll(line, []byte(`"readOnlyHint":true`), []byte(`"readOnlyHint":false`))
	}),
}

var namesNoRole = broken.Adapter{
	Name: "names-no-role", Sentence: "leaves the role out of a message",
	Mutation: broken.Written(func(line []byte) []byte {
		return bytes.Replace(line, []byte(`"role":"user",`), nil, 1)
	}),
}

// listsNoServers opens a session without the list of MCP servers, which the protocol demands.
var listsNoServers = broken.Adapter{
	Name: "lists-no-servers", Sentence: "opens a session without a list of servers",
	Mutation: broken.Written(func(line []byte) []byte {
		return bytes.Replace(line, []byte(`"mcpServers"`), []byte(`"mcp_servers"`), 1)
	}),
}

// choosesNothing answers a question without the option that the user chose.
var choosesNothing = broken.Adapter{
	Name: "chooses-nothing", Sentence: "answers a question without the chosen option",
	Mutation: broken.Written(func(line []byte) []byte {
		return bytes.Replace(line, []byte(`"optionId"`), []byte(`"option"`), 1)
	}),
}

// misnamesAnAction opens a session with permission rules of which no member says what happens.
var misnamesAnAction = broken.Adapter{
	Name: "misnames-an-action", Sentence: "opens a session with rules that have no action",
	Mutation: broken.Written(func(line []byte) []byte {
		return bytes.ReplaceAll(line, []byte(`"action"`), []byte(`"effect"`))
	}),
}

// forgetsTheEffortLater states the level of reasoning in the first request of a conversation only.
var forgetsTheEffortLater = broken.Adapter{
	Name: "forgets-the-effort-later", Sentence: "asks for the level of reasoning in the first request only",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		if bytes.Contains(line, []byte(`"role":"assistant"`)) {
			line = bytes.Replace(line, []byte(`"reasoning_effort":"high",`), nil, 1)
		}
		_, err := w.Write(line)
		return err
	}},
}

// settingsOfLaterMessages are the members of a message by which it states settings, for a message
// that is the second of its session.
var settingsOfLaterMessages = regexp.MustCompile(`("(?:And at night\?|You choose\.)".*?),"(?:agent|variant|system)":"[^"]*"`)

// statesSettingsOnce states instructions, agent and variant in the first message of a session only.
var statesSettingsOnce = broken.Adapter{
	Name: "states-settings-once", Sentence: "states the settings of a session in its first message only",
	Mutation: broken.Written(func(line []byte) []byte {
		return settingsOfLaterMessages.ReplaceAll(line, []byte("$1"))
	}),
}

// misspellsTheEffort asks for a level of reasoning that there is not.
var misspellsTheEffort = broken.Adapter{
	Name: "misspells-the-effort", Sentence: "asks for a level of reasoning that there is not",
	Mutation: broken.Written(func(line []byte) []byte {
		return bytes.Replace(line, []byte(`"reasoning_effort":"high"`), []byte(`"reasoning_effort":"highest"`), 1)
	}),
}

// quotesABoolean writes a switch of a request as a string.
var quotesABoolean = broken.Adapter{
	Name: "quotes-a-boolean", Sentence: "writes a switch of a request as a string",
	Mutation: broken.Written(func(line []byte) []byte {
		return bytes.Replace(line, []byte(`"stream":true`), []byte(`"parallel_tool_calls":"yes","stream":true`), 1)
	}),
}

var forgetsTheVariables = broken.Adapter{
	Name: "forgets-the-variables", Sentence: "opens a session with MCP servers without their variables",
	Mutation: broken.Servers(func(x *adapters.MCPServer) { x.Env = nil }),
}

// pictureType is the type of a picture in a message.
var pictureType = regexp.MustCompile(`"(media_type|mimeType)":"image/[a-z]+"`)

var sendsAllAsPNG = broken.Adapter{
	Name: "sends-all-as-png", Sentence: "sends each picture as one of the type image/png",
	Mutation: broken.Written(func(line []byte) []byte {
		return pictureType.ReplaceAll(line, []byte(`"$1":"image/png"`))
	}),
}

var sendsNoName = broken.Adapter{
	Name: "sends-no-name", Sentence: "sends a picture without its name",
	Mutation: broken.Written(func(line []byte) []byte {
		return fileName.ReplaceAll(line, nil)
	}),
}

// fileName is the name of a file in a message of OpenCode.
var fileName = regexp.MustCompile(`"filename":"[^"]*",`)

var asksForNoUsage = broken.Adapter{
	Name: "asks-for-no-usage", Sentence: "does not ask the model's server for the tokens of a reply",
	Mutation: broken.Written(func(line []byte) []byte {
		return bytes.Replace(line, []byte(`"include_usage":true`), []byte(`"include_usage":false`), 1)
	}),
}
