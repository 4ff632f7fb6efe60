package session

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Capabilities is the check session.capabilities.
var Capabilities = &conformance.Check{
	ID: "session.capabilities", Source: "user interfaces that offer only what an adapter declares", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:           "Compare what the adapter declares with what it does: declare each ability that works, and remove one that returns \"unsupported\".",
	Sentence:       "The subject declares each ability that it has, and has each ability that it declares. If it declares lists, it returns each that the runtime gives, unless it declares to leave that out.",
	JudgesDeclared: true,
	Judge:          judgeDeclared,
}

// ability is one thing that a subject may declare.
type ability struct {
	name     string
	declared func(c *adapters.Capabilities) bool
	does     func(a fixtures.Step) bool     // a step that needs it
	shows    func(e conformance.Event) bool // an event that shows it
}

func verb(v fixtures.Verb, what ...string) func(fixtures.Step) bool {
	return func(a fixtures.Step) bool { return a.Verb == v && slices.Contains(what, a.What) }
}

func ofType(t event.Type) func(conformance.Event) bool {
	return func(e conformance.Event) bool { return e.Type() == t }
}

// abilities lists those that steps or events show, beside the optional operations. If a
// version of a runtime does not support a step, none of its recordings has that step.
var abilities = []ability{
	{"resume", can("resume"), verb(fixtures.VerbOpen, "resume"), nil},
	{"fork", can("fork"), verb(fixtures.VerbOpen, "fork"), nil},
	{"fork at a turn", can("fork_at"), forksAt, nil},
	{"send by priority", func(c *adapters.Capabilities) bool { return c.Priority }, verb(fixtures.VerbSend, "now", "next", "later"), nil},
	{"ask for permission", func(c *adapters.Capabilities) bool { return c.Permissions }, allowsOrDenies, ofType(event.TypePermissionRequest)},
	{"stop a turn", func(*adapters.Capabilities) bool { return true }, verb(fixtures.VerbStop, ""), nil},
	{"show thinking", func(c *adapters.Capabilities) bool { return c.Thinking }, nil, ofType(event.TypeThinking)},
	{"stream a tool's output", func(c *adapters.Capabilities) bool { return c.ToolOutput }, nil, ofType(event.TypeToolOutput)},
	{"show sub-agents", func(c *adapters.Capabilities) bool { return c.Subagents }, nil, func(e conformance.Event) bool { return e.SubagentID != "" }},
	{"run in the background", func(c *adapters.Capabilities) bool { return c.Background }, nil, func(e conformance.Event) bool {
		d, ok := e.Data.(event.ToolResult)
		return ok && d.Status == event.ToolBackgrounded
	}},
}

// can returns a function that reports whether a subject declares an ability of an option.
func can(ability string) func(c *adapters.Capabilities) bool {
	return func(c *adapters.Capabilities) bool { return c.Can.Names(ability) }
}

// allAbilities returns the abilities, the optional operations, and the options that ask for
// events.
func allAbilities() []ability {
	out := slices.Clone(abilities)
	for _, o := range op.All() {
		out = append(out, ability{
			strings.ReplaceAll(o.Name, "_", " "), func(c *adapters.Capabilities) bool { return c.Can.Has(o) },
			func(a fixtures.Step) bool { return a.Op() == o }, nil,
		})
	}
	for _, o := range op.Options(reflect.TypeFor[op.Opening]()) {
		if o.Soft != "" {
			out = append(out, ability{o.Key, can(o.Can), nil, ofType(event.Type(o.Soft))})
		}
	}
	return out
}

// listOf is the name under which a subject declares that it leaves a list out.
func listOf(a conformance.StepResult) string { return "list." + a.Step.What }

// leavesListOut reports whether the runtime gives a list that the subject does not have, and does
// not declare to leave out.
func leavesListOut(t *conformance.Trial, a conformance.StepResult) bool {
	if errors.Is(a.Err, conformance.ErrDeclaredUnsupported) || t.EventSupport != nil && !t.EventSupport(listOf(a)) {
		return false
	}
	_, recorded := runindex.RecordedList(t.Run, a.Step.What)
	return recorded
}

// allowsOrDenies reports whether a step answers a question about a permission with
// yes or no.
func allowsOrDenies(a fixtures.Step) bool {
	return a.Verb == fixtures.VerbAnswer && (a.What == fixtures.AnswerAllow || a.What == fixtures.AnswerDeny) && a.Value == nil
}

// forksAt reports whether a step forks a session in the middle of its history.
func forksAt(a fixtures.Step) bool {
	return a.Verb == fixtures.VerbOpen && a.What == "fork" && a.At != ""
}

func judgeDeclared(t *conformance.Trial, f *conformance.Finding) {
	for _, a := range t.Steps {
		if errors.Is(a.Err, conformance.ErrContradictsDeclaration) {
			f.Failf("%s: %v", a.Step.Verb, a.Err)
		}
	}
	if t.Declared == nil {
		return // this subject declares nothing
	}
	judgeOptional(t, f)
	for _, x := range allAbilities() {
		declared := x.declared(t.Declared)
		for _, a := range t.Steps {
			if x.does == nil || !x.does(a.Step) {
				continue
			}
			f.Asserted(1)
			switch {
			case !declared && a.Err == nil:
				f.Failf("the subject declares that it cannot %s, but did", x.name)
			case a.Step.Op() == op.List && errors.Is(a.Err, adapters.ErrUnsupported):
				if declared && leavesListOut(t, a) { // it may have some lists only, if it says so
					f.Missingf("list %s: the runtime gives this list, but the subject returns %q; or declare that you leave %s out", a.Step.What, a.Err, listOf(a))
				}
			case declared && errors.Is(a.Err, adapters.ErrUnsupported) && !errors.Is(a.Err, conformance.ErrDeclaredUnsupported):
				f.Failf("the subject declares that it can %s, but does not: %v", x.name, a.Err)
			}
		}
		for _, e := range t.Events {
			if x.shows == nil || !x.shows(e) {
				continue
			}
			f.Asserted(1)
			if !declared {
				f.At(e, "the subject declares that it cannot %s, but did", x.name)
				break
			}
		}
	}
}

// judgeOptional judges the options of a session that not every subject supports.
func judgeOptional(t *conformance.Trial, f *conformance.Finding) {
	if len(t.Opens) == 0 {
		return
	}
	err := t.Opens[0].Err
	for _, x := range []struct {
		name, can string
		asked     bool
	}{
		{"offer tools of the client", "tools", len(t.Scenario.Tools) > 0},
		{"call hooks of the client", "hooks", len(t.Scenario.Hooks) > 0},
		{"ask for an answer with a schema", "schema", t.Scenario.Schema != nil},
	} {
		if !x.asked {
			continue
		}
		f.Asserted(1)
		switch declared := t.Declared.Can.Names(x.can); {
		case !declared && err == nil:
			f.Failf("the subject declares that it cannot %s, but did", x.name)
		case declared && errors.Is(err, adapters.ErrUnsupported) && !errors.Is(err, conformance.ErrDeclaredUnsupported):
			f.Failf("the subject declares that it can %s, but does not: %v", x.name, err)
		}
	}
}
