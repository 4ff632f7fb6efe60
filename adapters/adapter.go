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
	"fmt"
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

// Options configure a session. Those with the tag can need an ability: an adapter refuses one
// whose ability its Capabilities do not name; see Capabilities.Refuse. If Opening.SessionID
// is empty, the adapter generates one. If Opening.Mode is empty, the runtime's default is in
// force, or the adapter's; each adapter's doc.go lists the modes.
type Options struct {
	op.Opening

	After event.Position // the last position of the resumed stream

	Env    []string          // the whole environment; what proc.Environ returns if nil
	Launch proc.Launcher     // how to start the runtime, and the MCP servers of an adapter that starts them itself; proc.Exec if nil
	Limits Limits            // zero fields mean the defaults
	Config map[string]string `can:"config"` // the runtime's own settings, by its own names

	// Judge decides about each tool call that the runtime submits to it. If it
	// returns ask, Mode decides. Each adapter's doc.go lists the calls that reach it.
	Judge Judge `can:"judge"`

	// Media receives the bytes of each image, sound and document that a tool gave, right
	// before the event that refers to them is emitted; see event.Media. The session calls it
	// while it reads from the runtime: Media must not block and must not call the session. The
	// bytes belong to it. If it is nil, the session drops them.
	Media func(m event.Media, data []byte)

	MCP    []MCPServer `can:"mcp"`
	Tools  []Tool      `can:"tools"`
	Hooks  []Hook      `can:"hooks"`
	Schema event.Raw   `can:"schema"` // a JSON schema that the final answer of each turn must match
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
	Permissions bool
	Thinking    bool
	ToolOutput  bool // output is streamed while a tool runs
	Background  bool // tools may outlive their turn
	Subagents   bool
	Priority    bool // Message.Priority is honoured
	// Can are the optional operations, whose interfaces the sessions implement, and the
	// abilities that Options need: op.SetOf(op.Rename).And("resume", "mcp").
	Can op.Set
}

// Refuse returns an error for the first option that is set and whose ability Can does not
// name, which wraps ErrUnsupported, or for one that needs another option. Open of an adapter
// begins with it; what is left to it are values that its runtime lacks.
func (c Capabilities) Refuse(o Options) error {
	for _, w := range op.Wants(o) {
		if !c.Can.Names(w.Can) {
			return fmt.Errorf("%s: %w", w.Key, ErrUnsupported)
		}
	}
	switch {
	case o.Fork && o.Resume == "":
		return errors.New("fork: needs resume, the session to fork")
	case o.At != "" && !o.Fork:
		return errors.New("at: needs fork: a resumed session continues at its end")
	case o.Unarchive && o.Resume == "":
		return errors.New("unarchive: needs resume, the session to unarchive")
	}
	return nil
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
