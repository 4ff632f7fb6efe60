package codex

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fastjson"
)

// message is any line of the runtime; its members decide its kind. One message
// is reused for all lines.
type message struct {
	ID     jsontext.Value `json:"id"`
	Method text           `json:"method"`
	Params params         `json:"params"`
	Result opt[result]    `json:"result"`
	Error  opt[rpcError]  `json:"error"`

	template fastjson.Template // the delta that was read last
}

// params is the union of the params of notifications and server requests.
// Fields whose kind differs between messages are kept raw.
type params struct {
	ThreadID text `json:"threadId"`
	TurnID   text `json:"turnId"`
	ItemID   text `json:"itemId"`
	Delta    text `json:"delta"`

	Item         opt[item]           `json:"item"`
	Turn         opt[turn]           `json:"turn"`
	Thread       opt[threadInfo]     `json:"thread"`
	Error        jsontext.Value      `json:"error"`
	WillRetry    str                 `json:"willRetry"`
	TokenUsage   opt[tokenUsage]     `json:"tokenUsage"`
	Plan         jsontext.Value      `json:"plan"`
	SummaryIndex num                 `json:"summaryIndex"`
	ContentIndex num                 `json:"contentIndex"`
	Message      str                 `json:"message"`
	Summary      str                 `json:"summary"`
	Details      str                 `json:"details"`
	RequestID    jsontext.Value      `json:"requestId"`
	Name         str                 `json:"name"`
	Status       jsontext.Value      `json:"status"`
	ToModel      str                 `json:"toModel"`
	Settings     opt[threadSettings] `json:"threadSettings"`

	// Of server requests.
	ConversationID     str                  `json:"conversationId"`
	CallID             str                  `json:"callId"`
	Command            jsontext.Value       `json:"command"`
	Cwd                str                  `json:"cwd"`
	CommandActions     list[commandAction]  `json:"commandActions"`
	Reason             str                  `json:"reason"`
	Kind               str                  `json:"kind"`
	Network            opt[networkAsk]      `json:"networkApprovalContext"`
	AvailableDecisions list[jsontext.Value] `json:"availableDecisions"`
	Permissions        jsontext.Value       `json:"permissions"`
	FileChanges        jsontext.Value       `json:"fileChanges"`
	Questions          list[inputQuestion]  `json:"questions"`
	Amendment          jsontext.Value       `json:"proposedExecpolicyAmendment"`
	ServerName         str                  `json:"serverName"`
	Meta               opt[elicitMeta]      `json:"_meta"`
	Tool               str                  `json:"tool"`
	Arguments          jsontext.Value       `json:"arguments"`
}

// commandText returns the command, which older versions send as an array.
func (p *params) commandText() string {
	return cmp.Or(scalar(p.Command), strings.Join(decodeRaw[[]string](p.Command), " "))
}

// networkAsk is the host that a running command needs to reach.
type networkAsk struct {
	Host     str `json:"host"`
	Protocol str `json:"protocol"`
}

// inputQuestion is a part of a question to the user.
type inputQuestion struct {
	ID       str `json:"id"`
	Question str `json:"question"`
}

type elicitMeta struct {
	Kind       str            `json:"codex_approval_kind"`
	ToolName   str            `json:"tool_name"`
	ToolParams jsontext.Value `json:"tool_params"`
}

