package sse

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// abilities returns what GET /health may declare. Every sidecar has routes for stop and
// resume.
func abilities() []string {
	out := []string{plug.CanAnswer, plug.CanQuestion, plug.CanAttach, plug.CanPriority, plug.CanMCP, plug.CanLimits, plug.CanCursor, plug.CanOnce, plug.CanGuard, plug.CanHeartbeat, plug.CanMedia}
	for _, o := range op.All() {
		out = append(out, o.Name)
	}
	return append(out, optionAbilities()...)
}

// TakesLimits implements conformance.LimitTaker.
func (x *session) TakesLimits() bool { return x.health.Require(plug.CanLimits) == nil }

// plainTypes are the events of a sidecar that declares none.
var plainTypes = []event.Type{
	event.TypeSessionReady, event.TypeDelta, event.TypeThinking, event.TypeToolStart, event.TypeToolResult,
	event.TypePermissionRequest, event.TypePermissionResolved, event.TypeResult, event.TypeDone, event.TypeError,
	event.TypeComponentUpdate, event.TypeComponentRemove, event.TypeInterrupt, event.TypeInterruptResolved,
}

// isWhole reports whether the sidecar emits the whole form of events, which has
// turns.
func (x *session) isWhole() bool { return slices.Contains(x.health.Events, event.TypeTurnStart) }

// permissionModes are the values of params.permissionMode.
var permissionModes = map[string]string{
	adapters.ModeAsk:         "default",
	adapters.ModeAcceptEdits: "acceptEdits",
	adapters.ModePlan:        "plan",
	adapters.ModeDontAsk:     "dontAsk",
	adapters.ModeNever:       "bypassPermissions",
}

// permissionMode returns the value for an opening. A sidecar that does not declare
// answer supports only one mode.
func (x *session) permissionMode(o conformance.Open) (string, error) {
	mode := o.ModeOn(x.s.Of)
	value := permissionModes[mode]
	switch {
	case value == "":
		return "", plug.Unsupported("permissionMode has no value for " + mode)
	case mode == adapters.ModeNever:
		return value, nil
	}
	return value, x.health.Require(plug.CanAnswer)
}

// neverReplied are members that a server without a request that opens a session does not have.
var neverReplied = []string{"open.mode", "open.failed"}

// Supports implements conformance.EventSupporter.
func (x *session) Supports(what string) bool {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if ability, is := strings.CutPrefix(what, "can."); is {
		return x.health.Require(ability) == nil
	}
	name, _, _ := strings.Cut(what, ".")
	typ := event.Type(name)
	switch {
	case x.Unsupported(what), x.health.Lacks(what), typ == event.TypeToolInput && !x.asksForToolInput():
		return false
	case !x.plain.Expects(what):
		return false
	case x.repliesWithStreams() && slices.Contains(neverReplied, what):
		return false
	case what == "open.dir":
		return !x.repliesWithStreams() || x.foreign.Mapping.Post.Names("dir")
	case !x.isWhole():
		return x.plain.Supports(what, &x.health)
	case !slices.Contains(event.Types(), typ):
		return true // a member of the envelope, or of a step
	}
	return x.health.Emits(typ)
}
