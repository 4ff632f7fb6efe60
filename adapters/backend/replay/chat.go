package replay

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// Chat is the chat of a session, as a user sees it. Its JSON form omits empty
// fields.
type Chat struct {
	SessionID  string       `json:"session_id,omitempty"`
	Runtime    string       `json:"runtime,omitempty"`
	Model      string       `json:"model,omitempty"`
	Mode       string       `json:"mode,omitempty"`
	Cwd        string       `json:"cwd,omitempty"`
	Status     Status       `json:"status"`             // idle, running, waiting, ended, failed
	Activity   string       `json:"activity,omitempty"` // of the running turn: see the Activity constants
	Queue      []string     `json:"queue,omitempty"`    // ids of queued messages
	Messages   []Message    `json:"messages,omitempty"`
	Tasks      []Task       `json:"tasks,omitempty"`
	Components []Component  `json:"components,omitempty"` // of all surfaces except chat
	Usage      *event.Usage `json:"usage,omitempty"`
	EndReason  string       `json:"end_reason,omitempty"`
	ExitCode   *int         `json:"exit_code,omitempty"`
}

// Status is the state of a chat, a message or a block.
type Status string

// The values of Status. Chat.Status, Message.Status and the kinds list theirs.
const (
	Idle         Status = "idle"
	Running      Status = "running"
	Waiting      Status = "waiting" // for the user
	Ended        Status = "ended"
	Complete     Status = "complete"
	Stopped      Status = "stopped"
	Failed       Status = "failed"
	Interrupted  Status = "interrupted"
	OK           Status = "ok"
	Denied       Status = "denied"
	Backgrounded Status = "backgrounded"
	Pending      Status = "pending"
	Allowed      Status = "allowed"
	Cancelled    Status = "cancelled" // denied, and the turn stopped
	Withdrawn    Status = "withdrawn"
	Answered     Status = "answered"
	Created      Status = "created"
	Restored     Status = "restored"
	Loading      Status = "loading"
	Ready        Status = "ready"
	Errored      Status = "error"
	Writing      Status = "writing" // the model writes the input of a tool call
)

// The values of Chat.Activity. ActivityTool is followed by the tool's name.
const (
	ActivityWorking    = "working"
	ActivityThinking   = "thinking"
	ActivityWriting    = "writing"
	ActivityTool       = "tool "
	ActivityCompacting = "compacting"
	ActivityRetrying   = "retrying"
)

// Role is the author of a message.
type Role string

// The values of Role. Messages of RoleSession belong to no turn.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSession   Role = "session"
)

// Message is one message of a chat. Its ID is the client's for a user's message, and
// derived from the turn for the assistant's.
type Message struct {
	Role        Role               `json:"role"`
	ID          string             `json:"id,omitempty"`
	Turn        int                `json:"turn,omitzero"`
	Status      Status             `json:"status"` // running, complete, stopped, failed
	Via         event.Via          `json:"via,omitempty"`
	Cause       event.Cause        `json:"cause,omitempty"` // of the turn, if not the user
	Attachments []event.Attachment `json:"attachments,omitempty"`
	Blocks      []Block            `json:"blocks,omitempty"`
	Reason      string             `json:"reason,omitempty"`
	ExitCode    *int               `json:"exit_code,omitempty"`
	Error       *Failure           `json:"error,omitempty"`
	Number      int                `json:"number"`           // position in the session, from 1
	Seq         int64              `json:"seq,omitzero"`     // of its first event
	Start       time.Time          `json:"start,omitzero"`   // of that event
	End         time.Time          `json:"end,omitzero"`     // of the event that ended it
	Figures     *Figures           `json:"figures,omitzero"` // on the last message of a turn that has ended
}

// Figures are the values that the runtime reported for an ended turn. Values that
// are counted from blocks are in Stats.
type Figures struct {
	Start      time.Time     `json:"start,omitzero"`
	End        time.Time     `json:"end,omitzero"`
	Tokens     *event.Tokens `json:"tokens,omitzero"`      // of the turn, whatever the scope of usage
	Cost       *float64      `json:"cost,omitzero"`        // US dollars
	DurationMS int64         `json:"duration_ms,omitzero"` // by the runtime's own clock
	Rounds     int           `json:"rounds,omitzero"`      // requests to the model
}

// Kind is the kind of a block.
type Kind string

// The values of Kind, with the Status values of each. The kind of any other block is the type of an
// event that the reducer has no case for; its text is the data of the event as JSON.
const (
	KindText       Kind = "text"       // running, complete, interrupted
	KindThinking   Kind = "thinking"   // running, complete, interrupted
	KindTool       Kind = "tool"       // writing, running, ok, failed, denied, interrupted, backgrounded
	KindSubagent   Kind = "subagent"   // running, complete, failed, stopped, interrupted
	KindPermission Kind = "permission" // pending, allowed, denied, cancelled, withdrawn
	KindInterrupt  Kind = "interrupt"  // pending, answered, withdrawn
	KindPlan       Kind = "plan"
	KindNotice     Kind = "notice"
	KindCompaction Kind = "compaction" // running, complete, interrupted
	KindCheckpoint Kind = "checkpoint" // created, restored
	KindError      Kind = "error"      // failed
	KindComponent  Kind = "component"  // loading, ready, error
)

