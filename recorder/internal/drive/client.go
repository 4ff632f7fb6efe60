package drive

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/schema"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// Runtime describes a runtime to the recorder. Wire, New and Connect are required.
type Runtime struct {
	Wire *wire.Runtime
	// New returns the client of one run. It fails if this version of the runtime
	// has no setting for something that the scenario needs.
	New func(d *Driver) (Client, error)
	// Connect returns how the program is started for a scenario with these needs.
	Connect func(version, mode string, needs []string, modelURL string) (Connection, error)
	// SettingsOf returns files of settings that have the same effect as options of Connect, as
	// Connection.Home has them. nil: there is no such file.
	SettingsOf func(args []string) map[string]string
	// Launcher starts the runtime if it is a part of this module; nil: it is a program.
	Launcher proc.Launcher
	// ProcessPerTurn reports that each message starts a process, which exits
	// when its turn ends.
	ProcessPerTurn bool
	// Deadline bounds a run; 0: DefaultDeadline. A program that repeats refused requests for
	// long needs more.
	Deadline time.Duration
	// ReadSchema reads what the vendor publishes about the wire. It may write
	// into the folder tmp. nil: the vendor publishes nothing.
	ReadSchema func(ctx context.Context, rt runtimes.Runtime, tmp string) (*schema.Schema, error)
	// Options are the keys of the options that the client passes on; see op.Option. A scenario
	// that needs another cannot be recorded.
	Options []string
	// Relay returns a launcher whose processes read and write lines, from one that starts the
	// program; nil: the program itself does.
	Relay func(inner proc.Launcher) proc.Launcher
	// VersionIn matches the part of a line that holds the runtime's version,
	// which is its first group.
	VersionIn *regexp.Regexp
	// SessionIn matches a line that no other runtime writes. It may be nil.
	SessionIn *regexp.Regexp
	// Aside is the model's reply if the runtime makes a request outside of the session, for
	// a title, say. "": it makes none with a form for the reply.
	Aside string
	// Aliases are the names that other recorders use for the runtime.
	Aliases []string
}

// LauncherOfLines returns a launcher whose processes read and write lines.
func (r *Runtime) LauncherOfLines(inner proc.Launcher) proc.Launcher {
	if r.Relay == nil {
		return inner
	}
	return r.Relay(inner)
}

// Connection is how a runtime is started so that it sends its requests to the
// scripted model.
type Connection struct {
	Args  []string
	Env   []string // in addition to a clean environment
	Model string   // the name of the model to ask for; "": the runtime's default
	// Home are files of settings, by their paths below the home folder.
	Home map[string]string
}

