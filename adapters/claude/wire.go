package claude

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fastjson"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// line is one line of stdout: the union of all messages, so that one pass
// decodes it. The order of keys is not stable, and type may come last. Fields
// that no event uses are omitted.
type line struct {
	Type            word    `json:"type"`
	Subtype         word    `json:"subtype"`
	UUID            string  `json:"uuid"`
	SessionID       id      `json:"session_id"`
	ParentToolUseID id      `json:"parent_tool_use_id"`
	AgentID         id      `json:"agent_id"`
	Message         message `json:"message"`
	Event           stream  `json:"event"`

	template fastjson.Template // the delta that was read last

	// stream_event
	APIMessageID id         `json:"api_message_id"`
	Abandoned    *abandoned `json:"abandoned_blocks"`

	// assistant, user
	Error        lenient.Str   `json:"error"`
	APIError     bool          `json:"is_api_error_message"`
	APIErrorType lenient.Str   `json:"api_error_type"`
	APIErrorKind lenient.Str   `json:"api_error"`
	Aborted      bool          `json:"aborted"`
	LocalSource  lenient.Str   `json:"local_command_source"`
	IsReplay     bool          `json:"isReplay"`
	ToolResult   toolUseResult `json:"tool_use_result"`
	ToolMeta     []toolMeta    `json:"tool_result_meta"`

	// command_lifecycle
	CommandUUID string      `json:"command_uuid"`
	State       lenient.Str `json:"state"`

	// control_request, control_cancel_request, control_response
	RequestID string   `json:"request_id"`
	Request   *request `json:"request"`
	Response  *reply   `json:"response"`

	// result
	IsError        bool          `json:"is_error"`
	Result         lenient.Str   `json:"result"`
	Errors         []lenient.Str `json:"errors"`
	TerminalReason lenient.Str   `json:"terminal_reason"`
	NumTurns       float64       `json:"num_turns"`
	DurationMS     float64       `json:"duration_ms"`
	Cost           *float64      `json:"total_cost_usd"`
	Usage          *usage        `json:"usage"`
	ModelUsage     modelUsage    `json:"modelUsage"`
	APIErrorStatus *float64      `json:"api_error_status"`
	Origin         origin        `json:"origin"`

	// system
	Model           lenient.Str  `json:"model"`
	PermissionMode  lenient.Str  `json:"permissionMode"`
	Version         lenient.Str  `json:"claude_code_version"`
	Cwd             lenient.Str  `json:"cwd"`
	Status          lenient.Str  `json:"status"`
	CompactResult   lenient.Str  `json:"compact_result"`
	CompactError    lenient.Str  `json:"compact_error"`
	Compact         *compactMeta `json:"compact_metadata"`
	Attempt         float64      `json:"attempt"`
	MaxRetries      float64      `json:"max_retries"`
	RetryDelay      float64      `json:"retry_delay_ms"`
	TaskID          lenient.Str  `json:"task_id"`
	TaskType        lenient.Str  `json:"task_type"`
	ToolUseID       lenient.Str  `json:"tool_use_id"`
	Description     lenient.Str  `json:"description"`
	Summary         lenient.Str  `json:"summary"`
	SubagentType    lenient.Str  `json:"subagent_type"`
	TaskDescription lenient.Str  `json:"task_description"`
	IsBackgrounded  *bool        `json:"is_backgrounded"`
	Patch           *taskPatch   `json:"patch"`
	Tasks           []taskRef    `json:"tasks"`
	Content         lenient.Str  `json:"content"`
	Text            lenient.Str  `json:"text"`
	FallbackModel   lenient.Str  `json:"fallback_model"`
	RateLimit       *rateLimit   `json:"rate_limit_info"`
	Outcome         lenient.Str  `json:"outcome"`
	HookName        lenient.Str  `json:"hook_name"`

	// tool_progress
	Elapsed float64 `json:"elapsed_time_seconds"`
}

// origin is why a turn ran that no message of the client began.
type origin struct {
	Kind lenient.Str `json:"kind"`
}

// UnmarshalJSONFrom accepts an object or a string.
func (o *origin) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case '{':
		type plain origin
		return json.UnmarshalDecode(d, (*plain)(o))
	case '"':
		return json.UnmarshalDecode(d, &o.Kind)
	}
	return d.SkipValue()
}

// ofNotification reports whether the turn answered the notification of a task.
func (o origin) ofNotification() bool { return o.Kind == "task-notification" }

