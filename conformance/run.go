package conformance

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
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
	Fault    *fault.Fault   // the fault put into its wire; nil: none
	Plain    *Run           // the run without the fault, if there is one
	Witness  []fixtures.Request

	Events        []Event
	Steps         []StepResult
	StepsAfterEnd []StepResult // steps on a session that had ended: by itself, or by Close
	Opens         []OpenResult
	ToolCalls     []ToolCall    // the calls that reached the client's tools
	BlockedCalls  []BlockedCall // calls of its tools and hooks whose answer waited for something

	Declared *adapters.Capabilities // nil: the subject declares nothing
	// EventSupport reports whether the subject's events hold an event type or a
	// member (see EventSupporter); nil: they hold all.
	EventSupport func(what string) bool

	// Of a replay:
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
	ListenerPause   *ListenerPause           // what a slow listener led to; nil: it was not slow
	// ToRecorded rewrites ids and folders of the run into their recorded form; nil:
	// they are equal.
	ToRecorded func(text string) string

	// Of a live run:
	Workspace map[string][]byte // the files at the end
	Home      string

	Hang       string // why the run did not finish, or ""
	Harness    string // why the harness could not perform the scenario, or ""
	EndedEarly bool   // a step could not be run, so the ones after it were not

	canonical []string             // see Canonical
	stored    []event.Event        // see Stored
	derived   map[reflect.Type]any // see Derive
}

// Recorded puts the ids and folders of this run back into their recorded form,
// so that two runs can be compared, and a run with the witness.
func (r *Run) Recorded(text string) string {
	if r.ToRecorded == nil {
		return text
	}
	return r.ToRecorded(text)
}

// asTold writes what an event holds the same way each time, whatever it holds.
var CanonicalJSON = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Told are the events without what a second run may change: seq and ts, and ids
// that the subject or the play chose. The run must be over.
func (r *Run) Canonical() []string {
	if r.canonical != nil {
		return r.canonical
	}
	r.canonical = make([]string, len(r.Events))
	var b bytes.Buffer
	var mine []int // events that the plain run does not have so
	plain := 0
	for i := range r.Events {
		if k, same := r.like(plain, i); same {
			r.canonical[i], plain = r.Plain.canonical[k], k+1
			continue
		}
		mine = append(mine, i)
		writeTold(&b, &r.Events[i])
	}
	text := r.Recorded(b.String())
	for _, i := range mine {
		r.canonical[i], text, _ = strings.Cut(text, "\n")
	}
	return r.canonical
}

// like finds an event of this run at the same place of the plain one, or right
// after it: most of what is told with a harm is what is told without, and need
// not be written again.
func (r *Run) like(from, i int) (k int, same bool) {
	if r.Plain == nil {
		return 0, false
	}
	r.Plain.Canonical()
	for k := from; k < min(from+2, len(r.Plain.Events)); k++ {
		a, b := &r.Plain.Events[k], &r.Events[i]
		if a.Turn == b.Turn && a.SubagentID == b.SubagentID && reflect.DeepEqual(a.Data, b.Data) {
			return k, true
		}
	}
	return 0, false
}

func writeTold(b *bytes.Buffer, e *Event) {
	head := append(b.AvailableBuffer(), `{"type":"`...)
	head = append(append(head, e.Type()...), '"')
	if e.Turn != 0 {
		head = strconv.AppendInt(append(head, `,"turn":`...), int64(e.Turn), 10)
	}
	if e.SubagentID != "" {
		head, _ = jsontext.AppendQuote(append(head, `,"subagent_id":`...), e.SubagentID) // its only error is invalid UTF-8, replaced
	}
	b.Write(append(head, `,"data":`...))
	if err := json.MarshalWrite(b, e.Data, CanonicalJSON); err != nil {
		text, _ := jsontext.AppendQuote(nil, err.Error())
		b.Write(text)
	}
	b.WriteString("}\n")
}

// Carries reports whether the subject's events hold what is named so; see Carrier.
func (r *Run) Supports(what string) bool { return r.EventSupport == nil || r.EventSupport(what) }

// Seen is an event with the moment at which it reached the listener.
type Event struct {
	event.Event
	At    time.Duration // since the start, in the run's time
	Line  int           // how many wire lines had been played by then
	Steps int           // how many acts had begun by then
}

// Done is an act of the scenario and how it went.
type StepResult struct {
	Step fixtures.Step
	At   time.Duration
	For  time.Duration // how long it took
	Err  error         // nil: done
}

// Called is a call that reached a tool of the client's.
type ToolCall struct {
	Tool     string
	Input    jsontext.Value
	Answered bool // the tool answered, while the call was still wanted
}

// Waits is a call of a tool or hook of the client's that could not answer at once.
type BlockedCall struct {
	Name      string
	Over      bool          // it waits no longer: it may answer, or was told that nobody wants that
	Cancelled bool          // it was told: its context ended
	At        time.Duration // when
	Returned  time.Duration // when it returned: what is told takes a moment to clean up
}

// Opened is how an Open went.
type OpenResult struct {
	Step     fixtures.Step
	Resume   string // the id it was to resume
	Dir      string // the working directory it was to have
	Model    string // the model it was to have; "": the runtime's default
	Provider string // the id that the runtime gave to the session
	Err      error
}

// Played is a wire line that was played.
type PlayedLine struct {
	Line fixtures.WireLine
	At   time.Duration
}

// Stored are the events as they come back from a store: through their JSON form.
// The run must be over.
func (r *Run) Stored() ([]event.Event, error) {
	if r.stored != nil {
		return r.stored, nil
	}
	stored := make([]event.Event, 0, len(r.Events))
	var line, again []byte
	for _, e := range r.Events {
		var err error
		if line, err = e.AppendJSON(line[:0]); err != nil {
			return nil, err
		}
		back, err := event.Decode(line)
		if err != nil {
			return nil, err
		}
		if again, err = back.AppendJSON(again[:0]); err != nil {
			return nil, err
		}
		if !bytes.Equal(line, again) {
			return nil, fmt.Errorf("the event %s comes back as %s", line, again)
		}
		stored = append(stored, back)
	}
	r.stored = stored
	return stored, nil
}

// Derive returns what compute derives from a run, and computes it at the first
// call for each type T. The run must have ended, and is not for several
// goroutines.
func Derive[T any](r *Run, compute func(*Run) T) T {
	key := reflect.TypeFor[T]()
	if v, ok := r.derived[key].(T); ok {
		return v
	}
	if r.derived == nil {
		r.derived = map[reflect.Type]any{}
	}
	v := compute(r)
	r.derived[key] = v
	return v
}
