// Package fault changes a recorded wire the way a faulty runtime or a faulty client
// would, and states what an adapter must emit then. It is not part of the stable
// interface.
//
// An [Operator] is a pure function of a case and a place. It returns a [Fault], which
// a stand-in (package fakes/standin) plays. The recorded lines are never modified, and
// the same place gives the same fault.
//
// Operators test for no runtime and no scenario by name. They read lines with package
// fixtures/wire, and an operator that shows the same in every case is applied only to
// the scenarios whose head names it (`faults: …`).
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Kind is what an adapter must emit under a fault.
type Kind string

// The kinds of faults.
const (
	Transparent Kind = "transparent" // the same events
	Noticed     Kind = "noticed"     // the same events, and one notice
	Terminal    Kind = "terminal"    // the events so far, their closings, one error
	Raced       Kind = "raced"       // what must hold whichever of a call and a line comes first
)

// Operator is a way to change a case's wire.
type Operator struct {
	Name string
	Kind Kind
	Doc  string // what happens, in a sentence
	// Selective reports that the operator, or some of its places, are only for the
	// scenarios whose head names it.
	Selective bool

	// places are the places in a case. named reports whether the scenario names
	// the operator.
	places func(c *lines, named bool) []int
	// placesIn replaces places if they depend on the steps of the scenario. It is not called
	// without one.
	placesIn func(c *lines, s *fixtures.Scenario) []int
	apply    func(c *lines, place int) Fault
}

// Places returns where the operator can be applied to a case of a scenario. The
// scenario may be nil, which names no operator.
func (o Operator) Places(c *fixtures.Case, s *fixtures.Scenario) []int {
	switch {
	case o.placesIn == nil:
		return o.places(linesOf(c), s != nil && slices.Contains(s.Faults, o.Name))
	case s == nil:
		return nil
	}
	return o.placesIn(linesOf(c), s)
}

// Apply changes the case at one of its places.
func (o Operator) Apply(c *fixtures.Case, place int) Fault {
	f := o.apply(linesOf(c), place)
	f.Kind, f.Place = o.Kind, place
	if f.Operator == "" {
		f.Operator = o.Name
	}
	return f
}

// Fault is what a stand-in does other than recorded. Some of the fields go into the
// options of a play, the others are for the runner.
type Fault struct {
	Operator string
	Kind     Kind
	Place    int
	Line     int // of the case's file: the line at which it happens; 0 for the whole wire
	Refuses  int // of the case's file: the line of the request that gets an error; 0 if none does
	// Wire changes the lines of one process; nil leaves them.
	Wire func(process int, lines []fixtures.WireLine) []fixtures.WireLine
	// Chunk cuts what is written to stdout; nil writes a line at once.
	Chunk func(line []byte) [][]byte
	// NoLastNewline leaves out the line end of the last line of a process.
	NoLastNewline bool
	// Burst plays all that can be played at once, as a client reads it that was
	// suspended.
	Burst bool
	// CutsLine reports that the line at which it happens is not whole.
	CutsLine bool
	// Hangs reports that the process lives on and writes nothing more.
	Hangs bool
	// NoticeAllowed reports that an adapter may emit one notice, and need not.
	NoticeAllowed bool
	// SlowListener reports that the listener takes no event for a while from there
	// on.
	SlowListener bool
	// StartError is why the program cannot be started; nil if it can.
	StartError error
	// IgnoresSIGTERM reports that SIGTERM ends no process.
	IgnoresSIGTERM bool
	// AnswerAfter is how long the client waits, from there on, before it answers a question.
	AnswerAfter time.Duration
	// ListenerBlocked reports that the listener takes no event from there on, until
	// the session is closed.
	ListenerBlocked bool
	// ClientTimeout is how long the client waits for its calls to return; if
	// ListenerBlocked, only for Close. 0 is without limit.
	ClientTimeout time.Duration
	// Race is what the client does at another moment than the recording's; nil: nothing.
	Race *Race
}

// EndsProcess reports whether a line that was played is the one by which the fault
// ends the process or its output.
func (h *Fault) EndsProcess(w fixtures.WireLine) bool {
	return w.Line == h.Line && (w.Dir == fixtures.Exit || w.Dir == standin.Hangup)
}

// ApplyTo sets the options of a play.
func (h *Fault) ApplyTo(o *standin.Options) {
	o.Fault, o.Chunk, o.NoLastNewline, o.IgnoresSIGTERM = h.Wire, h.Chunk, h.NoLastNewline, h.IgnoresSIGTERM
}