// message is the message of assistant and user lines. In some system lines it
// is a string.
type message struct {
	ID      string      `json:"id"`
	Model   lenient.Str `json:"model"`
	Content content     `json:"content"`
	Usage   *usage      `json:"usage"`
	Text    string      `json:"-"`
}

// UnmarshalJSONFrom accepts an object or a string.
func (m *message) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case '{':
		type plain message
		return json.UnmarshalDecode(d, (*plain)(m))
	case '"':
		return json.UnmarshalDecode(d, &m.Text)
	}
	return d.SkipValue()
}

// content is a string or a list of blocks.
type content struct {
	Text   string
	Blocks []block
}

// UnmarshalJSONFrom accepts a string or an array.
func (c *content) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case '"':
		return json.UnmarshalDecode(d, &c.Text)
	case '[':
		return json.UnmarshalDecode(d, &c.Blocks)
	}
	return d.SkipValue()
}

// joined returns all text of the content. Images and other blocks are omitted.
func (c *content) joined() string {
	if c.Blocks == nil {
		return c.Text
	}
	var parts []string
	for i := range c.Blocks {
		if b := &c.Blocks[i]; b.Type == "text" {
			parts = append(parts, string(b.Text))
		}
	}
	return strings.Join(parts, "\n")
}

// media returns the references to the images and documents of the content.
func (c *content) media(l *ledger.Ledger) (out []event.Media) {
	for i := range c.Blocks {
		b := &c.Blocks[i]
		kind := event.MediaKind(b.Type)
		if kind != event.MediaImage && kind != event.MediaDocument || b.Source.Type != "base64" {
			continue
		}
		if data, err := base64.StdEncoding.DecodeString(string(b.Source.Bytes)); err == nil {
			out = append(out, l.MediaOf(kind, string(b.Source.MIME), data))
		}
	}
	return out
}

// block is one block of a message: text, thinking, tool_use, tool_result ….
type block struct {
	Type      word           `json:"type"`
	Text      lenient.Str    `json:"text"`
	Thinking  lenient.Str    `json:"thinking"`
	ID        string         `json:"id"`
	Name      word           `json:"name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID string         `json:"tool_use_id"`
	Content   content        `json:"content"`
	IsError   bool           `json:"is_error"`
	Source    struct {       // of an image or a document
		Type  word        `json:"type"`
		MIME  lenient.Str `json:"media_type"`
		Bytes lenient.Str `json:"data"`
	} `json:"source"`
}

// stream is an event of the model's stream. In other messages it is a string.
type stream struct {
	Type    word          `json:"type"`
	Index   int           `json:"index"`
	Delta   delta         `json:"delta"`
	Block   streamBlock   `json:"content_block"`
	Message streamMessage `json:"message"`
	Usage   *usage        `json:"usage"`
	Error   errBody       `json:"error"`
}

// UnmarshalJSONFrom decodes an object and skips anything else.
func (s *stream) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	type plain stream
	return decodeObject(d, (*plain)(s))
}

// decodeObject decodes an object and skips anything else.
func decodeObject[T any](d *jsontext.Decoder, v *T) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	return json.UnmarshalDecode(d, v)
}

type delta struct {
	Type       word        `json:"type"`
	Text       string      `json:"text"`
	Thinking   string      `json:"thinking"`
	StopReason lenient.Str `json:"stop_reason"`
}

type streamBlock struct {
	Type     word   `json:"type"`
	ID       string `json:"id"`
	Name     word   `json:"name"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
}

type streamMessage struct {
	ID    string      `json:"id"`
	Model lenient.Str `json:"model"`
	Usage *usage      `json:"usage"`
}

type errBody struct {
	Message lenient.Str `json:"message"`
}

// UnmarshalJSONFrom decodes an object and skips anything else.
func (e *errBody) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	type plain errBody
	return decodeObject(d, (*plain)(e))
}

type abandoned struct {
	From int `json:"from_block_index"`
}

type usage struct {
	Input       float64 `json:"input_tokens"`
	CacheCreate float64 `json:"cache_creation_input_tokens"`
	CacheRead   float64 `json:"cache_read_input_tokens"`
	Output      float64 `json:"output_tokens"`
	Details     struct {
		Thinking float64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	Total float64 `json:"total_tokens"` // of a task
}

// modelUsage is an object by model, of which only the context window is used.
type modelUsage struct{ Window float64 }

// UnmarshalJSONFrom keeps the largest window.
func (m *modelUsage) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		if err := d.SkipValue(); err != nil { // the model's name
			return err
		}
		if d.PeekKind() != '{' {
			if err := d.SkipValue(); err != nil {
				return err
			}
			continue
		}
		var v struct {
			Window float64 `json:"contextWindow"`
		}
		if err := json.UnmarshalDecode(d, &v); err != nil {
			return err
		}
		m.Window = max(m.Window, v.Window)
	}
	_, err := d.ReadToken()
	return err
}

