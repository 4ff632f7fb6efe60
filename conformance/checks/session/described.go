package session

import (
	"cmp"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Described is the check session.described.
var Described = &conformance.Check{
	ID: "session.described", Source: "the event contract (adapters/event): session_ready", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"session_ready.session_id", "session_ready.runtime", "session_ready.runtime_version", "session_ready.resumed", "session_ready.forked_from", "session_ready.model", "session_ready.cwd", "session_ready.mode"},
	Needs:    []string{"session_ready"},
	Mend:     "Fill session_ready from what the runtime reports at its start, and from the options of Open where it reports nothing.",
	Sentence: "session_ready names the runtime, its version, the model, the folder and the mode as the runtime states them or as the client asked, and whether the session was resumed or forked.",
	Judge:    judgeDescribed,
}

func judgeDescribed(t *conformance.Trial, f *conformance.Finding) {
	opens := slices.DeleteFunc(slices.Clone(t.Opens), func(o conformance.OpenResult) bool { return o.Err != nil })
	n := 0
	for e, d := range runindex.EventsOf[event.SessionReady](t.Run) {
		if n == len(opens) {
			return // session.ready-first reports it
		}
		o := opens[n]
		n++
		f.Asserted(1)
		at := e
		if t.Tier == conformance.TierProcess {
			at.Line = min(e.Line, o.Line) // it may have been under way for some time
		}
		stated := lastSettings(t.Run, at, t.Recorded(d.ProviderSessionID))
		if d.SessionID != e.SessionID {
			f.At(e, "the session_id is %q, that of the event %q", d.SessionID, e.SessionID)
		}
		judgeField(t, f, e, "runtime", d.Runtime, t.Runtime)
		judgeField(t, f, e, "runtime_version", d.RuntimeVersion, stated.Version)
		if d.RuntimeVersion != "" && d.RuntimeVersion != t.Version {
			f.At(e, "the runtime_version is %q, the runtime's is %q", d.RuntimeVersion, t.Version)
		}
		judgeField(t, f, e, "model", d.Model, stated.Model, o.Model)
		if !sameDir(d.Cwd, o.Dir) { // a client may resolve links
			judgeField(t, f, e, "cwd", t.Recorded(d.Cwd), t.Recorded(stated.Dir), t.Recorded(o.Dir))
		}
		if n == 1 && !asksForms(t.Run) {
			judgeField(t, f, e, "mode", d.Mode, t.Scenario.InitialMode())
		}
		if resumed := o.Step.What == "resume" || o.Step.What == "unarchive"; d.Resumed != resumed && t.Supports("session_ready.resumed") {
			f.At(e, "resumed is %v, but the client's step was open %s", d.Resumed, o.Step.What)
		}
		want := ""
		if o.Step.What == "fork" {
			want = o.Resume
		}
		if d.ForkedFrom != want && t.Supports("session_ready.forked_from") {
			f.At(e, "forked_from is %q, the session was forked from %q", d.ForkedFrom, want)
		}
	}
}

// judgeField demands one of the values that are known, if any is.
func judgeField(t *conformance.Trial, f *conformance.Finding, e conformance.Event, name, got string, known ...string) {
	known = slices.DeleteFunc(known, func(s string) bool { return s == "" })
	switch {
	case len(known) == 0 || !t.Supports("session_ready."+name):
	case got == "":
		f.At(e, "the %s is missing, the runtime states or the client asked for %q", name, known)
	case !slices.Contains(known, got):
		f.At(e, "the %s is %q, the runtime states or the client asked for %q", name, got, known)
	}
}

// lastSettings returns the settings that the process of an event stated before it for a
// session of the runtime.
func lastSettings(r *conformance.Run, e conformance.Event, session string) (out wire.Statement) {
	all, lines := runindex.StatementsOf(r), runindex.Of(r).Lines()
	for i := min(e.Line, len(all)) - 1; i >= 0 && r.Played[i].Line.Process == r.Played[min(e.Line, len(all))-1].Line.Process; i-- {
		if named := cmp.Or(lines[i].Session, lines[i].Opened); named != "" && session != "" && named != session {
			continue
		}
		out.Dir, out.Version = cmp.Or(out.Dir, all[i].Dir), cmp.Or(out.Version, all[i].Version)
		if all[i].Message == "" { // the model of a reply may be that of a copied history
			out.Model = cmp.Or(out.Model, all[i].Model)
		}
	}
	return out
}
