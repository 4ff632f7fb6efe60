package jsonl

import (
	"cmp"
	_ "embed"
	"fmt"
	"reflect"
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
	return append(out, Options()...)
}

// Options returns the abilities that are no commands: those of send and answer, and those of the
// options of open.
func Options() []string {
	out := []string{plug.CanQuestion, plug.CanAttach, plug.CanPriority}
	for _, o := range op.Options(reflect.TypeFor[openCommand]()) {
		if can := ability(o); can != "" && op.Named(can) == nil && !slices.Contains(out, can) {
			out = append(out, can)
		}
	}
	return out
}

// ability returns what a program declares to get an option with open, or "".
func ability(o op.Option) string { return cmp.Or(o.With, o.Can) }

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

	Call   *plug.ClientCall `json:"call"`
	Cancel *cancelled       `json:"cancel"`
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

// command is a line to a program, but for open. Each command uses some of the members.
type command struct {
	ID int `json:"id"`
	op.Call

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

// openCommand is the command open. Its schema and the table of options in PROTOCOL.md are
// generated from the tags of its members and theirs.
type openCommand struct {
	ID int `json:"id"`

	Do string `json:"do"`
	op.Opening
	After *position `doc:"Where the stream of a resumed session left off: continue to count seq and turn." json:"after,omitempty" with:"resume"`

	MCP []plug.MCPServer `can:"mcp" doc:"MCP servers for the runtime to start, with name, command, args and env; one that runs already has name, type, url and headers." json:"mcp,omitempty"`

	Questions bool `doc:"The MCP servers may ask the user: emit interrupt." json:"questions,omitzero" with:"mcp"`

	Schema jsontext.Value `can:"schema" doc:"A JSON Schema of the final answer." json:"schema,omitzero"`

	Policy jsontext.Value `can:"policy" doc:"The tool policy, in the form of adapters/backend/policy: answer the runtime's requests by it, and enforce it for calls that the runtime does not ask about." json:"policy,omitzero" of:"object"`

	Limits *plug.Limits `can:"limits" doc:"How long the program waits in this session, in milliseconds. Only where a case needs it." json:"limits,omitempty"`

	Tools []plug.ClientTool `can:"tools" doc:"Tools of the client, which the program offers to the runtime. A call of one is a line call." json:"tools,omitempty"`

	Hooks []plug.ClientHook `can:"hooks" doc:"Hooks of the client, by the runtime's own names. A call names one by its index." json:"hooks,omitempty"`

	Components jsontext.Value `can:"components" doc:"What the agent may show, in the form of adapters/backend/component. The program offers the tools for it." json:"components,omitzero"`
}

// line is a command that is written to a program and gets a reply.
type line interface {
	number() *int // its id
	verb() string
	fmt.Stringer
}

func (c *command) number() *int     { return &c.ID }
func (c *openCommand) number() *int { return &c.ID }

func (c *command) verb() string   { return c.Do }
func (*openCommand) verb() string { return "open" }

func (c *openCommand) String() string { return fmt.Sprintf("call %d (open)", c.ID) }

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
	Seq  int64 `json:"seq"  min:"0"`
	Turn int   `json:"turn" min:"0"`
}
