package plug

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// The abilities that a program may declare beside the optional operations and the options of
// op.Opening. Every program supports open, send and close.
const (
	CanAnswer   = "answer"   // permission requests
	CanQuestion = "question" // interrupts: questions to the user, plans to approve
	CanStop     = "stop"     // a turn
	CanAttach   = "attach"   // files with a message
	CanPriority = "priority" // of a message
	CanLimits   = "limits"   // open with limits

	CanResume     = "resume"
	CanFork       = "fork"
	CanMCP        = "mcp"        // open with MCP servers
	CanSchema     = "schema"     // open with a schema of the final answer
	CanPolicy     = "policy"     // open with a tool policy
	CanTools      = "tools"      // open with tools of the client
	CanHooks      = "hooks"      // open with hooks of the client
	CanComponents = "components" // open with components

	CanCursor = "cursor" // a stream that continues after Last-Event-ID
	CanOnce   = "once"   // a message_id that is sent again
	CanGuard  = "guard"  // foreign clients and too large bodies are refused

	CanHeartbeat = "heartbeat" // comments in an idle stream, as often as params.heartbeat_ms asks for
	CanMedia     = "media"     // the bytes of media, by their hash
)

// Declaration is what a program declares about itself.
type Declaration struct {
	Runtime string   `json:"runtime,omitempty"` // the runtime that it wraps
	Can     []string `json:"can"`
	// Events are the types that it emits; nil means all.
	Events []event.Type `json:"events,omitempty"`
	// Without are members that its events do not have: tool_start.file_path, seq; and lists of the
	// runtime that it does not return: list.sessions.
	Without []string `json:"without,omitempty"`
}

// Check returns what is wrong with the declaration of a program that wraps
// runtime, or nil. where names the place of the declaration, kind the program and
// page its documentation; abilities are those that the protocol has.
func (d *Declaration) Check(runtime, where, kind, page string, abilities []string) *Error {
	advice := page + " lists what it may declare"
	if d.Runtime != "" && d.Runtime != runtime {
		return Errorf("%s: the %s wraps %s, but the cases are of %s: give --runtime %s", where, kind, d.Runtime, runtime, d.Runtime).Advise(advice)
	}
	for _, c := range d.Can {
		if !slices.Contains(abilities, c) {
			return Errorf("%s: can: there is no %q, only %s", where, c, strings.Join(abilities, ", ")).Advise(advice)
		}
	}
	for _, t := range d.Events {
		if !slices.Contains(event.Types(), t) {
			return Errorf("%s: events: there is no type %q", where, t).Advise(advice)
		}
	}
	return nil
}

// Require returns an error if the program does not declare the ability.
func (d *Declaration) Require(ability string) error {
	if slices.Contains(d.Can, ability) {
		return nil
	}
	return UnsupportedBecause(fmt.Sprintf("the program does not list %q in can", ability))
}

// Emits reports whether the program declares the type.
func (d *Declaration) Emits(t event.Type) bool {
	return d.Events == nil || slices.Contains(d.Events, t)
}

// Lacks reports whether the program declares that it does not report what, an event
// type or a member of one.
func (d *Declaration) Lacks(what string) bool {
	typ, _, _ := strings.Cut(what, ".")
	return slices.Contains(d.Without, what) || slices.Contains(d.Without, typ)
}

// DeclareOmission returns the member of a Declaration that declares that the events lack
// what, an event type or a member of one.
func DeclareOmission(what string) string { return fmt.Sprintf("\"without\": [%q]", what) }

// Inexpressible reports whether a vocabulary cannot express something, in the form of
// conformance.EventSupporter: a type of event that is not in emits, or what never lists.
func Inexpressible(what string, emits []event.Type, never []string) bool {
	t := event.Type(what)
	return slices.Contains(event.Types(), t) && !slices.Contains(emits, t) || slices.Contains(never, what)
}
