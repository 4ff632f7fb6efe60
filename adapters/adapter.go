// Package adapters defines the interface of an adapter: code that wraps one agent
// runtime and turns its wire into one stream of normalized events (package event).
//
// The packages below it hold one adapter per runtime (claude, codex), start the
// runtime's process (proc), reduce events to a chat (replay), and store events
// (eventlog).
//
// # Names
//
// What other projects call these operations:
//
//	createSession, resumeSession, forkSession   Adapter.Open with Options
//	sendMessage                                 Session.Send
//	stopTurn                                    Session.Stop
//	addEventListener                            Session.Events
//	capabilities                                Adapter.Capabilities
//	revertSession, rewindFiles                  Reverter.Revert, Rewinder.Rewind; or Do, as for each row of package op
//	compactSession, archiveSession, rename      Compacter, Archiver, Renamer
//	supportedModels, mcpServerStatus, …         Lister
package adapters

import (
	"context"
	"errors"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Adapter opens sessions on one kind of runtime.
type Adapter interface {
	// Capabilities returns what sessions of this adapter can do.
	Capabilities() Capabilities
	// Open starts the runtime with a new, resumed or forked session, as o
	// asks for, and returns when it is ready. Its first event is session_ready.
	// A failure is an *OpenError.
	Open(ctx context.Context, o Options) (Session, error)
}

// Session is one conversation with a runtime. Its methods may be called from any
// goroutine, including the one that reads Events.
type Session interface {
	// Send sends a user's message. It begins a turn or, if one is running, is
	// queued or merged into it, as the runtime does. Send returns when the
	// runtime has the message, not when the turn ends.
	Send(ctx context.Context, m Message) error
	// Events returns the channel of events, which is closed after session_end. It
	// buffers a bounded number of events, so that a burst wakes the reader once. A
	// slow reader slows the runtime down, and no event is dropped.
	Events() <-chan event.Event
	// Stop ends the running turn. If no turn is running, it does nothing.
	Stop(ctx context.Context) error
	// Answer answers a permission_request or an interrupt by its id.
	Answer(ctx context.Context, id string, a Answer) error
	// Close ends the runtime, gently first, and returns when Events is closed. It
	// may be called more than once, and by the reader of Events. Close waits until
	// the channel holds the last event; what it holds can still be read after Close.
	// Close drops the events for which the channel has no room if ctx is done or, if
	// ctx can never be done, if no event was read for Limits.Term after the process
	// exited; Events is then closed without session_end.
	Close(ctx context.Context) error
}

// Transcriber is an Adapter that also reads a recording of a runtime's stdout.
type Transcriber interface {
	Transcribe(sessionID string, emit func(event.Event)) Transcript
}

// Transcript receives the lines of a runtime's stdout in order, and then its end.
type Transcript interface {
	Line(at time.Time, b []byte)
	End()
}

// Backlogger is a Session that reports its backlog: the number of events that are
// not yet read, and how long the oldest of them has waited.
type Backlogger interface {
	Backlog() (depth int, oldest time.Duration)
}

// Options configure a session.
type Options struct {
	SessionID string         // of the adapter; generated if empty
	Resume    string         // the runtime's own session id, to continue it
	Fork      bool           // with Resume: a new session with that history
	At        string         // with Fork: the runtime's own id of the last turn (codex) or message (claude) that it takes over
	Unarchive bool           // with Resume: the session is archived; unarchive it first
	After     event.Position // the last position of the resumed stream

	Dir     string            // the working directory
	Model   string            // the runtime's default if empty
	Mode    string            // when the runtime asks for permission, one of the Modes; see each adapter's doc.go
	Command []string          // replaces the runtime's usual program
	Args    []string          // appended to the adapter's own arguments
	Env     []string          // the whole environment; what proc.Environ returns if nil
	Launch  proc.Launcher     // how to start it; proc.Exec if nil
	Limits  Limits            // zero fields mean the defaults
	Config  map[string]string // the runtime's own settings, by its own names

	// Instructions are for the model, with each of its replies. They follow the
	// runtime's own, or stand in their place if ReplaceInstructions is set.
	Instructions        string
	ReplaceInstructions bool

	// Effort is how much the model reasons: low, medium, high, or another level of the
	// runtime's; its default if empty.
	Effort string
	// MaxRequests limits how often one turn may ask the model, and MaxCost what the session
	// may cost, in US dollars. A turn that would exceed one ends in an error, limit. 0 is no
	// limit.
	MaxRequests int
	MaxCost     float64
	// ExtraDirs are folders beside Dir in which tools may work as they may in Dir.
	ExtraDirs []string
	// SettingSources are the files of settings that the runtime reads: user, project,
	// local. nil means those that it reads by default.
	SettingSources []string

	// StreamToolInput asks for the inputs of tools in pieces, as the model writes them:
	// events tool_input before each tool_start.
	StreamToolInput bool

	// Judge decides about each tool call that the runtime submits to it. If it
	// returns ask, Mode decides. Each adapter's doc.go lists the calls that reach it.
	Judge Judge

	// Media receives the bytes of each image, sound and document that a tool gave, right
	// before the event that refers to them is emitted; see event.Media. The session calls it
	// while it reads from the runtime: Media must not block and must not call the session. The
	// bytes belong to it. If it is nil, the session drops them.
	Media func(m event.Media, data []byte)

	MCP    []MCPServer
	Tools  []Tool
	Hooks  []Hook    // Open fails with ErrUnsupported if the runtime has no hooks
	Schema event.Raw // a JSON schema that the final answer of each turn must match
	// Checkpoints asks for copies of the files that the agent changes, so that
	// a Rewinder can restore them.
	Checkpoints bool
}

// Values of Options.Mode. An adapter may accept further ones, by its runtime's
// names.
const (
	ModeAsk         = "ask"          // ask unless the call is known to be harmless; if Mode is empty, the runtime's own default if it has one
	ModeAcceptEdits = "accept-edits" // run edits in the working directory, ask for the rest
	ModePlan        = "plan"         // the model plans and changes nothing
	ModeReadOnly    = "read-only"    // ask for each call that would change something
	ModeDontAsk     = "dont-ask"     // never ask: deny instead
	ModeNever       = "never"        // never ask: run everything
)

// Message is a user's message. The client chooses the ID, which must be unique
// within the session.
type Message struct {
	ID          string
	Text        string
	Attachments []event.Attachment
	Priority    Priority
}

// Priority tells the runtime when to take a message that it receives during a
// turn. A runtime without a queue ignores it.
type Priority string

// The priorities. Now interrupts the model's message, next waits for its end, and
// later waits for the end of the turn.
const (
	PriorityDefault Priority = ""
	PriorityNow     Priority = "now"
	PriorityNext    Priority = "next"
	PriorityLater   Priority = "later"
)

// Answer is the reply to a permission request or an interrupt.
type Answer struct {
	Decision event.Decision // for a permission request
	Message  string         // for the model, if denied
	Input    event.Raw      // with allow: run with this input instead
	Scope    Scope          // with allow: how long it is valid
	Value    event.Raw      // for an interrupt
	By       event.By       // ByUser if empty
}

// Scope is how long an allow is valid. The runtime decides which calls are similar
// to the one that it asked for.
type Scope string

// The scopes of an allow.
const (
	ScopeOnce    Scope = ""        // for this call
	ScopeSession Scope = "session" // and for similar calls of this session
	ScopeAlways  Scope = "always"  // and from now on: the runtime stores a rule
)

// Capabilities are what an adapter can do. The list is closed.
type Capabilities struct {
	Runtime     string // codex, claude
	Resume      bool
	Fork        bool
	Permissions bool
	Thinking    bool
	ToolInput   bool // Options.StreamToolInput
	ToolOutput  bool // output is streamed while a tool runs
	Background  bool // tools may outlive their turn
	Subagents   bool
	Priority    bool // Message.Priority is honoured
	Tools       bool // the client's own, Options.Tools
	Hooks       bool // Options.Hooks
	Schema      bool // Options.Schema
	ForkAt      bool // Options.At
	// Can are the optional operations: sessions implement their interfaces. With
	// op.Archive they also honour Options.Unarchive.
	Can op.Set
}

// Limits bound how long operations may take. A zero field means its default.
type Limits struct {
	Handshake  time.Duration // spawn to ready: 30s
	Request    time.Duration // one request to the runtime: 30s
	Stop       time.Duration // Stop to the turn's end: 10s
	Idle       time.Duration // silence within a turn before the adapter probes the runtime: 120s
	CloseStdin time.Duration // stdin closed to SIGTERM: 2s
	Term       time.Duration // SIGTERM to SIGKILL: 5s
	Line       int           // longest line in bytes: 64 MiB
}

// WithDefaults fills the zero fields.
func (l Limits) WithDefaults() Limits {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&l.Handshake, 30*time.Second)
	def(&l.Request, 30*time.Second)
	def(&l.Stop, 10*time.Second)
	def(&l.Idle, 120*time.Second)
	def(&l.CloseStdin, 2*time.Second)
	def(&l.Term, 5*time.Second)
	if l.Line == 0 {
		l.Line = lines.MaxLength
	}
	return l
}

// Errors of sessions. They are wrapped: use errors.Is.
var (
	ErrClosed      = errors.New("session is closed")
	ErrNoTurn      = errors.New("no turn is running")
	ErrUnknownID   = errors.New("nothing with this id waits for an answer")
	ErrUnsupported = errors.New("not supported by this runtime")
	ErrRefused     = errors.New("the runtime refused")
)

// OpenError is the error of Adapter.Open.
type OpenError struct {
	Code   event.ErrorCode // start_failure, timeout, protocol, auth …
	Op     string          // start, handshake, resume …
	Stderr string          // the last of the runtime's stderr
	Exit   *int            // its exit code, if it exited
	Err    error
}

func (e *OpenError) Error() string {
	s := "open: " + e.Op + ": " + e.Err.Error()
	if e.Stderr != "" {
		s += "\nstderr: " + e.Stderr
	}
	return s
}

func (e *OpenError) Unwrap() error { return e.Err }