type rpcError struct {
	Code    num `json:"code"`
	Message str `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("error %d: %s", e.Code.n, string(e.Message)) }

// result is the union of the results in use.
type result struct {
	UserAgent str             `json:"userAgent"`
	Thread    opt[threadInfo] `json:"thread"`
	Model     str             `json:"model"`
	Cwd       str             `json:"cwd"`
	Turn      opt[turn]       `json:"turn"`
	TurnID    str             `json:"turnId"`

	// Of lists:
	Data    jsontext.Value `json:"data"`
	Next    str            `json:"nextCursor"`
	Account jsontext.Value `json:"account"`

	// Of our own replies, if a terminal or a proxy echoes them.
	Decision jsontext.Value `json:"decision"`
	Action   str            `json:"action"`
	Answers  jsontext.Value `json:"answers"`
	Scope    str            `json:"scope"`
	Contents jsontext.Value `json:"contentItems"`
}

// isEcho reports whether only a client sends such a result.
func (r *result) isEcho() bool {
	return r != nil && (len(r.Decision) > 0 || r.Action != "" || len(r.Answers) > 0 || r.Scope != "" || len(r.Contents) > 0)
}

// clientMethods are methods that only a client sends: a line with one is an
// echo.
var clientMethods = map[string]bool{
	"initialize": true, "initialized": true, "thread/start": true, "thread/resume": true, "thread/fork": true,
	"thread/read": true, "thread/settings/update": true, "turn/start": true, "turn/steer": true, "turn/interrupt": true,
}

type threadInfo struct {
	ID             str `json:"id"`
	ForkedFromID   str `json:"forkedFromId"`
	ParentThreadID str `json:"parentThreadId"`
	Model          str `json:"model"`
	Cwd            str `json:"cwd"`
	CLIVersion     str `json:"cliVersion"`
}

type turn struct {
	ID         str            `json:"id"`
	RootTurnID str            `json:"rootTurnId"`
	Status     str            `json:"status"`
	Items      jsontext.Value `json:"items"`
	Error      opt[turnError] `json:"error"`
	DurationMs num            `json:"durationMs"`
}

type turnError struct {
	Message           str            `json:"message"`
	CodexErrorInfo    jsontext.Value `json:"codexErrorInfo"`
	AdditionalDetails str            `json:"additionalDetails"`
}

type tokenUsage struct {
	Total  opt[tokens] `json:"total"`
	Last   opt[tokens] `json:"last"`
	Window num         `json:"modelContextWindow"`
}

type tokens struct {
	Total     num `json:"totalTokens"`
	Input     num `json:"inputTokens"`
	Cached    num `json:"cachedInputTokens"`
	Output    num `json:"outputTokens"`
	Reasoning num `json:"reasoningOutputTokens"`
}

type planStep struct {
	Step   str `json:"step"`
	Status str `json:"status"`
}

// item is the union of the item types.
type item struct {
	Type     str            `json:"type"`
	ID       str            `json:"id"`
	ClientID str            `json:"clientId"`
	Text     str            `json:"text"`
	Content  jsontext.Value `json:"content"` // of a user: inputs; of reasoning: strings
	Summary  list[str]      `json:"summary"`
	Status   str            `json:"status"`

	Command          str                 `json:"command"`
	Cwd              str                 `json:"cwd"`
	ProcessID        str                 `json:"processId"`
	Source           str                 `json:"source"`
	CommandActions   list[commandAction] `json:"commandActions"`
	AggregatedOutput str                 `json:"aggregatedOutput"`
	ExitCode         num                 `json:"exitCode"`

	Changes jsontext.Value `json:"changes"`

	Server       str            `json:"server"`
	ServerName   str            `json:"serverName"`
	Tool         str            `json:"tool"`
	ToolName     str            `json:"toolName"`
	Namespace    str            `json:"namespace"`
	Name         str            `json:"name"`
	Arguments    jsontext.Value `json:"arguments"`
	Result       jsontext.Value `json:"result"`
	Error        jsontext.Value `json:"error"`
	ContentItems jsontext.Value `json:"contentItems"`
	Output       jsontext.Value `json:"output"`

	ReceiverThreadIDs list[str]      `json:"receiverThreadIds"`
	Prompt            str            `json:"prompt"`
	Model             str            `json:"model"`
	AgentsStates      jsontext.Value `json:"agentsStates"`
	Kind              str            `json:"kind"`
	AgentThreadID     str            `json:"agentThreadId"`
	AgentPath         str            `json:"agentPath"`

	Query      str            `json:"query"`
	Action     opt[webAction] `json:"action"`
	Path       str            `json:"path"`
	SavedPath  str            `json:"savedPath"`
	Revised    str            `json:"revisedPrompt"`
	DurationMs num            `json:"durationMs"`
}

type commandAction struct {
	Type    str `json:"type,omitempty"`
	Command str `json:"command,omitempty"`
	Path    str `json:"path,omitempty"`
	Query   str `json:"query,omitempty"`
}

type webAction struct {
	Type    str `json:"type"`
	Query   str `json:"query"`
	URL     str `json:"url"`
	Pattern str `json:"pattern"`
}

type input struct {
	Type str `json:"type"`
	Text str `json:"text"`
	Path str `json:"path"`
	URL  str `json:"url"`
	Name str `json:"name"`
}

// decodeLine decodes one line into the message.
func (m *message) decodeLine(b []byte) error {
	if m.matchTemplate(b) {
		return nil
	}
	m.reset()
	if m.decodeFast(b) {
		return nil
	}
	m.reset()
	return json.Unmarshal(b, m, lenient)
}

// reset clears the last line, but keeps strings that are likely to repeat.
func (m *message) reset() {
	m.ID = m.ID[:0]
	m.Result.v, m.Error.v = nil, nil
	m.Method.set = false
	p := &m.Params
	*p = params{ThreadID: text{s: p.ThreadID.s}, TurnID: text{s: p.TurnID.s}, ItemID: text{s: p.ItemID.s}, Delta: text{s: p.Delta.s}}
}

// Outgoing messages.

type request struct {
	ID     int64  `json:"id"`
	Method string `json:"method"`
	Params any    `json:"params"`
}

type notification struct {
	Method string `json:"method"`
}

type reply struct {
	ID     jsontext.Value `json:"id"`
	Result any            `json:"result"`
}

type errorReply struct {
	ID    jsontext.Value `json:"id"`
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

type initializeParams struct {
	ClientInfo struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	} `json:"clientInfo"`
	Capabilities struct {
		ExperimentalAPI bool `json:"experimentalApi"`
	} `json:"capabilities"`
}

type threadParams struct {
	ThreadID       string `json:"threadId,omitempty"`
	ExcludeTurns   bool   `json:"excludeTurns,omitzero"`
	LastTurnID     string `json:"lastTurnId,omitempty"`
	Cwd            string `json:"cwd,omitempty"`
	Model          string `json:"model,omitempty"`
	ApprovalPolicy string `json:"approvalPolicy,omitempty"`
	Sandbox        string `json:"sandbox,omitempty"`
	Developer      string `json:"developerInstructions,omitempty"`
	Base           string `json:"baseInstructions,omitempty"`

	Tools []dynamicTool `json:"dynamicTools,omitempty"`
}

type turnParams struct {
	ThreadID            string     `json:"threadId"`
	ExpectedTurnID      string     `json:"expectedTurnId,omitempty"`
	ClientUserMessageID string     `json:"clientUserMessageId"`
	Input               []inputOut `json:"input"`
	OutputSchema        event.Raw  `json:"outputSchema,omitempty"`
	settings
}

type settingsParams struct {
	ThreadID string `json:"threadId"`
	settings
}

// inputOut omits the fields that its type lacks. A text input has its text even
// if it is empty.
type inputOut struct {
	Type string  `json:"type"`
	Text *string `json:"text,omitzero"`
	Path string  `json:"path,omitempty"`
	URL  string  `json:"url,omitempty"`
	Name string  `json:"name,omitempty"`
}

type interruptParams struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
}

type terminateParams struct {
	ThreadID  string `json:"threadId"`
	ProcessID string `json:"processId"`
}
