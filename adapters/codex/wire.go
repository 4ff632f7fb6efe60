package codex

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fastjson"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// message is any line of the runtime; its members decide its kind. One message
// is reused for all lines.
type message struct {
	ID     jsontext.Value        `json:"id"`
	Method text                  `json:"method"`
	Params params                `json:"params"`
	Result lenient.Opt[result]   `json:"result"`
	Error  lenient.Opt[rpcError] `json:"error"`

	template fastjson.Template // the delta that was read last
}

// params is the union of the params of notifications and server requests.
// Fields whose kind differs between messages are kept raw.
type params struct {
	ThreadID text `json:"threadId"`
	TurnID   text `json:"turnId"`
	ItemID   text `json:"itemId"`
	Delta    text `json:"delta"`

	Item         lenient.Opt[item]           `json:"item"`
	Turn         lenient.Opt[turn]           `json:"turn"`
	Thread       lenient.Opt[threadInfo]     `json:"thread"`
	Error        jsontext.Value              `json:"error"`
	WillRetry    jsontext.Value              `json:"willRetry"`
	TokenUsage   lenient.Opt[tokenUsage]     `json:"tokenUsage"`
	Plan         jsontext.Value              `json:"plan"`
	SummaryIndex lenient.Num                 `json:"summaryIndex"`
	ContentIndex lenient.Num                 `json:"contentIndex"`
	Message      lenient.Str                 `json:"message"`
	Summary      lenient.Str                 `json:"summary"`
	Details      lenient.Str                 `json:"details"`
	RequestID    jsontext.Value              `json:"requestId"`
	Name         lenient.Str                 `json:"name"`
	Status       jsontext.Value              `json:"status"`
	ToModel      lenient.Str                 `json:"toModel"`
	Settings     lenient.Opt[threadSettings] `json:"threadSettings"`

	// Of server requests.
	ConversationID     lenient.Str                  `json:"conversationId"`
	CallID             lenient.Str                  `json:"callId"`
	Command            jsontext.Value               `json:"command"`
	Cwd                lenient.Str                  `json:"cwd"`
	CommandActions     lenient.List[commandAction]  `json:"commandActions"`
	Reason             lenient.Str                  `json:"reason"`
	Kind               lenient.Str                  `json:"kind"`
	Network            lenient.Opt[networkAsk]      `json:"networkApprovalContext"`
	AvailableDecisions lenient.List[jsontext.Value] `json:"availableDecisions"`
	Permissions        jsontext.Value               `json:"permissions"`
	FileChanges        jsontext.Value               `json:"fileChanges"`
	Questions          lenient.List[inputQuestion]  `json:"questions"`
	Amendment          jsontext.Value               `json:"proposedExecpolicyAmendment"`
	ServerName         lenient.Str                  `json:"serverName"`
	Meta               lenient.Opt[elicitMeta]      `json:"_meta"`
	Tool               lenient.Str                  `json:"tool"`
	Arguments          jsontext.Value               `json:"arguments"`
}

// commandText returns the command, which older versions send as an array.
func (p *params) commandText() string {
	return cmp.Or(lenient.Text(p.Command), strings.Join(lenient.Decode[[]string](p.Command), " "))
}

// networkAsk is the host that a running command needs to reach.
type networkAsk struct {
	Host     lenient.Str `json:"host"`
	Protocol lenient.Str `json:"protocol"`
}

// inputQuestion is a part of a question to the user.
type inputQuestion struct {
	ID       lenient.Str `json:"id"`
	Question lenient.Str `json:"question"`
}

type elicitMeta struct {
	Kind       lenient.Str    `json:"codex_approval_kind"`
	ToolName   lenient.Str    `json:"tool_name"`
	ToolParams jsontext.Value `json:"tool_params"`
}

