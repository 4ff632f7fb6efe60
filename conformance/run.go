package conformance

import (
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// Tier is a way of running checks.
type Tier string

// The tiers.
const (
	TierWitness Tier = "witness"
	TierGolden  Tier = "golden"
	TierTiming  Tier = "timing"
	TierProcess Tier = "process"
	TierLive    Tier = "live"
)

// Run records what happened when a subject performed a scenario once. Checks
// judge it.
type Run struct {
	Tier     Tier
	Subject  string
	Runtime  string
	Version  string
	Scenario *fixtures.Scenario
	Case     *fixtures.Case // the case that was replayed; nil if live
	// Recording is, in a live run, the recording of the scenario on this version, else on the
	// newest that has one; nil: there is none.
	Recording *fixtures.Case
	Fault     *fault.Fault // the fault put into its wire; nil: none
	Plain     *Run         // the run without the fault, if there is one
	Witness   []fixtures.Request

	Events        []Event
	Steps         []StepResult
	StepsAfterEnd []StepResult // steps on a session that had ended: by itself, or by Close
	Opens         []OpenResult
	ToolCalls     []ToolCall    // the calls that reached the client's tools
	BlockedCalls  []BlockedCall // calls of its tools and hooks whose answer waited for something

	// Observed holds what the observers of the checks made of the events as they arrived,
	// in virtual time; nil if no check has one, or if the run did not finish.
	Observed map[*Observer]any

	Declared *adapters.Capabilities // nil: the subject declares nothing
	// EventSupport reports whether the subject's events hold an event type or a
	// member (see EventSupporter); nil: they hold all.
	EventSupport func(what string) bool

	// Limits are those that the subject takes: the ones that it was given, or the
	// defaults. nil: it takes none.
	Limits *adapters.Limits
	// StallWait is how long the subject may take to report that a running runtime emits
	// nothing more.
	StallWait time.Duration

	// Of a replay:
	Began           time.Time                // the start, in the clock of the run
	Start           time.Time                // virtual time; zero in real time
	GivenEnv        []string                 // the environment that the subject was given for the runtime, in virtual time
	Played          []PlayedLine             // the lines that were played, with their time
	ClientActions   []standin.ClientAction   // what the subject wrote to the runtime
	Unrecorded      []string                 // what it did that the case does not hold
	Violations      []string                 // what it did against the recording or the wire's rules
	RuntimeRequests []standin.RuntimeRequest // requests of the runtime to its client
	Started         []standin.Started        // the runtime processes that the subject started
	Settings        []standin.Setting        // what it chose for its sessions; empty with a fault
	LeftRunning     int                      // runtimes still running after the subject closed its sessions
	ListenerPause   *ListenerPause           // the state of the subject at the end of the listener's pause; nil: there was no pause
	// ToRecorded rewrites ids and folders of the run into their recorded form; nil:
	// they are equal.
	ToRecorded func(text string) string
	// Transcribe returns the events that the subject derives from the lines that were
	// played, without their client: one transcript for each session. It is nil if the
	// subject reads no transcripts.
	Transcribe func() ([]Event, error)

	// Of a live run:
	Workspace map[string][]byte // the files at the end
	Home      string

	// Program is the end of each program that the subject ran as; empty if it is no
	// program.
	Program []ProgramOutput

	// Signalled is what followed when the suite signalled the program; nil: it did not.
	Signalled *SignalResult

	// Probes are what the plug of a server found out with requests of its own.
	Probes []Probe

	Took  time.Duration // of a run in real time
	Waits []Wait        // in real time, for what the subject did not emit

	// OverBudget is how the subject exceeded the budget of a step, which ended the run; "": it did
	// not.
	OverBudget string

	Hang    string // why the run did not finish, or ""
	Harness string // why the harness could not perform the scenario, or ""
	// ClosedAfterKill: the session did not end by itself when its process was killed, so
	// the harness closed it.
	ClosedAfterKill bool
	EndedEarly      bool // a step could not be run, so the ones after it were not

	index index
}

// index holds what the methods of a Run derive from its events. Each method fills
// its field when it is called first. The run must be over by then.
type index struct {
	canonical []string
	stored    []event.Event
	derived   map[reflect.Type]any // see Derive
}

// WithEvents returns a copy of the run with other events. Nothing was observed of them.
func (r *Run) WithEvents(events []Event) *Run {
	out := *r
	out.Events, out.Observed, out.index = events, nil, index{}
	return &out
}

// SessionOf returns the number of the session that a process of the runtime belongs to, from
// 1. Most runtimes have a process for each session; one that takes a single message has a
// process for each turn.
func (r *Run) SessionOf(process int) int {
	rt := runtimes.Find(r.Runtime)
	if rt == nil || rt.Process.Message == nil {
		return process
	}
	first := slices.IndexFunc(r.Played, func(p PlayedLine) bool { return p.Line.Process == process })
	opens := 0
	for _, a := range r.Steps {
		if a.Step.Verb == fixtures.VerbOpen && a.Line <= first {
			opens++
		}
	}
	return max(opens, 1)
}

// Recorded replaces the ids and folders of this run by the recorded ones, so that
// the text can be compared with another run or with the witness.
func (r *Run) Recorded(text string) string {
	if r.ToRecorded == nil {
		return text
	}
	return r.ToRecorded(text)
}

// Supports reports whether the subject's events hold an event type or a member. See
// EventSupporter.
func (r *Run) Supports(what string) bool { return r.EventSupport == nil || r.EventSupport(what) }

// Event is an event with the time at which it reached the listener.
type Event struct {
	event.Event
	At    time.Duration // since the start, in the run's time
	Line  int           // how many wire lines had been played by then
	Steps int           // how many steps had begun by then
}

// Unfinished returns why the run was not performed to its end, or "". A run with a
// fault may end early.
func (r *Run) Unfinished() string {
	switch {
	case r.Fault != nil:
		return ""
	case r.Hang != "":
		return r.Hang
	case !r.EndedEarly:
		return ""
	}
	for _, s := range slices.Backward(r.Steps) {
		if s.Err != nil {
			return string(s.Step.Verb) + ": " + s.Err.Error()
		}
	}
	return "a step could not be run"
}

// Wait is a wait of the suite for something that did not happen.
type Wait struct {
	For  string // such as: the end of message m1
	Took time.Duration
}

// ProgramOutput is what a program that is the subject left behind.
type ProgramOutput struct {
	Stderr string // the last lines
	Exit   string // such as exit code 3; "" if it was not waited for
}

// StepResult is a step of the scenario and its result.
type StepResult struct {
	Step fixtures.Step
	At   time.Duration // when it began
	Line int           // how many wire lines had been played by then
	For  time.Duration // how long it took
	Err  error         // nil: it succeeded

	// Raced: a fault moved the call, or added it; other steps may run at the same time.
	Raced bool

	Listed []adapters.Listed // of a list: what the subject returned
}

// ToolCall is a call that reached a tool of the client.
type ToolCall struct {
	Tool     string
	Input    jsontext.Value
	Answered bool // the tool answered before the call was cancelled
}

// BlockedCall is a call of a tool or hook of the client that had to wait for a step
// before it could answer.
type BlockedCall struct {
	Name      string
	Over      bool          // the wait has ended: the tool could answer, or the call was cancelled
	Cancelled bool          // the call's context ended
	At        time.Duration // when the wait ended
	Returned  time.Duration // when a cancelled call returned: it takes a second to clean up
}

// OpenResult is the result of an Open.
type OpenResult struct {
	Step      fixtures.Step
	Resume    string   // the id that it was to resume
	Dir       string   // the working directory that it was to use
	ExtraDirs []string // the further folders that it was to use
	Model     string   // the model that it was to use; "": the runtime's default
	Provider  string   // the id that the runtime gave to the session
	Denial    string   // the reason of each denial of its Judge; "": it has none
	Line      int      // how many lines had been played when it returned
	Err       error
}

// PlayedLine is a wire line that the stand-in played.
type PlayedLine struct {
	Line fixtures.WireLine
	At   time.Duration
}

// ListenerPause is the state of a subject whose listener took no event for
// perform.PauseLength.
type ListenerPause struct {
	Unread int // bytes that the runtime had written and the subject had not read at the end of the pause
	// The backlog that the subject reported at the end of the pause, and its depth
	// before Close; a depth of -1: it reports none.
	Depth  int
	Oldest time.Duration
	After  int
}

// Derive returns the result of compute, which it calls once for each type T and then
// caches in the run. The run must have ended. Derive is not safe for concurrent use.
func Derive[T any](r *Run, compute func(*Run) T) T {
	key := reflect.TypeFor[T]()
	if v, ok := r.index.derived[key].(T); ok {
		return v
	}
	if r.index.derived == nil {
		r.index.derived = map[reflect.Type]any{}
	}
	v := compute(r)
	r.index.derived[key] = v
	return v
}