// Block is one part of a message. Its ID is that of the event: block_id,
// tool_use_id, request_id, interrupt_id, subagent_id, checkpoint_id or
// component_id. The ID of a component of a tool call is the tool_use_id.
type Block struct {
	Kind       Kind             `json:"kind"`
	ID         string           `json:"id,omitempty"`
	Status     Status           `json:"status,omitempty"`
	Text       string           `json:"text,omitempty"` // text, thinking, notice; of a sub-agent its task's text; of a kind without a constant its data
	Tool       *Tool            `json:"tool,omitzero"`
	Permission *Permission      `json:"permission,omitzero"`
	Interrupt  *Interrupt       `json:"interrupt,omitzero"`
	Component  *Component       `json:"component,omitzero"`
	Subagent   *Subagent        `json:"subagent,omitzero"`
	Notice     *Notice          `json:"notice,omitzero"`
	Steps      []event.PlanStep `json:"steps,omitempty"`
	Tokens     int64            `json:"tokens,omitzero"` // after a compaction
	Error      *Failure         `json:"error,omitzero"`  // of an error, or the error that ended a sub-agent
	Start      time.Time        `json:"start,omitzero"`  // of its first event
	End        time.Time        `json:"end,omitzero"`    // of the event that ended it
	Blocks     []Block          `json:"blocks,omitempty"`
}

// Tool is a tool call and its result.
type Tool struct {
	Name       string             `json:"name,omitempty"`
	Input      event.Raw          `json:"input,omitzero"`
	InputText  string             `json:"input_text,omitempty"` // the input so far, while the model writes it
	Command    string             `json:"command,omitempty"`
	FilePath   string             `json:"file_path,omitempty"`
	Pattern    string             `json:"pattern,omitempty"`
	SearchPath string             `json:"search_path,omitempty"`
	Query      string             `json:"query,omitempty"` // of a WebSearch
	URL        string             `json:"url,omitempty"`   // the page of a WebFetch
	IsFileRead bool               `json:"is_file_read,omitzero"`
	Background bool               `json:"background,omitzero"`
	Spawn      bool               `json:"subagent_spawn,omitzero"`
	Subagent   string             `json:"subagent_name,omitempty"`
	Progress   *Progress          `json:"progress,omitempty"` // the last one of a tool that runs
	Output     string             `json:"output,omitempty"`
	Truncated  bool               `json:"truncated,omitzero"` // the runtime cut the output
	Media      []event.Media      `json:"media,omitempty"`    // the images, sounds and documents that the tool gave
	IsError    bool               `json:"is_error,omitzero"`
	ExitCode   *int               `json:"exit_code,omitempty"`
	Changes    []event.FileChange `json:"changes,omitempty"`
}

// Progress is what the runtime stated last about a tool that runs.
type Progress struct {
	Message   string   `json:"message,omitempty"`
	Progress  *float64 `json:"progress,omitempty"` // how far it is, in a unit of the tool's own
	Total     *float64 `json:"total,omitempty"`    // progress at the end
	ElapsedMS int64    `json:"elapsed_ms,omitzero"`
}

// Permission is a request to let a tool run.
type Permission struct {
	ToolUseID string    `json:"tool_use_id,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Input     event.Raw `json:"input,omitzero"`
	Options   []string  `json:"options,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	By        event.By  `json:"by,omitempty"`
}

// Interrupt is a question to the user, or a plan to approve.
type Interrupt struct {
	Component string    `json:"component,omitempty"`
	Props     event.Raw `json:"props,omitzero"`
	Surface   string    `json:"surface,omitempty"`
	Value     event.Raw `json:"value,omitzero"`
	By        event.By  `json:"by,omitempty"`
}

// Subagent describes a sub-agent. Block.Blocks holds its blocks.
type Subagent struct {
	Name  string        `json:"name,omitempty"`
	Usage *event.Tokens `json:"usage,omitempty"`
}

// Notice is the level and code of a notice.
type Notice struct {
	Level event.Level      `json:"level"`
	Code  event.NoticeCode `json:"code"`
}

// Failure is an error that ended a turn, a sub-agent or the session.
type Failure struct {
	Code    event.ErrorCode `json:"code"`
	Message string          `json:"message,omitempty"`
}

// Task is work that may outlast a turn. Tasks are in the order of their first event.
type Task struct {
	ID        string           `json:"id"`
	Kind      event.TaskKind   `json:"kind"`
	ParentID  string           `json:"parent_id,omitempty"`
	ToolUseID string           `json:"tool_use_id,omitempty"`
	Name      string           `json:"name,omitempty"`
	Status    event.TaskStatus `json:"status"`
	Text      string           `json:"text,omitempty"`
	Usage     *event.Tokens    `json:"usage,omitempty"`
}

// JSON returns the chat as indented, deterministic JSON.
func (c *Chat) JSON() ([]byte, error) {
	return json.Marshal(c, jsontext.WithIndent("  "), json.Deterministic(true),
		jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// Text returns the visible text of the assistant in a turn.
func (c *Chat) Text(turn int) string {
	var p paragraphs
	for i := range c.Messages {
		if m := &c.Messages[i]; m.Role == RoleAssistant && m.Turn == turn {
			p.addBlocks(m.Blocks)
		}
	}
	return p.String()
}

// Text returns the message's visible text, without that of sub-agents.
func (m Message) Text() string {
	var p paragraphs
	p.addBlocks(m.Blocks)
	return p.String()
}

// paragraphs joins texts with exactly one blank line.
type paragraphs struct {
	done     strings.Builder
	last     string // its trailing newlines are cut if another text follows
	nonEmpty bool
}

func (p *paragraphs) addBlocks(blocks []Block) {
	for i := range blocks {
		if blocks[i].Kind == KindText {
			p.addText(blocks[i].Text)
		}
	}
}

func (p *paragraphs) addText(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if p.nonEmpty {
		p.done.WriteString(strings.TrimRight(p.last, "\r\n"))
		p.done.WriteString("\n\n")
		text = strings.TrimLeft(text, "\r\n")
	}
	p.last, p.nonEmpty = text, true
}

func (p *paragraphs) String() string { return p.done.String() + p.last }
