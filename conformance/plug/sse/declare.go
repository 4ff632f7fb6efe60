package sse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// health is what GET /health may declare. Each member may be missing.
type health struct {
	Runtime string       `json:"runtime"`
	Can     []string     `json:"can"`
	Events  []event.Type `json:"events"`
	Without []string     `json:"without"`
}

// abilities are what a sidecar may declare that it can do. Stop and resume have
// routes that each sidecar has.
var abilities = []string{jsonl.CanAnswer, jsonl.CanQuestion, jsonl.CanSteer, jsonl.CanMCP}

// plainTypes are those of a sidecar that declares none.
var plainTypes = []event.Type{
	event.TypeSessionReady, event.TypeDelta, event.TypeThinking, event.TypeToolStart, event.TypeToolResult,
	event.TypePermissionRequest, event.TypePermissionResolved, event.TypeResult, event.TypeDone, event.TypeError,
	event.TypeComponentUpdate, event.TypeComponentRemove, event.TypeInterrupt, event.TypeInterruptResolved,
}

// check says what is wrong with a declaration, or nil.
func (h *health) check(runtime string) *jsonl.PlugError {
	if h.Runtime != "" && h.Runtime != runtime {
		return badHealth("the sidecar wraps %s, and is run on cases of %s: give --runtime %s", h.Runtime, runtime, h.Runtime)
	}
	for _, c := range h.Can {
		if !slices.Contains(abilities, c) {
			return badHealth("can: there is no %q, only %s", c, strings.Join(abilities, ", "))
		}
	}
	for _, t := range h.Events {
		if !slices.Contains(event.Types(), t) {
			return badHealth("events: there is no type %q", t)
		}
	}
	if h.Events == nil {
		h.Events = plainTypes
	}
	return nil
}

// whole reports whether the sidecar tells of turns itself.
func (h *health) whole() bool { return slices.Contains(h.Events, event.TypeTurnStart) }

// must gives an error unless the sidecar declared the ability.
func (h *health) must(ability string) error {
	if slices.Contains(h.Can, ability) {
		return nil
	}
	return fmt.Errorf("GET /health declares no %q among what it can: %w", ability, conformance.ErrDeclaredUnsupported)
}

// permissionModes are the words of params.permissionMode.
var permissionModes = map[string]string{
	adapters.ModeAsk:         "default",
	adapters.ModeAcceptEdits: "acceptEdits",
	adapters.ModePlan:        "plan",
	adapters.ModeDontAsk:     "dontAsk",
	adapters.ModeNever:       "bypassPermissions",
}

// mode is the word for what the runtime is to ask. A sidecar that cannot answer
// has one alone.
func (h *health) mode(o conformance.Open) (string, error) {
	mode := o.Mode
	if mode == "" {
		mode = adapters.ModeNever
		if o.Ask {
			mode = adapters.ModeAsk
		}
	}
	word := permissionModes[mode]
	if word == "" {
		return "", fmt.Errorf("permissionMode has no word for %s: %w", mode, conformance.ErrDeclaredUnsupported)
	}
	if mode == adapters.ModeNever {
		return word, nil
	}
	return word, h.must(jsonl.CanAnswer)
}

// never is what is filled in of the plain form, or has no word there.
var never = []string{
	"session_ready", "session_ready.forked_from", "session_ready.resumed", "session_end", "session_end.exit_code",
	"turn_start", "turn_start.cause", "turn_start.message_ids", "turn_start.provider_turn_id",
	"tool_start.tool", "tool_result.changes", "notice", "open.refused",
	"error.code", // who waits for the end of a runtime that died gets no session_end either
}

// some are members that not every sidecar of the plain form has: they are carried
// where one was seen.
var some = []string{"thinking.done", "tool_start.is_file_read"}

// filled are types that the plain form does without: what is told by them is this
// package's own, or the client's.
var filled = []event.Type{event.TypeUserMessage, event.TypeSessionReady}

// Carries implements conformance.Carrier.
func (x *session) Supports(what string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	typ, _, _ := strings.Cut(what, ".")
	switch whole := x.health.whole(); {
	case x.lacks[what], slices.Contains(x.health.Without, what), slices.Contains(x.health.Without, typ):
		return false
	case !whole && slices.Contains(never, what):
		return false
	case !whole && what == "session_ready.provider_session_id":
		return x.provider != ""
	case !whole && slices.Contains(some, what):
		return x.seen[what]
	case !slices.Contains(event.Types(), event.Type(typ)):
		return true // of the envelope, or of an act
	case !whole && slices.Contains(filled, event.Type(typ)):
		return true
	}
	return slices.Contains(x.health.Events, event.Type(typ))
}
