package session

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// OpenOptions is the check session.open-options.
var OpenOptions = &conformance.Check{
	ID: "session.open-options", Source: "adapters that accept a model, a mode or a server and open without it", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Aliases:       []string{"session.opened-as-asked"},
	Mend:          "Pass each option of Open on: as an argument, in the handshake or in a message before the first turn. Return `unsupported` for an option that cannot be passed on.",
	Sentence:      "The runtime receives the options of the session and their changes: session, folders, model, mode, servers, instructions, effort, limits, sources of settings, hooks and schema. What concerns the model reaches it.",
	JudgesWritten: true,
	Judge:         judgeOpened,
}

// judgeOpened compares the settings that the subject chose, each time it opened a
// session or sent a message, with those that the client asked for. The runtime's name
// of a mode is taken from the recorded client.
func judgeOpened(t *conformance.Trial, f *conformance.Finding) {
	if t.Tier == conformance.TierLive {
		judgeReached(t, f)
		return
	}
	for _, s := range t.Settings {
		want, ok := wanted(t.Run, s)
		if !ok {
			continue
		}
		f.Asserted(1)
		f.Sent = true
		if !want(s.Subject) {
			line := 0
			if s.Line != nil {
				line = s.Line.Line
			}
			f.Problems = append(f.Problems, conformance.Problem{
				Line: line, Text: fmt.Sprintf("process %d: the %s must be %q, the subject asked for %q", s.Process, s.Name, t.Recorded(s.Recorded), t.Recorded(s.Subject)),
			})
		}
	}
	judgeRequests(t, f)
	if len(t.Opens) == 0 {
		return
	}
	judgeCopies(t, f)
	if runindex.Runtime(t.Run).ClientRunsTurns {
		return // the subject itself starts the servers: see tool.server-called
	}
	for _, srv := range t.Scenario.Servers {
		f.Asserted(1)
		f.Sent = true
		if srv.Remote.Transport != "" {
			judgeRemote(t, f, &srv)
			continue
		}
		command := fixtures.ServerCommand(srv.Name)
		if !mentions(t.Run, srv.Name, command) {
			f.Failf("the subject did not write the MCP server %s, which %s starts, to the runtime", srv.Name, command)
			continue
		}
		if !mentionsEachTime(t, srv.Name, command) {
			f.Failf("the subject did not write the MCP server %s, which %s starts, to the runtime each time it opened the session", srv.Name, command)
		}
		judgeValues(t, f, &srv, "variable", srv.Env)
	}
}

// judgeCopies judges whether each process keeps copies of files if the client asked for them.
func judgeCopies(t *conformance.Trial, f *conformance.Finding) {
	if !slices.Contains(t.Scenario.Needs, "checkpoint") {
		return
	}
	for _, p := range t.Started {
		f.Asserted(1)
		f.Sent = true
		if !runindex.Runtime(t.Run).Launched(t.Version, p.Argv, p.Env).Checkpoints {
			f.Failf("the client asked for checkpoints, but the subject started a process that keeps no copies of files")
		}
	}
}

// judgeRemote judges whether the runtime got the address of a server that runs already, and
// its headers.
func judgeRemote(t *conformance.Trial, f *conformance.Finding, srv *fixtures.Server) {
	url := fixtures.ServerURL(srv.Name)
	if !mentions(t.Run, srv.Name, url) {
		f.Failf("the subject did not write the MCP server %s, which runs at %s, to the runtime", srv.Name, url)
		return
	}
	judgeValues(t, f, srv, "header", srv.Remote.Headers)
	// A runtime that tries each transport is not told which.
	has := both("/"+srv.Name, `"`+srv.Remote.Transport+`"`) // the port is not recorded
	if t.Case == nil || !slices.ContainsFunc(t.Case.Wire, func(w fixtures.WireLine) bool {
		return w.Dir == fixtures.In && has(string(w.Bytes)) || w.Dir == fixtures.Spawn && slices.ContainsFunc(w.Argv, has)
	}) {
		return
	}
	f.Asserted(1)
	if !mentions(t.Run, url, `"`+srv.Remote.Transport+`"`) {
		f.Failf("the subject did not write to the runtime that the MCP server %s uses the transport %s", srv.Name, srv.Remote.Transport)
	}
}

// judgeValues judges whether the runtime got the variables or the headers of a server.
func judgeValues(t *conformance.Trial, f *conformance.Finding, srv *fixtures.Server, kind string, values map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		f.Asserted(1)
		if !mentions(t.Run, name, values[name]) {
			f.Failf("the subject did not write the %s %s of the MCP server %s to the runtime", kind, name, srv.Name)
		}
	}
}

// judgeRequests judges the limit of requests where no runtime gets it, because the subject
// itself asks the model.
func judgeRequests(t *conformance.Trial, f *conformance.Finding) {
	rt, limit := runindex.Runtime(t.Run), t.Scenario.Opening.MaxRequests
	if !rt.ClientRunsTurns || limit == 0 {
		return
	}
	f.Asserted(1)
	asked := 0
	for _, w := range t.ClientActions {
		in := rt.ReadInput(w.Bytes)
		if in.Kind != wire.Send {
			continue
		}
		asked++
		if in.Step.Text != "" { // the user's message
			asked = 1
		}
		if asked == limit+1 {
			f.Failf("a turn asked the model more than %d times, which is its limit", limit)
		}
	}
}

