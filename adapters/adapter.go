// Package adapters answers one question: what is an adapter, and what do all of
// them share?
//
// An adapter wraps one agent runtime and turns its wire into one stream of
// normalized events (package event). The packages below it are one a runtime
// (claude, codex), the children and pipes that they run on (proc), the reducer
// that turns events into a chat (replay), and the log that keeps them (eventlog).
//
// # Names
//
// The Go names of what the field calls otherwise:
//
//	createSession, resumeSession, forkSession   Adapter.Open with Options
//	sendMessage                                 Session.Send
//	stopTurn                                    Session.Stop
//	addEventListener                            Session.Events
//	capabilities                                Adapter.Capabilities
//	revertSession, rewindFiles                  Reverter.Revert, Rewinder.Rewind
//	compactSession, archiveSession, rename      Compacter, Archiver, Renamer
package adapters

import (
	"context"
	"errors"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Adapter opens sessions on one kind of runtime.
type Adapter interface {
	// Capabilities is what sessions of this adapter can do.
	Capabilities() Capabilities
	// Open starts the runtime and returns when the session is ready: new,
	// resumed or forked, as o says. The first event is then session_ready.
	// A failure is an *OpenError.
	Open(ctx context.Context, o Options) (Session, error)
}

// Session is one conversation with a runtime. Its methods may be called from
// any goroutine, also from the one that reads Events.
type Session interface {
	// Send gives the runtime a user's message: it begins a turn, or is queued
	// or merged into the running one as the runtime does. It returns when the
	// runtime has been told, not when the turn ends.
	Send(ctx context.Context, m Message) error
	// Events is closed after session_end. It is not buffered: a slow reader
	// slows the runtime down, nothing is dropped.
	Events() <-chan event.Event
	// Stop ends the running turn; without one it does nothing.
	Stop(ctx context.Context) error
	// Answer answers a permission_request or an interrupt by its id.
	Answer(ctx context.Context, id string, a Answer) error
	// Close ends the runtime, gently first, and returns when Events is closed. It
	// may be called more than once, and by the one that reads Events. The last
	// events wait for their reader: what is not read is dropped when ctx is
	// done or, with a ctx that never will be, when nothing was taken for
	// Limits.Term after the process had ended. Events then closes without
	// session_end.
	Close(ctx context.Context) error
}

// Steerer is a Session that can put a message into the running turn.
type Steerer interface {
	Steer(ctx context.Context, m Message) error
}

// ModelSetter is a Session that can change its model: at once where the runtime
// takes it at once, else with the next message. model_changed tells when it is
// in force.
type ModelSetter interface {
	SetModel(ctx context.Context, model string) error
}

// ModeSetter is a Session that can change its permission mode, one of the Modes
// or a name of the runtime's, as ModelSetter does. mode_changed tells. A question
// that is open stays open.
type ModeSetter interface {
	SetMode(ctx context.Context, mode string) error
}

// The optional abilities of a Session, which As finds. Capabilities names them; if
// a session has one by its type, but its runtime or that version of it lacks it,
// the method returns ErrUnsupported.

// Reverter is a Session whose history can be cut: the message and all that came
// after it are forgotten by the model. Files stay as they are. It is told by
// checkpoint, restored, with the message's id. A message that this session has
// not seen is ErrUnknownID.
type Reverter interface {
	Revert(ctx context.Context, messageID string) error
}

// Rewinder is a Session that can put files back as they were when a message
// came, where Options.Checkpoints asked for copies. The history stays. It is told
// by checkpoint, restored, with the message's id; a dry one by nothing.
type Rewinder interface {
	Rewind(ctx context.Context, messageID string, dry bool) (Rewound, error)
}

// Rewound is what a rewind changes. Not every runtime tells it but of a dry one.
type Rewound struct {
	Files                 []string
	Insertions, Deletions int
}

// Compacter is a Session whose history can be summed up at once. It returns when
// the runtime has been told; the work is a turn with cause command, in which
// compaction tells beginning and end.
type Compacter interface {
	Compact(ctx context.Context) error
}

// Archiver is a Session that can be put away: it ends, and is opened again with
// Options.Unarchive only.
type Archiver interface {
	Archive(ctx context.Context) error
}

// Renamer is a Session that can be given a name in the runtime's own lists.
type Renamer interface {
	Rename(ctx context.Context, name string) error
}

// Transcriber is an Adapter that also reads what a runtime once wrote to its
// stdout.
type Transcriber interface {
	Transcribe(sessionID string, emit func(event.Event)) Transcript
}

// Transcript takes the lines of a runtime's stdout in their order, and its end.
type Transcript interface {
	Line(at time.Time, b []byte)
	End()
}

// TaskStopper is a Session that can end what runs in the background: a command
// or a sub-agent, by the task_id of its task. The task's end tells.
type TaskStopper interface {
	StopTask(ctx context.Context, taskID string) error
}

// Withdrawer is a Session that can take a message back which waits. One that
// the runtime has taken already is ErrUnknownID.
type Withdrawer interface {
	Withdraw(ctx context.Context, messageID string) error
}

// AllStopper is a Session that can stop the turn and take back all messages that
// wait, so that none of them runs next.
type AllStopper interface {
	StopAll(ctx context.Context) error
}

// Backlogger is a Session that reports its backlog: events that wait for the
// reader, and how long the oldest has waited.
type Backlogger interface {
	Backlog() (depth int, oldest time.Duration)
}

// Options say what to open.
type Options struct {
	SessionID string         // ours; made when empty
	Resume    string         // the runtime's own session id, to go on with it
	Fork      bool           // with Resume: a new session with that history
	At        string         // with Fork: the runtime's own id of the last turn (codex) or message (claude) that it takes over
	Unarchive bool           // with Resume: the session was put away and is taken back first
	After     event.Position // where the resumed stream left off

	Dir     string            // the working directory
	Model   string            // the runtime's default when empty
	Mode    string            // what the runtime asks before it does it, one of the Modes; each adapter's doc.go says how
	Command []string          // instead of the runtime's usual program
	Args    []string          // appended to the adapter's own arguments
	Env     []string          // the whole environment; the parent's when nil
	Launch  proc.Launcher     // how to start it; proc.Exec when nil
	Limits  Limits            // zero fields take the defaults
	Config  map[string]string // the runtime's own settings, by its own names

	// Judge decides about each tool call that the runtime lets it see; what it
	// leaves is asked as Mode has it. Each adapter's doc.go says what it sees.
	Judge Judge

	MCP    []MCPServer
	Tools  []Tool
	Hooks  []Hook    // a runtime without hooks fails to open with ErrUnsupported
	Schema event.Raw // a JSON schema that the final answer of each turn must fit
	// Checkpoints asks for copies of the files that the agent changes, so that
	// a Rewinder can put them back.
	Checkpoints bool
}

// Values of Options.Mode. An adapter may know further ones, by its runtime's
// names.
const (
	ModeAsk         = "ask"          // whatever is not known to be harmless; where Mode is empty, the runtime's own default if it has one
	ModeAcceptEdits = "accept-edits" // edits in the working directory run, the rest is asked
	ModePlan        = "plan"         // the model plans and changes nothing
	ModeReadOnly    = "read-only"    // what would change something is asked
	ModeDontAsk     = "dont-ask"     // nothing is asked: what would be is denied
	ModeNever       = "never"        // nothing is asked, everything runs
)

// Message is what a user says. ID is the client's and must be unique within the
// session.
type Message struct {
	ID          string
	Text        string
	Attachments []event.Attachment
	Priority    Priority
}

// Priority says when a message that comes during a turn is to be taken. A
// runtime without a queue takes no notice of it.
type Priority string

// The priorities. Now ends what the model says, next is after it, and later
// does not go into a running turn.
const (
	PriorityDefault Priority = ""
	PriorityNow     Priority = "now"
	PriorityNext    Priority = "next"
	PriorityLater   Priority = "later"
)

// Answer is the reply to a permission request or an interrupt.
type Answer struct {
	Decision event.Decision // for a permission request
	Message  string         // told to the model when denied
	Input    event.Raw      // with allow: run with this input instead
	Scope    Scope          // with allow: how long it holds
	Value    event.Raw      // for an interrupt
	By       event.By       // ByUser when empty
}

// Scope says how long an allow holds. What is like the call that was asked for
// is the runtime's to say.
type Scope string

// The scopes of an allow.
const (
	ScopeOnce    Scope = ""        // for this call
	ScopeSession Scope = "session" // and for what is like it, in this session
	ScopeAlways  Scope = "always"  // and from now on: the runtime keeps a rule
)

// Capabilities are what an adapter can do. The list is closed.
type Capabilities struct {
	Runtime     string // codex, claude
	Resume      bool
	Fork        bool
	Steer       bool // sessions implement Steerer
	Permissions bool
	SetModel    bool // sessions implement ModelSetter
	SetMode     bool // sessions implement ModeSetter
	Thinking    bool
	ToolOutput  bool // output is streamed while a tool runs
	Background  bool // tools may outlive their turn
	Subagents   bool
	StopTask    bool // sessions implement TaskStopper
	Withdraw    bool // sessions implement Withdrawer
	StopAll     bool // sessions implement AllStopper
	Priority    bool // Message.Priority counts
	Tools       bool // the client's own, Options.Tools
	Hooks       bool // Options.Hooks
	Schema      bool // Options.Schema
	ForkAt      bool // Options.At
	Revert      bool // sessions implement Reverter
	Rewind      bool // sessions implement Rewinder
	Compact     bool // sessions implement Compacter
	Archive     bool // sessions implement Archiver; Options.Unarchive
	Rename      bool // sessions implement Renamer
}

// Limits bound what may take for ever. A zero field takes its default.
type Limits struct {
	Handshake  time.Duration // spawn to ready: 30s
	Request    time.Duration // one request to the runtime: 30s
	Stop       time.Duration // Stop to the turn's end: 10s
	Idle       time.Duration // silence within a turn before the runtime is asked for a sign of life: 120s
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

// OpenError is why a session could not be opened.
type OpenError struct {
	Code   event.ErrorCode // start_failure, timeout, protocol, auth …
	Op     string          // start, handshake, resume …
	Stderr string          // the last of the runtime's stderr
	Exit   *int            // its exit code, if it ended
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
