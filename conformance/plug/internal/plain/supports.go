package plain

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug"
)

// never are members that the plain form does not have, or that this package fills
// in.
var never = []string{
	"session_ready", "session_ready.forked_from", "session_ready.resumed", "session_end", "session_end.exit_code",
	"turn_start", "turn_start.cause", "turn_start.message_ids", "turn_start.provider_turn_id",
	"tool_start.tool", "tool_result.changes", "notice", "open.refused",
	"error.code", // a client that waits for the end of a runtime that died gets no session_end either
}

// ifSeen are members that only some programs of the plain form have: they are
// supported once one was seen.
var ifSeen = []string{"thinking.done", "tool_start.is_file_read"}

// filledIn are types that a Translator emits if the plain form does not have them.
var filledIn = []event.Type{event.TypeUserMessage, event.TypeSessionReady}

// Supports reports whether the plain form of a program has an event or a member of one, in the
// form of conformance.EventSupporter. d is what the program declares.
func (x *Translator) Supports(what string, d *plug.Declaration) bool {
	name, _, _ := strings.Cut(what, ".")
	typ := event.Type(name)
	switch {
	case slices.Contains(never, what):
		return x.Dialect != nil && typ == event.TypeNotice && d.Emits(typ)
	case what == "session_ready.provider_session_id":
		return x.provider != ""
	case slices.Contains(ifSeen, what):
		return x.seen[what]
	case !slices.Contains(event.Types(), typ):
		return true // a member of the envelope, or of a step
	case slices.Contains(filledIn, typ):
		return true
	}
	return d.Emits(typ)
}

// Expects reports whether something is expected of the program, though only some programs of its
// vocabulary send it.
func (x *Translator) Expects(what string) bool {
	d := x.Dialect
	return d == nil || d.whole || !d.Mapping.OnlyIfSeen(what) || x.seen[what]
}
