package explore

import (
	"maps"
	"slices"
)

// behaviour is what a scenario has to know of a runtime that performs it, beside which
// moves it can do (grammar).
type behaviour struct {
	asksAboutEach   bool // in mode ask, about harmless commands too
	asksInTurn      bool // about one call after the other, each when the last is done
	beginsTaskTurns bool // a turn begins when background work ends
	continuesCut    bool // after a cut stream it keeps whole blocks and asks for the rest
	hidesUnreadable bool // a call that it cannot read is no item
	patches         bool // it offers a tool that changes several files
	phases          bool // its text has phases and a final form, its reasoning a raw one
	steers          bool // a message can be sent into the running turn
	stopsTwice      bool // a second stop is possible while the first is under way
}

// behaviours lists the runtimes for which scenarios can be composed.
var behaviours = map[string]behaviour{
	"claude": {asksInTurn: true, beginsTaskTurns: true, continuesCut: true, stopsTwice: true},
	"codex":  {asksAboutEach: true, hidesUnreadable: true, patches: true, phases: true, steers: true},
}

// Runtimes returns the names of the runtimes for which scenarios can be composed.
func Runtimes() []string { return slices.Sorted(maps.Keys(behaviours)) }