type toolMeta struct {
	ID       string `json:"id"`
	Decision *struct {
		Decision lenient.Str `json:"decision"`
		Source   lenient.Str `json:"source"`
	} `json:"permission_decision"`
}

// toolUseResult is the structured copy of a tool's result: an object that
// differs by tool, or a string or an array.
type toolUseResult struct {
	Type     lenient.Str `json:"type"`
	FilePath lenient.Str `json:"filePath"`
	Content  lenient.Str `json:"content"`
	Patch    []hunk      `json:"structuredPatch"`
	TaskID   lenient.Str `json:"backgroundTaskId"`
	IsAsync  bool        `json:"isAsync"`
	Status   lenient.Str `json:"status"`
	AgentID  lenient.Str `json:"agentId"`
	// PersistedPath is the file with the whole output, of which the result has the beginning.
	PersistedPath lenient.Str `json:"persistedOutputPath"`
	notebookResult
	todoResult
}

// UnmarshalJSONFrom decodes an object and skips anything else.
func (r *toolUseResult) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	// The structured content of an MCP tool may use these names for anything.
	// If it does not fit, the fields stay empty.
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	type plain toolUseResult
	var p plain
	if json.Unmarshal(v, &p, lenient.Options) == nil {
		*r = toolUseResult(p)
	}
	return nil
}

// notebookResult is the result of an edit of a cell of a notebook.
type notebookResult struct {
	Notebook  lenient.Str `json:"notebook_path"`
	OldSource lenient.Str `json:"old_source"`
	NewSource lenient.Str `json:"new_source"`
	CellError lenient.Str `json:"error"`
}

type hunk struct {
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
}

type request struct {
	Subtype     lenient.Str      `json:"subtype"`
	ToolName    lenient.Str      `json:"tool_name"`
	Input       jsontext.Value   `json:"input"`
	ToolUseID   lenient.Str      `json:"tool_use_id"`
	AgentID     lenient.Str      `json:"agent_id"`
	Reason      lenient.Str      `json:"decision_reason"`
	Suggestions []jsontext.Value `json:"permission_suggestions"`

	CallbackID lenient.Str    `json:"callback_id"` // of a hook
	Message    jsontext.Value `json:"message"`     // of an MCP server: JSON-RPC; of a question: a string
	ServerName lenient.Str    `json:"server_name"`
}

type reply struct {
	Subtype   lenient.Str `json:"subtype"`
	RequestID string      `json:"request_id"`
	Error     lenient.Str `json:"error"`
	Response  body        `json:"response"`
}

// body is the content of a reply to our request, or, in an echo, of our own
// reply to a permission.
type body struct {
	Version  lenient.Str `json:"claude_code_version"`
	Mode     lenient.Str `json:"current_permission_mode"`
	Model    lenient.Str `json:"model"`
	Hooks    *bool       `json:"hooks_applied"` // of initialize
	Behavior lenient.Str `json:"behavior"`
	Action   lenient.Str `json:"action"`
	// Cancelled is true if the message was cancelled in time; for an interrupt
	// it lists the cancelled messages.
	Cancelled jsontext.Value `json:"cancelled"`

	// Of rewind_files:
	CanRewind    bool          `json:"canRewind"`
	Error        lenient.Str   `json:"error"`
	FilesChanged []lenient.Str `json:"filesChanged"`
	Insertions   float64       `json:"insertions"`
	Deletions    float64       `json:"deletions"`

	// Lists, of initialize and of mcp_status:
	Models   jsontext.Value `json:"models"`
	Commands jsontext.Value `json:"commands"`
	Account  jsontext.Value `json:"account"`
	Servers  jsontext.Value `json:"mcpServers"`
}

// UnmarshalJSONFrom decodes an object and skips anything else.
func (b *body) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	type plain body
	return decodeObject(d, (*plain)(b))
}

type compactMeta struct {
	Post float64 `json:"post_tokens"`
}

type taskPatch struct {
	Status         lenient.Str `json:"status"`
	Error          lenient.Str `json:"error"`
	IsBackgrounded *bool       `json:"is_backgrounded"`
}

type taskRef struct {
	TaskID string `json:"task_id"`
}

type rateLimit struct {
	Status lenient.Str `json:"status"`
}
