package drive

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/runtimes"
	"github.com/turnspec/turnspec/recorder/schema"
)

// Runtime describes a runtime to the recorder. Wire, New and Connect are required.
type Runtime struct {
	Wire *wire.Runtime
	// New returns the client of one run. It fails if this version of the runtime
	// has no setting for something that the scenario needs.
	New func(d *Driver) (Client, error)
	// Connect returns how the program is started for a scenario with these needs.
	Connect func(version, mode string, needs []string, modelURL string) (Connection, error)
	// ProcessPerTurn reports that each message starts a process, which exits
	// when its turn ends.
	ProcessPerTurn bool
	// ReadSchema reads what the vendor publishes about the wire. It may write
	// into the folder tmp. nil: the vendor publishes nothing.
	ReadSchema func(ctx context.Context, rt runtimes.Runtime, tmp string) (*schema.Schema, error)
	// VersionIn matches the part of a line that holds the runtime's version,
	// which is its first group.
	VersionIn *regexp.Regexp
	// SessionIn matches a line that no other runtime writes. It may be nil.
	SessionIn *regexp.Regexp
	// Aliases are the names that other recorders use for the runtime.
	Aliases []string
}

// Connection is how a runtime is started so that it sends its requests to the
// scripted model.
type Connection struct {
	Args  []string
	Env   []string // in addition to a clean environment
	Model string   // the name of the model to ask for; "": the runtime's default
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
	// Open starts a process and opens a session in it.
	Open(s fixtures.Step) error
	// Send sends a user message. priority is "" or one of fixtures.Priorities.
	Send(id, text string, files []string, priority string) error
	Steer(id, text string) error
	Answer(s fixtures.Step) error
	// Stop interrupts the turn. If all is set, it also removes queued messages.
	Stop(all bool) error
	// StopTask ends the background work that a tool call has started.
	StopTask(tool string) error
	// Withdraw takes a queued message back.
	Withdraw(message string) error
	// SendAside sends a message to a second session of the process.
	SendAside(id, text string) error
	// Set changes the model or the mode. If refused is set, it succeeds only if
	// the runtime rejects the change.
	Set(what, value string, refused bool) error
	Compact() error
	// Revert removes the turns since a message from the session.
	Revert(message string) error
	// Rewind restores the files as they were at a message.
	Rewind(message string, dry bool) error
	Archive() error
	Rename(text string) error
	// WriteRaw writes a line of the scenario. If it is a request, WriteRaw waits
	// for the reply.
	WriteRaw(line string) error
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

// Text is what the wire has shown of the text and the reasoning of one agent.
type Text struct{ Text, Think strings.Builder }

// Unsupported implements the operations that a runtime may not have. A client
// embeds it; its value is the name of the runtime. Each method returns an error.
type Unsupported string

// Error returns the error for an operation that the runtime does not have.
func (u Unsupported) Error(does string) error {
	return fmt.Errorf("%s has no request that %s: write `not on %s: REASON` in the scenario", string(u), does, string(u))
}

// Steer implements Client.
func (u Unsupported) Steer(string, string) error { return u.Error("steers a turn") }

// Answer implements Client.
func (u Unsupported) Answer(fixtures.Step) error { return u.Error("answers a question") }

// StopTask implements Client.
func (u Unsupported) StopTask(string) error { return u.Error("stops background work") }

// Withdraw implements Client.
func (u Unsupported) Withdraw(string) error { return u.Error("takes a message back") }

// SendAside implements Client.
func (u Unsupported) SendAside(string, string) error { return u.Error("opens a second session") }

// Set implements Client.
func (u Unsupported) Set(string, string, bool) error { return u.Error("changes a setting") }

// Compact implements Client.
func (u Unsupported) Compact() error { return u.Error("compacts a session") }

// Revert implements Client.
func (u Unsupported) Revert(string) error { return u.Error("removes turns of a running session") }

// Rewind implements Client.
func (u Unsupported) Rewind(string, bool) error { return u.Error("restores files") }

// Archive implements Client.
func (u Unsupported) Archive() error { return u.Error("archives a session") }

// Rename implements Client.
func (u Unsupported) Rename(string) error { return u.Error("names a session") }

// WriteRaw implements Client.
func (u Unsupported) WriteRaw(string) error { return u.Error("is a line") }

// BeforeClose implements Client and does nothing.
func (u Unsupported) BeforeClose() error { return nil }

// Reads implements Client and returns nothing.
func (u Unsupported) Reads() []Read { return nil }

// Request implements Client.
func (u Unsupported) Request(Read) error { return u.Error("reads anything") }

// Fence implements Client.
func (u Unsupported) Fence() error { return u.Error("reads anything") }

// Refusal is an error reply of the runtime.
type Refusal struct{ error }

// Refusef returns a Refusal.
func Refusef(format string, args ...any) error { return Refusal{fmt.Errorf(format, args...)} }

// CheckRefusal returns the result of a request that the runtime must reject if
// want is set, and must accept otherwise.
func CheckRefusal(err error, want bool) error {
	var refusal Refusal
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
	case !s.Refused || s.Verb == fixtures.VerbSet: // Client.Set checks it
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