type rpcError struct {
	Code    lenient.Num `json:"code"`
	Message lenient.Str `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("error %d: %s", int(e.Code), string(e.Message)) }

// Unwrap implements the interface of package errors.
func (e *rpcError) Unwrap() error { return adapters.ErrRefused }

// result is the union of the results in use.
type result struct {
	UserAgent lenient.Str             `json:"userAgent"`
	Thread    lenient.Opt[threadInfo] `json:"thread"`
	Model     lenient.Str             `json:"model"`
	Cwd       lenient.Str             `json:"cwd"`
	Turn      lenient.Opt[turn]       `json:"turn"`
	TurnID    lenient.Str             `json:"turnId"`

	// Of lists:
	Data    jsontext.Value `json:"data"`
	Next    lenient.Str    `json:"nextCursor"`
	Account jsontext.Value `json:"account"`

	// Of our own replies, if a terminal or a proxy echoes them.
	Decision jsontext.Value `json:"decision"`
	Action   lenient.Str    `json:"action"`
	Answers  jsontext.Value `json:"answers"`
	Scope    lenient.Str    `json:"scope"`
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
	ID             lenient.Str `json:"id"`
	ForkedFromID   lenient.Str `json:"forkedFromId"`
	ParentThreadID lenient.Str `json:"parentThreadId"`
	Model          lenient.Str `json:"model"`
	Cwd            lenient.Str `json:"cwd"`
	CLIVersion     lenient.Str `json:"cliVersion"`
}

type turn struct {
	ID         lenient.Str            `json:"id"`
	RootTurnID lenient.Str            `json:"rootTurnId"`
	Status     lenient.Str            `json:"status"`
	Items      jsontext.Value         `json:"items"`
	Error      lenient.Opt[turnError] `json:"error"`
	DurationMs lenient.Num            `json:"durationMs"`
}

type turnError struct {
	Message           lenient.Str    `json:"message"`
	CodexErrorInfo    jsontext.Value `json:"codexErrorInfo"`
	AdditionalDetails lenient.Str    `json:"additionalDetails"`
}

type tokenUsage struct {
	Total  lenient.Opt[tokens]      `json:"total"`
	Last   lenient.Opt[tokens]      `json:"last"`
	Window lenient.Opt[lenient.Num] `json:"modelContextWindow"`
}

type tokens struct {
	Total     lenient.Num `json:"totalTokens"`
	Input     lenient.Num `json:"inputTokens"`
	Cached    lenient.Num `json:"cachedInputTokens"`
	Output    lenient.Num `json:"outputTokens"`
	Reasoning lenient.Num `json:"reasoningOutputTokens"`
}

type planStep struct {
	Step   lenient.Str `json:"step"`
	Status lenient.Str `json:"status"`
}

// item is the union of the item types.
type item struct {
	Type     lenient.Str               `json:"type"`
	ID       lenient.Str               `json:"id"`
	ClientID lenient.Str               `json:"clientId"`
	Text     lenient.Str               `json:"text"`
	Content  jsontext.Value            `json:"content"` // of a user: inputs; of reasoning: strings
	Summary  lenient.List[lenient.Str] `json:"summary"`
	Status   lenient.Str               `json:"status"`

	Command          lenient.Str                 `json:"command"`
	Cwd              lenient.Str                 `json:"cwd"`
	ProcessID        lenient.Str                 `json:"processId"`
	Source           lenient.Str                 `json:"source"`
	CommandActions   lenient.List[commandAction] `json:"commandActions"`
	AggregatedOutput lenient.Str                 `json:"aggregatedOutput"`
	ExitCode         lenient.Opt[lenient.Num]    `json:"exitCode"`

	Changes jsontext.Value `json:"changes"`

	Server       lenient.Str    `json:"server"`
	ServerName   lenient.Str    `json:"serverName"`
	Tool         lenient.Str    `json:"tool"`
	ToolName     lenient.Str    `json:"toolName"`
	Namespace    lenient.Str    `json:"namespace"`
	Name         lenient.Str    `json:"name"`
	Arguments    jsontext.Value `json:"arguments"`
	Result       jsontext.Value `json:"result"`
	Error        jsontext.Value `json:"error"`
	ContentItems jsontext.Value `json:"contentItems"`
	Output       jsontext.Value `json:"output"`

	ReceiverThreadIDs lenient.List[lenient.Str] `json:"receiverThreadIds"`
	Prompt            lenient.Str               `json:"prompt"`
	Model             lenient.Str               `json:"model"`
	AgentsStates      jsontext.Value            `json:"agentsStates"`
	Kind              lenient.Str               `json:"kind"`
	AgentThreadID     lenient.Str               `json:"agentThreadId"`
	AgentPath         lenient.Str               `json:"agentPath"`

	Query      lenient.Str            `json:"query"`
	Action     lenient.Opt[webAction] `json:"action"`
	Path       lenient.Str            `json:"path"`
	SavedPath  lenient.Str            `json:"savedPath"`
	DurationMs lenient.Num            `json:"durationMs"`
}

type commandAction struct {
	Type    lenient.Str `json:"type,omitempty"`
	Command lenient.Str `json:"command,omitempty"`
	Path    lenient.Str `json:"path,omitempty"`
	Query   lenient.Str `json:"query,omitempty"`
}

type webAction struct {
	Type    lenient.Str `json:"type"`
	Query   lenient.Str `json:"query"`
	URL     lenient.Str `json:"url"`
	Pattern lenient.Str `json:"pattern"`
}

type input struct {
	Type lenient.Str `json:"type"`
	Text lenient.Str `json:"text"`
	Path lenient.Str `json:"path"`
	URL  lenient.Str `json:"url"`
	Name lenient.Str `json:"name"`
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
	return json.Unmarshal(b, m, lenient.Options)
}

// reset clears the last line, but keeps strings that are likely to repeat.
func (m *message) reset() {
	m.ID = m.ID[:0]
	m.Result.V, m.Error.V = nil, nil
	m.Method.set = false
	p := &m.Params
	*p = params{ThreadID: text{s: p.ThreadID.s}, TurnID: text{s: p.TurnID.s}, ItemID: text{s: p.ItemID.s}, Delta: text{s: p.Delta.s}}
}

// Outgoing messages.

type request struct {
	ID     int    `json:"id"`
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
