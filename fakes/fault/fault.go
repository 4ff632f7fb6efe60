// Package fault answers one question: in which ways can a runtime's wire be
// harmed, and what may a client make of it?
//
// An operator is a pure function of a case and a place. It gives a Harm, which a
// stand-in (package fakes/standin) plays. What was recorded is not changed, and
// the same place gives the same harm.
package fault

import (
	"fmt"
	"strings"
	"time"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Kind says what a client must make of a harm.
type Kind string

// The kinds of faults.
const (
	Transparent Kind = "transparent" // the same events
	Noticed     Kind = "noticed"     // the same events, and one notice
	Terminal    Kind = "terminal"    // the events so far, their closings, one error
)

// Operator is a way to harm a case's wire.
type Operator struct {
	Name string
	Kind Kind
	Doc  string // what happens, in a sentence
	// Places are where the operator can be applied to the case; none when it
	// cannot.
	Places func(c *fixtures.Case) []int
	// Apply harms the case at one of its places.
	Apply func(c *fixtures.Case, place int) Fault
}

// Harm is what a stand-in does other than recorded. The fields go into the
// options of a play.
type Fault struct {
	Operator string
	Kind     Kind
	Place    int
	Line     int // of the case's file: the line at which it happens; 0 for the whole wire
	// Wire harms the lines of one process; nil leaves them.
	Wire func(process int, lines []fixtures.WireLine) []fixtures.WireLine
	// Chunk cuts what is written to stdout; nil writes a line at once.
	Chunk func(line []byte) [][]byte
	// NoLastNewline leaves out the line end of the last line of a process.
	NoLastNewline bool
	// Burst plays all that can be played at once, as one who was asleep reads it.
	Burst bool
	// Cut says that the line at which it happens is not whole.
	CutsLine bool
	// Silent says that the process lives on and says nothing more.
	Hangs bool
	// May says that a client may note the harm in one notice, and need not.
	NoticeAllowed bool
	// Slow says that the client's listener takes nothing for a while from there on.
	SlowListener bool
	// Absent is why the program cannot be started; nil: it can.
	StartError error
	// Stubborn says that no process ends by SIGTERM.
	IgnoresSIGTERM bool
	// Deaf says that the client's listener takes nothing from there on, until the
	// session is closed.
	ListenerBlocked bool
	// Patience is how long the client waits for what its acts return, or where it is
	// deaf for Close; 0: for ever.
	ClientTimeout time.Duration
}

// Struck reports whether a line that was played is the one by which the harm
// ends the process, or what it says.
func (h *Fault) EndsProcess(w fixtures.WireLine) bool {
	return w.Line == h.Line && (w.Dir == fixtures.Exit || w.Dir == standin.Hangup)
}

// Into puts the harm into the options of a play.
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
func Operators() []Operator {
	return []Operator{
		everywhere("split-every-byte", "Each byte of stdout is written alone.",
			func(h *Fault) { h.Chunk = everyByte }),
		splitRandom(),
		everywhere("glue-lines", "Lines that follow each other with no act between them are written at once.",
			func(h *Fault) { h.Wire = glue }),
		everywhere("crlf", "Lines end in CR LF.",
			func(h *Fault) { h.Chunk = crlf }),
		noFinalNewline(),
		everywhere("blank-lines", "There is an empty line after each line.",
			func(h *Fault) { h.Wire = afterEach(fixtures.Out, func(int) string { return "" }) }),
		everywhere("stderr-noise", "The runtime logs on stderr, coloured, and now and then something that looks like its protocol.",
			func(h *Fault) { h.Wire = afterEach(fixtures.Err, noise) }),
		stderrFlood(),
		everywhere("burst", "All that the runtime says between two acts comes at once, its end too.",
			func(h *Fault) { h.Burst = true }),
		lateDelta(),
		lateItem(),
		staleLine(),
		duplicateEnd(),
		echoInput(),
		reorderIndependent(),
		unknownRequest(),
		longLine(),
		hugeLine(),
		endlessLine(),
		flood(),
		nobodyListens(),
		longPause(),
		everywhere("unknown-field", "Each message, and what stands in it, has a member that no version has.",
			func(h *Fault) { h.Wire = unknownFields }),
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
		stubborn(),
		missingEnd(),
		lostEnd(),
		noHandshake(),
		impatient(),
		absent(),
		errorReply(),
		unanswered(),
	}
}

// Named returns an operator by its name. split-random takes a seed:
// split-random(7).
func Named(name string) (Operator, error) {
	base, arg, has := strings.Cut(strings.TrimSuffix(name, ")"), "(")
	var names []string
	for _, o := range Operators() {
		names = append(names, o.Name)
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
		o.Places = func(*fixtures.Case) []int { return []int{seed} }
		return o, nil
	}
	return Operator{}, fmt.Errorf("no operator %q, want one of %s", name, strings.Join(names, ", "))
}

// everywhere is a transparent operator on the whole wire: it has one place.
func everywhere(name, doc string, harm func(*Fault)) Operator {
	return Operator{
		Name: name, Kind: Transparent, Doc: doc,
		Places: func(*fixtures.Case) []int { return []int{0} },
		Apply: func(_ *fixtures.Case, place int) Fault {
			h := Fault{Operator: name, Kind: Transparent, Place: place}
			harm(&h)
			return h
		},
	}
}

// outputs are the indexes of the case's lines of stdout.
func outputs(c *fixtures.Case) []int {
	var out []int
	for i, w := range c.Wire {
		if w.Dir == fixtures.Out {
			out = append(out, i)
		}
	}
	return out
}

// at makes a harm of the wire at one line. f gets the lines of the process and
// the index of that line among them.
func at(c *fixtures.Case, place int, h Fault, f func(lines []fixtures.WireLine, i int) []fixtures.WireLine) Fault {
	w := c.Wire[place]
	h.Place, h.Line = place, w.Line
	i := 0
	for _, before := range c.Wire[:place] {
		if before.Process == w.Process {
			i++
		}
	}
	h.Wire = func(process int, lines []fixtures.WireLine) []fixtures.WireLine {
		if process != w.Process {
			return lines
		}
		return f(lines, i)
	}
	return h
}