// wanted returns how a setting is judged; ok is false if the client did not ask for it.
func wanted(r *conformance.Run, s standin.Setting) (func(got string) bool, bool) {
	equal := func(got string) bool { return got == s.Recorded }
	switch s.Name {
	case standin.SettingOpen, standin.SettingPlans:
		return equal, true
	case standin.SettingDir:
		return func(got string) bool { return sameDir(got, r.Opens[0].Dir) }, len(r.Opens) > 0 && r.Opens[0].Dir != "" && r.Supports("open.dir")
	case standin.SettingModel:
		return equal, s.Recorded != "" && chosenModel(r)
	case standin.SettingAsks:
		if asksForms(r) {
			return func(got string) bool { return got != "never" }, true
		}
		return equal, s.Recorded != "" && r.Supports("open.mode")
	case standin.SettingSandbox:
		// If the runtime asks about every command, each client may decide how far it
		// trusts those that it allowed before.
		asked := slices.ContainsFunc(r.Settings, func(x standin.Setting) bool {
			return x.Line == s.Line && x.Name == standin.SettingAsks && x.Recorded == "untrusted"
		})
		return equal, s.Recorded != "" && !asked && !asksForms(r) && r.Supports("open.mode")
	case standin.SettingHooks:
		return func(got string) bool {
			given := strings.Split(got, "\n")
			for h := range strings.SplitSeq(s.Recorded, "\n") {
				if !slices.Contains(given, h) {
					return false
				}
			}
			return true
		}, s.Recorded != ""
	case standin.SettingInstructions:
		return equal, r.Scenario.Opening.Instructions != ""
	case standin.SettingEffort:
		return equal, r.Scenario.Opening.Effort != ""
	case standin.SettingLimits:
		return equal, s.Recorded != "" && (r.Scenario.Opening.MaxRequests > 0 || r.Scenario.Opening.MaxCost > 0)
	case standin.SettingExtraDirs:
		return func(got string) bool { return sameDirs(strings.Split(got, "\n"), r.Opens[0].ExtraDirs) }, len(r.Opens) > 0 && len(r.Opens[0].ExtraDirs) > 0
	case standin.SettingSources:
		return func(got string) bool { return sameList(got, s.Recorded) }, len(r.Scenario.Opening.SettingSources) > 0
	case standin.SettingSchema:
		return equal, r.Scenario.Schema != nil
	}
	return nil, false
}

// asksForms reports whether the scenario needs questions of a kind for which the
// runtime has no specific mode, so that each client chooses a mode to get them.
func asksForms(r *conformance.Run) bool {
	return runindex.Runtime(r).NeverDeclines && (slices.Contains(r.Scenario.Needs, "elicitation") || slices.Contains(r.Scenario.Needs, "granular"))
}

// chosenModel reports whether the scenario names a model.
func chosenModel(r *conformance.Run) bool {
	return r.Scenario.OpenModel(r.Runtime, r.Version) != "" || slices.ContainsFunc(r.Scenario.Client, func(a fixtures.Step) bool { return a.Verb == fixtures.VerbSet && a.What == "model" })
}

// sameDir reports whether two paths lead to the same folder: a client may resolve
// links.
func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	ra, err1 := filepath.EvalSymlinks(a)
	rb, err2 := filepath.EvalSymlinks(b)
	return err1 == nil && err2 == nil && ra == rb
}

func sameDirs(a, b []string) bool {
	return slices.EqualFunc(a, b, sameDir)
}

// sameList reports whether two lists, separated by commas, have the same elements.
func sameList(a, b string) bool {
	as, bs := strings.Split(a, ","), strings.Split(b, ",")
	slices.Sort(as)
	slices.Sort(bs)
	return slices.Equal(as, bs)
}

// mentions reports whether one argument of a process, one variable or one line names a server
// and its program, or a header or a variable and its value.
func mentions(r *conformance.Run, name, command string) bool {
	processes, lines := countMentions(r, name, command)
	return processes+lines > 0
}

// countMentions returns how many processes were started with a server and its program, and how
// many lines name them.
func countMentions(r *conformance.Run, name, command string) (processes, lines int) {
	has := both(name, command)
	for _, p := range r.Started {
		if slices.ContainsFunc(p.Argv, has) || slices.ContainsFunc(p.Env, has) {
			processes++
		}
	}
	for _, w := range r.ClientActions {
		if has(string(w.Bytes)) {
			lines++
		}
	}
	return processes, lines
}

// both returns a function that reports whether a text has the name beside the program.
func both(name, command string) func(string) bool {
	return func(s string) bool {
		rest := strings.ReplaceAll(s, command, "")
		return rest != s && strings.Contains(rest, name)
	}
}

// mentionsEachTime reports whether the subject names a server as often as the recorded client,
// which names it to each process. One process may serve several sessions.
func mentionsEachTime(t *conformance.Trial, name, command string) bool {
	if t.Case == nil {
		return true
	}
	has, recorded := both(name, command), map[int]bool{}
	for _, w := range t.Case.Wire {
		if w.Dir == fixtures.In && has(string(w.Bytes)) || w.Dir == fixtures.Spawn && slices.ContainsFunc(w.Argv, has) {
			recorded[w.Process] = true
		}
	}
	processes, lines := countMentions(t.Run, name, command)
	return processes == len(t.Started) || processes+lines >= min(len(recorded), len(t.Opens))
}
