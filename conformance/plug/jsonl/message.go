package jsonl

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance/plug"
)

// Version is the version of the protocol.
const Version = 1

// Schema is the JSON Schema (draft 2020-12) of the lines of both sides:
// #/$defs/command is what a program reads, #/$defs/message what it writes. An
// event in it is described by event.Schema.
//
//go:embed schema.json
var Schema []byte

// Abilities returns all that a hello may declare: the commands answer and stop, the optional
// operations, and Options.
func Abilities() []string {
	out := []string{plug.CanAnswer, plug.CanStop}
	for _, o := range op.All() {
		out = append(out, o.Name)
	}
	return append(out, options...)
}

// Options returns the abilities that are no commands.
func Options() []string { return slices.Clone(options) }

var options = []string{
	plug.CanQuestion, plug.CanResume, plug.CanFork, plug.CanAttach, plug.CanPriority,
	plug.CanMCP, plug.CanSchema, plug.CanPolicy, plug.CanInstructions, plug.CanEffort, plug.CanMaxRequests, plug.CanMaxCost,
	plug.CanExtraDirs, plug.CanSettingSources, plug.CanStreamToolInput, plug.CanLimits, plug.CanTools, plug.CanHooks, plug.CanComponents,
}

// Hello is the first line of a program. It declares what the program supports.
type Hello struct {
	Protocol int    `json:"protocol"`
	Name     string `json:"name,omitempty"`
	Declaration
}

// message is a line that a program writes: it has one of the members.
type message struct {
	Hello *Hello         `json:"hello"`
	Reply *reply         `json:"reply"`
	Event jsontext.Value `json:"event"`

	Call   *clientCall `json:"call"`
	Cancel *cancelled  `json:"cancel"`
}

// cancelled names a call that the runtime cancelled.
type cancelled struct {
	ID string `json:"id"`
}

// reply is the reply to a command.
type reply struct {
	ID    int         `json:"id"`
	Error *replyError `json:"error"`

	Listed []adapters.Listed `json:"listed"` // of list
}

// replyError is why a command was not done.
type replyError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// command is a line to a program. Each command uses some of the members.
type command struct {
	ID int `json:"id"`
	op.Call

	// Of open, and the model and the mode of Call:
	SessionID   string    `json:"session_id,omitempty"`
	Dir         string    `json:"dir,omitempty"`
	Command     []string  `json:"command,omitempty"`
	Args        []string  `json:"args,omitempty"`
	Resume      string    `json:"resume,omitempty"`
	After       *position `json:"after,omitempty"`
	Fork        bool      `json:"fork,omitzero"`
	At          string    `json:"at,omitempty"`
	Unarchive   bool      `json:"unarchive,omitzero"`
	Checkpoints bool      `json:"checkpoints,omitzero"`
	Questions   bool      `json:"questions,omitzero"`

	Instructions        string `json:"instructions,omitempty"`
	ReplaceInstructions bool   `json:"replace_instructions,omitzero"`

	Effort         string   `json:"effort,omitempty"`
	MaxRequests    int      `json:"max_requests,omitzero"`
	MaxCost        float64  `json:"max_cost,omitzero"`
	ExtraDirs      []string `json:"extra_dirs,omitempty"`
	SettingSources []string `json:"setting_sources,omitzero"`

	StreamToolInput bool `json:"stream_tool_input,omitzero"`

	MCP    []plug.MCPServer `json:"mcp,omitempty"`
	Schema jsontext.Value   `json:"schema,omitzero"`
	Policy jsontext.Value   `json:"policy,omitzero"`

	Limits *plug.Limits `json:"limits,omitempty"`

	Tools      []clientTool   `json:"tools,omitempty"`
	Hooks      []clientHook   `json:"hooks,omitempty"`
	Components jsontext.Value `json:"components,omitzero"`

	// Of send:
	Text     *string            `json:"text,omitzero"` // replaces that of Call: a message may be empty
	Files    []event.Attachment `json:"files,omitempty"`
	Priority string             `json:"priority,omitempty"`

	// Of answer:
	RequestID string         `json:"request_id,omitempty"`
	Decision  string         `json:"decision,omitempty"`
	Message   string         `json:"message,omitempty"`
	Input     jsontext.Value `json:"input,omitzero"`
	Value     jsontext.Value `json:"value,omitzero"`
	Scope     string         `json:"scope,omitempty"`
}

// String names a command in messages: "call 3 (send m1)". The id of a call is easily
// taken for an id of the runtime's protocol.
func (c *command) String() string {
	what := c.Do
	if about := cmp.Or(c.MessageID, c.RequestID, c.TaskID); about != "" {
		what += " " + about
	}
	return fmt.Sprintf("call %d (%s)", c.ID, what)
}

type position struct {
	Seq  int64 `json:"seq"`
	Turn int   `json:"turn"`
}
