package acp

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient accepts what agents really send: split surrogate pairs, repeated members.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// str is a string. A value of any other kind reads as "", so that a member that differs
// between agents does not make a line unreadable.
type str string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (s *str) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	*s = ""
	if v.Kind() == '"' {
		b, _ := jsontext.AppendUnquote(nil, v) // the error only reports replaced characters
		*s = str(b)
	}
	return nil
}

// num is a whole number. A value of any other kind reads as 0.
type num int64

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (n *num) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	var f float64
	if json.Unmarshal(v, &f) == nil {
		*n = num(f)
	}
	return nil
}

// line is any line of the agent. Members whose kind differs between lines are kept raw.
type line struct {
	ID     jsontext.Value `json:"id"`
	Method str            `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  jsontext.Value `json:"error"`
}

// params are those of a notification or a request of the agent.
type params struct {
	SessionID  str            `json:"sessionId"`
	Update     jsontext.Value `json:"update"`
	ToolCall   jsontext.Value `json:"toolCall"`
	ToolCallID str            `json:"toolCallId"` // of a form
	Options    []option       `json:"options"`
}

// option is a choice of a permission request.
type option struct {
	ID   str `json:"optionId"`
	Name str `json:"name"`
	Kind str `json:"kind"`
}

// update is an update of the session, or the tool call of a permission request. A member
// that is absent leaves a tool call as it was.
type update struct {
	Kind      str            `json:"sessionUpdate"`
	MessageID str            `json:"messageId"`
	Content   jsontext.Value `json:"content"`

	ToolCallID str            `json:"toolCallId"`
	Name       str            `json:"name"`
	Title      str            `json:"title"`
	ToolKind   str            `json:"kind"`
	Status     str            `json:"status"`
	Locations  jsontext.Value `json:"locations"`
	RawInput   jsontext.Value `json:"rawInput"`
	RawOutput  jsontext.Value `json:"rawOutput"`
	Meta       jsontext.Value `json:"_meta"`

	Entries       jsontext.Value `json:"entries"`
	CurrentModeID str            `json:"currentModeId"`
	ConfigOptions jsontext.Value `json:"configOptions"`
	Commands      jsontext.Value `json:"availableCommands"`

	Used num  `json:"used"`
	Size num  `json:"size"`
	Cost cost `json:"cost"`
}

type cost struct {
	Amount   *float64 `json:"amount"`
	Currency str      `json:"currency"`
}

// content is a block of content, or an element of the content of a tool call.
type content struct {
	Type    str            `json:"type"`
	Text    str            `json:"text"`
	Content jsontext.Value `json:"content"`
	Path    str            `json:"path"`
	OldText *str           `json:"oldText"`
	NewText str            `json:"newText"`
}

// meta holds what agents add to a tool call.
type meta struct {
	ClaudeCode struct {
		ToolName str            `json:"toolName"`
		Parent   str            `json:"parentToolUseId"`
		Response jsontext.Value `json:"toolResponse"`
	} `json:"claudeCode"`
	Progress struct {
		Message str `json:"data"`
	} `json:"mcp_output_delta"` // by codex-acp
	MCP    jsontext.Value `json:"is_mcp_tool_call"` // by codex-acp
	Output struct {
		Data str `json:"data"`
	} `json:"terminal_output_delta"`
	WholeOutput struct {
		Data str `json:"data"`
	} `json:"terminal_output"`
	Exit struct {
		Code jsontext.Value `json:"exit_code"`
	} `json:"terminal_exit"`
}

// configOption is a setting of the session.
type configOption struct {
	ID       str            `json:"id"`
	Category str            `json:"category"`
	Current  jsontext.Value `json:"currentValue"`
	Options  jsontext.Value `json:"options"`
}

// openResult is the result of a request that opens a session.
type openResult struct {
	SessionID str `json:"sessionId"`
	Modes     struct {
		Current   str `json:"currentModeId"`
		Available []struct {
			ID str `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	Models struct {
		Current str `json:"currentModelId"`
	} `json:"models"`
	ConfigOptions jsontext.Value `json:"configOptions"`
}

// initResult is the result of initialize.
type initResult struct {
	ProtocolVersion num `json:"protocolVersion"`
	Capabilities    struct {
		LoadSession jsontext.Value            `json:"loadSession"`
		Session     map[string]jsontext.Value `json:"sessionCapabilities"`
		MCP         map[string]jsontext.Value `json:"mcpCapabilities"`
	} `json:"agentCapabilities"`
	Info struct {
		Name    str `json:"name"`
		Version str `json:"version"`
	} `json:"agentInfo"`
}

// version is the name of the agent's package and its version: one runtime is many programs.
func (r *initResult) version() string {
	name := string(r.Info.Name)
	return strings.Trim(strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])+"-"+string(r.Info.Version), "-")
}

// promptResult is the result of session/prompt.
type promptResult struct {
	StopReason str `json:"stopReason"`
	Usage      struct {
		Input  num `json:"inputTokens"`
		Output num `json:"outputTokens"`
		Cached num `json:"cachedReadTokens"`
		Think  num `json:"thoughtTokens"`
		Total  num `json:"totalTokens"`
	} `json:"usage"`
}

// rpcError is an error of JSON-RPC.
type rpcError struct {
	Code    num            `json:"code"`
	Message str            `json:"message"`
	Data    jsontext.Value `json:"data"`
}

// decode reads a value. What has another form reads as the zero value.
func decode[T any](v jsontext.Value) (out T) {
	if len(v) > 0 {
		_ = json.Unmarshal(v, &out, lenient)
	}
	return out
}

// textsOf returns the texts of the content of a tool call.
func textsOf(v jsontext.Value) string {
	var texts []string
	for _, c := range decode[[]content](v) {
		switch c.Type {
		case "content":
			if inner := decode[content](c.Content); inner.Type == "text" {
				texts = append(texts, string(inner.Text))
			}
		case "text":
			texts = append(texts, string(c.Text))
		}
	}
	return strings.Join(texts, "\n")
}

func isTrue(v jsontext.Value) bool { return v.Kind() == 't' }

// isEmpty reports whether a value is absent, null, or an object without members.
func isEmpty(v jsontext.Value) bool {
	return len(v) == 0 || v.Kind() == 'n' || v.Kind() == '{' && len(decode[map[string]jsontext.Value](v)) == 0
}

// encode writes a value that can be encoded.
func encode(v any) []byte {
	b, err := json.Marshal(v, lenient, json.Deterministic(true))
	if err != nil {
		panic(err) // only types of this package are written
	}
	return b
}
