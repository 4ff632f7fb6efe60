package faulted

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CommonEvents compares the canonical events of two runs, and returns how many events
// of each are in their common prefix. Two differences are allowed, because they may
// depend on time or chance: deltas, reasoning and output may be split or joined, and
// ids that the subject chooses may have other names.
func CommonEvents(want, got []string) (nWant, nGot int) {
	for nWant < min(len(want), len(got)) && want[nWant] == got[nWant] {
		nWant++
	}
	if nWant == len(want) || nWant == len(got) {
		return nWant, nWant
	}
	if typeOf(want[nWant]) != typeOf(got[nWant]) {
		return nWant, nWant
	}
	// Names may differ from the first event, so that all are compared again.
	w, g := reader{events: want}, reader{events: got}
	names := naming{map[string]string{}, map[string]string{}}
	w.take(0)
	g.take(0)
	for !w.over && !g.over && names.same(w.rest, g.rest) {
		n := min(len(w.text), len(g.text))
		if w.text[:n] != g.text[:n] {
			break
		}
		w.take(n)
		g.take(n)
	}
	return max(nWant, w.eventsRead()), max(nWant, g.eventsRead())
}

// typeOf returns the beginning of a canonical event, which has its type.
func typeOf(canonical string) string {
	head, _, _ := strings.Cut(canonical, ",")
	return head
}

// SameEvents reports whether two runs have the same events, in the way of CommonEvents.
func SameEvents(want, got []string) bool {
	nWant, nGot := CommonEvents(want, got)
	return nWant == len(want) && nGot == len(got)
}

// sameApart reports whether two runs in real time have the same events of the runtime
// and the same events of the client's steps, each in their order. How the two
// interleave depends on time.
func sameApart(want, got []string) bool {
	wantClient, wantRuntime := splitByCause(want)
	gotClient, gotRuntime := splitByCause(got)
	return SameEvents(wantRuntime, gotRuntime) && SameEvents(wantClient, gotClient)
}

// clientEvents are the types of events that a step of the client may cause at once.
var clientEvents = []string{"permission_resolved", "interrupt_resolved", "user_message", "queue", "model_changed", "mode_changed"}

func splitByCause(events []string) (client, runtime []string) {
	for _, e := range events {
		if slices.ContainsFunc(clientEvents, func(t string) bool { return strings.HasPrefix(e, `{"type":"`+t+`"`) }) {
			client = append(client, e)
		} else {
			runtime = append(runtime, e)
		}
	}
	return client, runtime
}

// ContainsAll reports whether got contains each of the events in want as often, in any
// order.
func ContainsAll(got, want []string) bool {
	n := map[string]int{}
	for _, e := range got {
		n[e]++
	}
	for _, e := range want {
		if n[e]--; n[e] < 0 {
			return false
		}
	}
	return true
}

// reader reads canonical events as texts, each with the rest of its event.
type reader struct {
	events []string
	next   int // the index of the next event to read
	rest   any // the current event without its text
	text   string
	end    bool // the current event also ends its block
	over   bool // all events are read
}

// eventsRead returns how many events were read completely.
func (r *reader) eventsRead() int {
	if r.over {
		return r.next
	}
	return r.next - 1
}

// take removes the first n bytes of the text, and reads the next event if nothing is
// left of the current one.
func (r *reader) take(n int) {
	switch r.text = r.text[n:]; {
	case r.text != "":
	case r.end:
		r.rest, r.end = []any{r.rest, "end"}, false
	case r.next == len(r.events):
		r.over = true
	default:
		s := r.events[r.next]
		r.next++
		r.split(s)
	}
}

// split reads an event.
func (r *reader) split(s string) {
	r.rest, r.text, r.end = s, "", false
	var e map[string]any
	if json.Unmarshal([]byte(s), &e, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return
	}
	r.rest = e
	data, _ := e["data"].(map[string]any)
	if kind := e["type"]; kind != "delta" && kind != "thinking" && kind != "tool_output" {
		return
	}
	r.text, _ = data["text"].(string)
	r.end = data["done"] == true
	if r.text == "" && !r.end {
		return
	}
	delete(data, "text")
	delete(data, "done")
	if r.text == "" {
		r.rest, r.end = []any{r.rest, "end"}, false
	}
}

// naming maps the ids of one run to those of another, one to one.
type naming struct{ forth, back map[string]string }

// chosenIDs are the members whose values the subject may choose.
var chosenIDs = []string{"block_id", "message_id", "request_id", "interrupt_id", "task_id", "parent_id", "subagent_id"}

// same reports whether two events are equal but for the names of ids.
func (n naming) same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for _, name := range slices.Sorted(maps.Keys(a)) {
			x, isText := a[name].(string)
			y, isTextToo := b[name].(string)
			switch {
			case isText && isTextToo && slices.Contains(chosenIDs, name):
				if !n.bind(name, x, y) {
					return false
				}
			case !n.same(a[name], b[name]):
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !n.same(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return a == b
}

// bind reports whether x may be the name of y: either both are new, or they name each
// other already.
func (n naming) bind(member, x, y string) bool {
	if member == "parent_id" || member == "subagent_id" {
		member = "task_id" // a sub-agent is a task
	}
	x, y = member+" "+x, member+" "+y
	if n.forth[x] == "" && n.back[y] == "" {
		n.forth[x], n.back[y] = y, x
	}
	return n.forth[x] == y && n.back[y] == x
}
