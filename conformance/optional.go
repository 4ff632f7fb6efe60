package conformance

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/fixtures"
)

// Declarer is a Subject that declares what it can do.
type Declarer interface {
	Capabilities() adapters.Capabilities
}

// PolicyReader is a Subject that takes a tool policy as a function, Open.Judge.
type PolicyReader interface {
	// ReadPolicy returns the Judge of a policy, which is Open.Policy; nil: the subject takes
	// none.
	ReadPolicy(policy jsontext.Value) (adapters.Judge, error)
}

// External is a Subject in a separate process, which virtual time does not affect. It
// is run in real time, and the stand-in is a process too (TierProcess).
// Open.Command names the stand-in; Open.Env is an environment in which the process
// finds it by name, and by the variables that clients of the runtime honour.
type External interface {
	Subject
	External()
}

// PlacedStandin is an External that was started before the run. It finds the
// stand-in in a permanent folder: see relay.Furnish. One case at a time is
// replayed to it.
type PlacedStandin interface {
	External
	Standin() string // the folder; "": the subject is started like any other External
}

// Decliner is an External that knows from what its program has declared which scenarios it
// does not support. They are judged without being performed, because the program would
// only be started to refuse a step.
type Decliner interface {
	Subject
	// Declines returns the first step that the subject does not support, with an error
	// that wraps ErrDeclaredUnsupported. The error is nil if there is none, or if the
	// program has not been started yet.
	Declines(s *fixtures.Scenario) (fixtures.Step, error)
}

// EventSupporter is a Session whose events cannot hold everything, because its
// protocol has no such event type or member, or because it declares that. A
// check is not expressible if it needs what the session does not support.
type EventSupporter interface {
	// Supports takes the name of an event type (thinking), of a member of its data
	// (tool_start.command) or of a member of each event (seq, ts, turn).
	Supports(what string) bool
}

// OmissionDeclarer is a Subject whose author can declare that its events lack something.
type OmissionDeclarer interface {
	// DeclareOmission returns, for a reader, where and how the subject declares that its
	// events lack an event type or a member.
	DeclareOmission(what string) string
}

// ProtocolChecker is a Session that can detect that the subject broke its protocol:
// a program that exited, or wrote an invalid line. The run then ends.
type ProtocolChecker interface {
	ProtocolError() error // nil if there was none
}

// Aborter is a Session that can be ended at once.
type Aborter interface {
	// Abort ends the session and its program because of why, which ProtocolError then returns. It
	// closes Events, and does not wait.
	Abort(why error)
}

// LimitTaker is a Session whose subject may take limits.
type LimitTaker interface {
	TakesLimits() bool
}

// ProgramReporter is a Session with a program.
type ProgramReporter interface {
	// ProgramOutput is called after the session has ended.
	ProgramOutput() ProgramOutput
}

// ErrProtocol is the error of an Open that failed because the subject broke its
// protocol. It is not the runtime's failure.
var ErrProtocol = errors.New("the subject does not keep to its protocol")

// ErrOverBudget is the error of a session that ended because its program wrote more at once than
// the budget of a step allows. It is an ErrProtocol too.
var ErrOverBudget = errors.New("the subject exceeds the budget of a step")

// ErrContradictsDeclaration is the error of a step that a subject declared to
// support and then refused as unsupported.
var ErrContradictsDeclaration = errors.New("the subject declares that it can do this, and says that it cannot")

// ErrDeclaredUnsupported is the error of a step that a subject declared not to
// support. It wraps adapters.ErrUnsupported.
var ErrDeclaredUnsupported = fmt.Errorf("the subject declares no way to do this: %w", adapters.ErrUnsupported)
