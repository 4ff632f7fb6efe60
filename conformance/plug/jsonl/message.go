package jsonl

import (
	_ "embed"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// Version is that of the protocol.
const Version = 1

// Schema is the JSON Schema (draft 2020-12) of the lines of both sides:
// #/$defs/command is what a program reads, #/$defs/message what it writes. What
// event.Schema says of an event is not repeated.
//
//go:embed schema.json
var Schema []byte

// The abilities that a program may declare. Open, send and close each has.
const (
	CanAnswer   = "answer"    // permission requests
	CanQuestion = "question"  // interrupts: questions to the user, plans to approve
	CanStop     = "stop"      // a turn
	CanSteer    = "steer"     // a message into the running turn
	CanResume   = "resume"    // open with resume
	CanFork     = "fork"      // open with fork
	CanModel    = "set_model" // during a session
	CanMode     = "set_mode"
	CanAttach   = "attach"   // files with a message
	CanPriority = "priority" // of a message
	CanWithdraw = "withdraw" // a message that waits
	CanStopTask = "stop_task"
	CanRevert   = "revert"
	CanRewind   = "rewind"
	CanCompact  = "compact"
	CanArchive  = "archive" // and open with unarchive
	CanRename   = "rename"
	CanMCP      = "mcp" // open with MCP servers
	CanSchema   = "schema"
	CanPolicy   = "policy" // open with a tool policy
)

// abilities are all that may be declared.
var abilities = []string{
	CanAnswer, CanQuestion, CanStop, CanSteer, CanResume, CanFork, CanModel, CanMode, CanAttach, CanPriority, CanWithdraw, CanStopTask,
	CanRevert, CanRewind, CanCompact, CanArchive, CanRename, CanMCP, CanSchema, CanPolicy,
}

// Hello is the first line of a program: what it is and what it carries.
type Hello struct {
	Protocol int      `json:"protocol"`
	Name     string   `json:"name,omitempty"`
	Runtime  string   `json:"runtime,omitempty"` // codex or claude
	Can      []string `json:"can"`
	// Events are the types that it emits; nil: any.
	Events []event.Type `json:"events,omitempty"`
	// Without are members that its events do not have: tool_start.file_path, seq.
	Without []string `json:"without,omitempty"`
}

// message is a line of a program: one of the three.
type message struct {
	Hello *Hello         `json:"hello"`
	Reply *reply         `json:"reply"`
	Event jsontext.Value `json:"event"`
}

// reply is what a program says to a command.
type reply struct {
	ID    int      `json:"id"`
	Error *refusal `json:"error"`
}

// refusal is why it was not done.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// command is a line to a program. Each verb has some of the members.
type command struct {
	ID int    `json:"id"`
	Do string `json:"do"`

	// Of open:
	SessionID   string         `json:"session_id,omitempty"`
	Dir         string         `json:"dir,omitempty"`
	Command     []string       `json:"command,omitempty"`
	Args        []string       `json:"args,omitempty"`
	Model       string         `json:"model,omitempty"` // and of set_model
	Mode        string         `json:"mode,omitempty"`  // and of set_mode
	Resume      string         `json:"resume,omitempty"`
	After       *position      `json:"after,omitempty"`
	Fork        bool           `json:"fork,omitzero"`
	At          string         `json:"at,omitempty"`
	Unarchive   bool           `json:"unarchive,omitzero"`
	Checkpoints bool           `json:"checkpoints,omitzero"`
	Questions   bool           `json:"questions,omitzero"`
	MCP         []server       `json:"mcp,omitempty"`
	Schema      jsontext.Value `json:"schema,omitzero"`
	Policy      jsontext.Value `json:"policy,omitzero"`

	// Of send and steer, and those about a message:
	MessageID string             `json:"message_id,omitempty"`
	Text      string             `json:"text,omitempty"` // and of rename
	Files     []event.Attachment `json:"files,omitempty"`
	Priority  string             `json:"priority,omitempty"`
	Dry       bool               `json:"dry,omitzero"` // of rewind

	// Of answer:
	RequestID string         `json:"request_id,omitempty"`
	Decision  string         `json:"decision,omitempty"`
	Message   string         `json:"message,omitempty"`
	Input     jsontext.Value `json:"input,omitzero"`
	Value     jsontext.Value `json:"value,omitzero"`
	Scope     string         `json:"scope,omitempty"`

	TaskID string `json:"task_id,omitempty"` // of stop_task
}

type position struct {
	Seq  int64 `json:"seq"`
	Turn int   `json:"turn"`
}

type server struct {
	Name    string            `json:"name"`
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}