// WriteHome writes the files of Home.
func (c Connection) WriteHome(home string) error {
	for name, text := range c.Home {
		if err := writeFile(filepath.Join(home, filepath.FromSlash(name)), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// Nowhere is an address of loopback where nothing listens, for scenarios in which
// the model cannot be reached.
const Nowhere = "http://127.0.0.1:9"

// Client drives one runtime. A [Driver] calls its methods from one goroutine.
//
// An operation returns after the runtime has handled the request, so that the
// next step always runs at the same point. If the runtime rejects the request, the
// error is a [Refusal].
type Client interface {
	// The operations are those of steps.Session. Open starts a process and
	// opens a session in it. Raw waits for the reply if the line is a request.

	Open(ctx context.Context, s fixtures.Step) error
	Send(ctx context.Context, s fixtures.Step) error
	Answer(ctx context.Context, s fixtures.Step) error
	Stop(ctx context.Context) error
	// Operations returns the optional operations of the runtime. One of a value succeeds
	// if s.Refused is set and the runtime rejects the value.
	Operations() map[*op.Op]Operation
	Raw(ctx context.Context, s fixtures.Step) error
	// Aside sends a message to a second session of the process.
	Aside(ctx context.Context, id, text string) error
	// BeforeClose is called before stdin is closed.
	BeforeClose() error

	// Read handles a line of the runtime's stdout.
	Read(line []byte)

	// The following methods report what the wire has shown so far.

	// Asks reports whether a question about the tool call is open; "" is any.
	Asks(tool string) bool
	ShowsTool(id string) bool
	// ShowsInput reports whether the wire shows a part of the input of a tool
	// call that the model is still writing. It is true if the wire never does.
	ShowsInput(id string) bool
	ShowsOutput(id string) bool // while the tool runs
	ShowsResult(id string) bool
	// Settled is false while the wire has yet to show the rest of a message.
	// holding reports that the model is at a hold, so that there is no rest.
	Settled(holding bool) bool
	// Streams is false while the wire has yet to show that the message of the
	// main agent has begun.
	Streams() bool
	// Ended reports whether the turn of a message has ended.
	Ended(message string) bool
	// TaskEnded reports whether background work has ended.
	TaskEnded(tool string) bool
	Idle() bool
	// Retries reports that the runtime has announced another request to the model.
	Retries() bool
	// Texts returns the text and the reasoning of each agent.
	Texts() []*Text

	// Reads lists the reads and settings that a client may request. Request
	// makes one and waits for its reply, Fence makes one that changes nothing.
	Reads() []Read
	Request(r Read) error
	Fence() error
}

// Operation runs the optional operation of a step.
type Operation func(ctx context.Context, s fixtures.Step) error

// Poller is a Client that writes by itself when some time has passed.
type Poller interface {
	// Poll writes what is due. Every wait calls it again and again.
	Poll() error
}

// Text is what the wire has shown of the text and the reasoning of one agent.
type Text struct{ Text, Think strings.Builder }

// Unsupported implements the operations that a runtime may not have. A client
// embeds it; its value is the name of the runtime. Each method returns an error.
type Unsupported string

// Error returns the error for an operation that the runtime does not have.
func (u Unsupported) Error(does string) error {
	return fmt.Errorf("%s has no request that %s: write `not on %s: REASON` in the scenario", string(u), does, string(u))
}

// Answer implements Client.
func (u Unsupported) Answer(context.Context, fixtures.Step) error {
	return u.Error("answers a question")
}

// Operations implements Client and returns nothing.
func (u Unsupported) Operations() map[*op.Op]Operation { return nil }

// Raw implements Client.
func (u Unsupported) Raw(context.Context, fixtures.Step) error { return u.Error("is a line") }

// Aside implements Client.
func (u Unsupported) Aside(context.Context, string, string) error {
	return u.Error("opens a second session")
}

// BeforeClose implements Client and does nothing.
func (u Unsupported) BeforeClose() error { return nil }

// Reads implements Client and returns nothing.
func (u Unsupported) Reads() []Read { return nil }

// Request implements Client.
func (u Unsupported) Request(Read) error { return u.Error("reads anything") }

// Fence implements Client.
func (u Unsupported) Fence() error { return u.Error("reads anything") }

// RefusalError is an error reply of the runtime.
type RefusalError struct{ error }

// Refusef returns a RefusalError.
func Refusef(format string, args ...any) error { return RefusalError{fmt.Errorf(format, args...)} }

// CheckRefusal returns the result of a request that the runtime must reject if
// want is set, and must accept otherwise.
func CheckRefusal(err error, want bool) error {
	var refusal RefusalError
	switch {
	case want && err == nil:
		return errors.New("the runtime accepted what it should refuse")
	case want && errors.As(err, &refusal):
		return nil
	}
	return err
}

// errExited reports that the process exited although nothing asked it to.
var errExited = errors.New("the runtime exited by itself")

// expectRefusal returns the result of a step, which may be one that the runtime
// must refuse.
func (d *Driver) expectRefusal(s fixtures.Step, err error) error {
	switch {
	case !s.Refused || s.Verb == fixtures.VerbSet: // its Operation checks it
		return err
	case s.Verb == fixtures.VerbOpen && errors.Is(err, errExited):
		return nil
	}
	if err := CheckRefusal(err, true); err != nil {
		return err
	}
	if s.Verb == fixtures.VerbOpen && d.alive {
		return d.closeStdin() // it has no session
	}
	return nil
}

// SessionOf returns the id of the session that an open names. opened are the
// sessions so far, last is the one that was used last.
func SessionOf(s fixtures.Step, opened []string, last string) (string, error) {
	switch s.ID {
	case "unknown":
		return fixtures.UnknownSession, nil
	case "":
		return last, nil
	}
	n, err := strconv.Atoi(s.ID)
	if err != nil || n > len(opened) {
		return "", fmt.Errorf("no session %q: %d were opened", s.ID, len(opened))
	}
	return opened[n-1], nil
}