func (h Fault) String() string {
	if h.Line == 0 {
		return h.Operator
	}
	return fmt.Sprintf("%s at line %d", h.Operator, h.Line)
}

// Operators returns all operators, in a fixed order.
func Operators() []Operator { return slices.Clone(operators()) }

// operators makes the operators once: they are looked up in each run.
var operators = sync.OnceValue(func() []Operator {
	return slices.Concat([]Operator{
		wholeWire("split-every-byte", "Each byte of stdout is written alone.",
			Fault{Chunk: everyByte}),
		splitRandom(),
		wholeWire("glue-lines", "Lines that follow each other with no client step between them are written at once.",
			Fault{Wire: glue}),
		wholeWire("crlf", "Lines end in CR LF.",
			Fault{Chunk: crlf}),
		noFinalNewline(),
		wholeWire("blank-lines", "An empty line follows each line.",
			Fault{Wire: afterEach(fixtures.Out, func(int) string { return "" })}),
		wholeWire("stderr-noise", "The runtime logs on stderr, in colour, and sometimes lines that look like its protocol.",
			Fault{Wire: afterEach(fixtures.Err, noise)}),
		stderrFlood(),
		wholeWire("burst", "All output between two client steps comes at once, also that after the last one.",
			Fault{Burst: true}),
		lateDelta(),
		lateItem(),
		staleLine(),
		duplicateEnd(),
		echoInput(),
		reorderIndependent(),
		unknownRequest(),
		staleRequest(),
		unreadableRequest(),
		withdrawnRequest(),
		longLine(),
		hugeLine(),
		endlessLine(),
		flood(),
		listenerGone(),
		longPause(),
		longTool(),
		wholeWire("unknown-field", "Each message, and each object in it, has a member that no version has.",
			Fault{Wire: unknownFields}),
		unknownMessage(),
		unknownValue(),
		garbageLine(),
		kill(),
		exit(),
		exitWithoutNewline(),
		cutLine(),
		closeStdout(),
		closeStdin(),
		stall(),
		stopIgnored(),
		endlessRetries(),
		ignoreSIGTERM(),
		missingEnd(),
		lostEnd(),
		endlessEnd(),
		noHandshake(),
		noHandshakeInTime(),
		noProgram(),
		errorReply(),
		replyWithoutID(),
		noReply(),
	}, races())
})

// Named returns an operator by its name. split-random takes a seed:
// split-random(7).
func Named(name string) (Operator, error) {
	base, arg, has := strings.Cut(strings.TrimSuffix(name, ")"), "(")
	for _, o := range operators() {
		if o.Name != base {
			continue
		}
		if !has {
			return o, nil
		}
		var seed int
		if _, err := fmt.Sscanf(arg, "%d", &seed); err != nil || base != "split-random" {
			return Operator{}, fmt.Errorf("operator %q: only split-random takes an argument, a number", name)
		}
		o.Name = name
		o.places = func(*lines, bool) []int { return []int{seed} }
		return o, nil
	}
	var names []string
	for _, o := range operators() {
		names = append(names, o.Name)
	}
	return Operator{}, fmt.Errorf("no fault %q; want one of %s", name, strings.Join(names, ", "))
}

// Lint returns what is wrong with the faults that scenarios name, and which
// selective operators no scenario names.
func Lint(scenarios []*fixtures.Scenario) error {
	var all []error
	selective := map[string]bool{}
	for _, o := range operators() {
		if o.Selective {
			selective[o.Name] = false
		}
	}
	for _, s := range scenarios {
		for _, name := range s.Faults {
			if _, known := selective[name]; !known {
				all = append(all, fmt.Errorf("%s: faults: %q is no operator that a scenario has to name", s.File, name))
				continue
			}
			selective[name] = true
		}
	}
	for _, o := range operators() {
		if o.Selective && !selective[o.Name] {
			all = append(all, fmt.Errorf("no scenario names the operator %s: add it to a `faults:` line", o.Name))
		}
	}
	return errors.Join(all...)
}

// wholeWire is a transparent operator on the whole wire. It has one place.
func wholeWire(name, doc string, f Fault) Operator {
	return Operator{
		Name: name, Kind: Transparent, Doc: doc,
		places: func(*lines, bool) []int { return []int{0} },
		apply:  func(*lines, int) Fault { return f },
	}
}
