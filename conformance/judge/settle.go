package judge

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Settling returns the event types and members that the subject emitted nowhere in the
// runs of a failed result, and that settle it: the check does not fail if the subject
// declares that its events lack one of them. They are those that the check asks for: its
// needs, and what it asks the run.
func Settling(r *conformance.Result) (out []string) {
	if r.Trial == nil || r.Trial.Run == nil {
		return nil
	}
	asked := &questions{}
	judgeAgain(r, asked)
	for _, what := range asked.names {
		if !emits(r.Trial, what) && !judgeAgain(r, &questions{omits: what}).Verdict.Bad() {
			out = append(out, what)
		}
	}
	return out
}

// questions answers what a check asks about the support of a subject.
type questions struct {
	names []string // that the subject supports
	omits string   // the subject is said not to support this one
}

// judgeAgain judges the runs of a result again, as if the subject did not support what q
// omits. It notes in q what the check asks for.
func judgeAgain(r *conformance.Result, q *questions) conformance.Result {
	again := func(run *conformance.Run) *conformance.Run {
		c := run.WithEvents(run.Events) // without derived values, which depend on the support
		c.Observed = run.Observed
		c.EventSupport = func(what string) bool {
			if !run.Supports(what) || what == q.omits {
				return false
			}
			if !slices.Contains(q.names, what) {
				q.names = append(q.names, what)
			}
			return true
		}
		return c
	}
	t := &conformance.Trial{Run: again(r.Trial.Run)}
	if r.Trial.Alternate != nil {
		t.Alternate = again(r.Trial.Alternate)
	}
	var f conformance.Finding
	if r.Check.Judge != nil {
		Guard(r.Check, &f, func() { r.Check.Judge(t, &f) })
	}
	for _, faulted := range r.Trial.Faulted {
		c := again(faulted)
		c.Plain = t.Run
		t.Faulted = append(t.Faulted, c)
		if r.Check.JudgeFault != nil {
			Guard(r.Check, &f, func() { r.Check.JudgeFault(t.Run, c, &f) })
		}
	}
	return Conclude(r.Check, t, r.Tier, &f)
}

// emits reports whether an event of the runs has a type, or a member of one. It is true
// for what is neither, and for a member of a type that no run has: the type is missing
// then, not the member.
func emits(t *conformance.Trial, what string) bool {
	name, member, isMember := strings.Cut(what, ".")
	if !slices.Contains(event.Types(), event.Type(name)) {
		return true
	}
	found := false
	for _, run := range append([]*conformance.Run{t.Run}, t.Faulted...) {
		for _, e := range run.Events {
			if e.Type() != event.Type(name) {
				continue
			}
			if found = true; !isMember || hasMember(e.Data, member) {
				return true
			}
		}
	}
	return isMember && !found
}

// hasMember reports whether the JSON of an event's data has a member, such as tokens.cached.
func hasMember(data event.Data, path string) bool {
	b, err := json.Marshal(data, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return true
	}
	var value any
	if err := json.Unmarshal(b, &value, jsontext.AllowInvalidUTF8(true)); err != nil {
		return true
	}
	for name := range strings.SplitSeq(path, ".") {
		object, is := value.(map[string]any)
		if !is {
			return false
		}
		if value, is = object[name]; !is {
			return false
		}
	}
	return true
}
