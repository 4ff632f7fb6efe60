package acp

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// line is any line of the agent. Members whose kind differs between lines are kept raw.
type line struct {
	ID     jsontext.Value `json:"id"`
	Method lenient.Str    `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  jsontext.Value `json:"error"`
}

// params are those of a notification or a request of the agent.
type params struct {
	SessionID  lenient.Str    `json:"sessionId"`
	Update     jsontext.Value `json:"update"`
	ToolCall   jsontext.Value `json:"toolCall"`
	ToolCallID lenient.Str    `json:"toolCallId"` // of a form
	Options    []option       `json:"options"`
	RequestID  jsontext.Value `json:"requestId"` // that is withdrawn
}

// option is a choice of a permission request.
type option struct {
	ID   lenient.Str `json:"optionId"`
	Name lenient.Str `json:"name"`
	Kind lenient.Str `json:"kind"`
}

// update is an update of the session, or the tool call of a permission request. A member
// that is absent leaves a tool call as it was.
type update struct {
	Kind      lenient.Str    `json:"sessionUpdate"`
	MessageID lenient.Str    `json:"messageId"`
	Content   jsontext.Value `json:"content"`

	ToolCallID lenient.Str    `json:"toolCallId"`
	Name       lenient.Str    `json:"name"`
	Title      lenient.Str    `json:"title"`
	ToolKind   lenient.Str    `json:"kind"`
	Status     lenient.Str    `json:"status"`
	Locations  jsontext.Value `json:"locations"`
	RawInput   jsontext.Value `json:"rawInput"`
	RawOutput  jsontext.Value `json:"rawOutput"`
	Meta       jsontext.Value `json:"_meta"`

	Entries       jsontext.Value `json:"entries"`
	CurrentModeID lenient.Str    `json:"currentModeId"`
	ConfigOptions jsontext.Value `json:"configOptions"`
	Commands      jsontext.Value `json:"availableCommands"`

	Used lenient.Num `json:"used"`
	Size lenient.Num `json:"size"`
	Cost cost        `json:"cost"`
}

type cost struct {
	Amount   *float64    `json:"amount"`
	Currency lenient.Str `json:"currency"`
}

// content is a block of content, or an element of the content of a tool call.
type content struct {
	Type    lenient.Str    `json:"type"`
	Text    lenient.Str    `json:"text"`
	Content jsontext.Value `json:"content"`
	Path    lenient.Str    `json:"path"`
	OldText *lenient.Str   `json:"oldText"`
	NewText lenient.Str    `json:"newText"`
}

// meta holds what agents add to a tool call.
type meta struct {
	ClaudeCode struct {
		ToolName lenient.Str    `json:"toolName"`
		Parent   lenient.Str    `json:"parentToolUseId"`
		Response jsontext.Value `json:"toolResponse"`
	} `json:"claudeCode"`
	Progress struct {
		Message lenient.Str `json:"data"`
	} `json:"mcp_output_delta"` // by codex-acp
	MCP    jsontext.Value `json:"is_mcp_tool_call"` // by codex-acp
	Output struct {
		Data lenient.Str `json:"data"`
	} `json:"terminal_output_delta"`
	WholeOutput struct {
		Data lenient.Str `json:"data"`
	} `json:"terminal_output"`
	Exit struct {
		Code jsontext.Value `json:"exit_code"`
	} `json:"terminal_exit"`
}

// configOption is a setting of the session.
type configOption struct {
	ID       lenient.Str    `json:"id"`
	Category lenient.Str    `json:"category"`
	Current  jsontext.Value `json:"currentValue"`
	Options  jsontext.Value `json:"options"`
}

// openResult is the result of a request that opens a session.
type openResult struct {
	SessionID lenient.Str `json:"sessionId"`
	Modes     struct {
		Current   lenient.Str `json:"currentModeId"`
		Available []struct {
			ID lenient.Str `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	Models struct {
		Current lenient.Str `json:"currentModelId"`
	} `json:"models"`
	ConfigOptions jsontext.Value `json:"configOptions"`
}

// initResult is the result of initialize.
type initResult struct {
	ProtocolVersion lenient.Num `json:"protocolVersion"`
	Capabilities    struct {
		LoadSession jsontext.Value            `json:"loadSession"`
		Session     map[string]jsontext.Value `json:"sessionCapabilities"`
		MCP         map[string]jsontext.Value `json:"mcpCapabilities"`
	} `json:"agentCapabilities"`
	Info struct {
		Name    lenient.Str `json:"name"`
		Version lenient.Str `json:"version"`
	} `json:"agentInfo"`
}

// name is the name of the agent's package, in lower case and without a scope.
func (r *initResult) name() string {
	name := string(r.Info.Name)
	return strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
}

// version is the name of the agent's package and its version: one runtime is many programs.
func (r *initResult) version() string {
	return strings.Trim(r.name()+"-"+string(r.Info.Version), "-")
}

// promptResult is the result of session/prompt.
type promptResult struct {
	StopReason lenient.Str `json:"stopReason"`
	Usage      struct {
		Input  lenient.Num `json:"inputTokens"`
		Output lenient.Num `json:"outputTokens"`
		Cached lenient.Num `json:"cachedReadTokens"`
		Think  lenient.Num `json:"thoughtTokens"`
		Total  lenient.Num `json:"totalTokens"`
	} `json:"usage"`
}

// rpcError is an error of JSON-RPC.
type rpcError struct {
	Code    lenient.Num    `json:"code"`
	Message lenient.Str    `json:"message"`
	Data    jsontext.Value `json:"data"`
}

// textsOf returns the texts of the content of a tool call.
func textsOf(v jsontext.Value) string {
	var texts []string
	for _, c := range lenient.Decode[[]content](v) {
		switch c.Type {
		case "content":
			if inner := lenient.Decode[content](c.Content); inner.Type == "text" {
				texts = append(texts, string(inner.Text))
			}
		case "text":
			texts = append(texts, string(c.Text))
		}
	}
	return strings.Join(texts, "\n")
}

// isEmpty reports whether a value is absent, null, or an object without members.
func isEmpty(v jsontext.Value) bool {
	return len(v) == 0 || v.Kind() == 'n' || v.Kind() == '{' && len(lenient.Decode[map[string]jsontext.Value](v)) == 0
}
