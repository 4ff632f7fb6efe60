// Package drift answers one question: what changed from one version of a
// runtime to another, and does it hurt adapters?
//
// It compares recordings of the same scenarios on both, on three levels: what
// the runtime declares (schema), what it sends (wire), and what matters: the
// events that the reference adapter makes of it, and the checks. It fails
// closed: what could not be recorded or compared counts as breaking.
package drift

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/schema"
)

// Side is one version.
type Side struct {
	Version string
	Cases   map[string]*fixtures.Case // by scenario
	// Excluded says why a scenario is not for this version, as the scenario has it.
	Excluded  map[string]string
	Failed    map[string]error // scenarios that could not be recorded
	Schema    *schema.Schema   // nil: the runtime declares nothing
	Lifecycle *fixtures.Lifecycle
}

// Config says what is compared.
type Config struct {
	Runtime   string
	From, To  Side
	Scenarios []*fixtures.Scenario
	Subject   conformance.Subject // the reference adapter of the runtime
	Checks    []*conformance.Check
	Progress  func(done, total int, id string)
	// SchemaError is why a schema could not be read.
	SchemaError error
}

// Verdict says how much a change matters.
type Verdict string

// The verdicts, from harmless to not.
const (
	None        Verdict = "none"        // nothing differs
	Additive    Verdict = "additive"    // only more of it: every scenario gives the same events
	Behavioural Verdict = "behavioural" // something is gone, reordered or of another form, or events differ; all checks pass
	Breaking    Verdict = "breaking"    // a check fails, or something could not be run
)

// Verdicts are all of them, from harmless to not.
func Verdicts() []Verdict { return []Verdict{None, Additive, Behavioural, Breaking} }

// Worse reports whether v is worse than w, or as bad.
func (v Verdict) Worse(w Verdict) bool {
	return slices.Index(Verdicts(), v) >= slices.Index(Verdicts(), w)
}

// Level is where a change shows.
type Level string

// The levels.
const (
	LevelSchema Level = "schema"
	LevelWire   Level = "wire"
	LevelEvents Level = "events"
	LevelChecks Level = "checks"
	LevelRun    Level = "run" // what could not be recorded or compared
)

// Sort is what kind of change it is.
type Sort string

// The sorts.
const (
	Added     Sort = "added"
	Gone      Sort = "gone"
	Changed   Sort = "changed"
	Reordered Sort = "reordered"
	Fails     Sort = "fails"
)

// Change is one finding.
type Change struct {
	Level  Level    `json:"level"`
	Sort   Sort     `json:"sort"`
	What   string   `json:"what"` // message turn/steer, field params.emittedAtMs, scenario turn/steer …
	Detail string   `json:"detail,omitempty"`
	Where  []string `json:"where,omitempty"`  // scenarios, or messages that share it
	Chance bool     `json:"chance,omitempty"` // may differ from run to run: the verdict does not count it
	Diff   string   `json:"diff,omitempty"`   // of the events of the first of these scenarios
}

// Report is the answer.
type Report struct {
	Runtime   string   `json:"runtime"`
	From      string   `json:"from"`
	To        string   `json:"to"`
	Verdict   Verdict  `json:"verdict"`
	Scenarios int      `json:"scenarios"` // compared on both
	Same      int      `json:"same"`      // of them: give the same events
	Changes   []Change `json:"changes"`
}

// Compare answers. An error means that the comparison itself could not be done.
func Compare(ctx context.Context, cfg Config) (*Report, error) {
	rep := &Report{Runtime: cfg.Runtime, From: cfg.From.Version, To: cfg.To.Version, Changes: []Change{}}
	rep.Changes = append(rep.Changes, schemaChanges(cfg.From.Schema, cfg.To.Schema)...)
	rep.Changes = append(rep.Changes, cfg.performed()...)
	both := cfg.both()
	rep.Scenarios = len(both)
	rep.Changes = append(rep.Changes, wireChanges(cfg, both)...)
	rep.Changes = append(rep.Changes, lifecycleChanges(cfg.From.Lifecycle, cfg.To.Lifecycle)...)
	for i, scn := range both {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		changes, err := cfg.normalize(scn)
		if err != nil {
			return nil, err
		}
		if len(changes) == 0 {
			rep.Same++
		}
		rep.merge(changes)
		if cfg.Progress != nil {
			cfg.Progress(i+1, len(both), scn.ID)
		}
	}
	for _, side := range []Side{cfg.From, cfg.To} {
		if failed := side.Failed["lifecycle"]; failed != nil {
			rep.Changes = append(rep.Changes, Change{Level: LevelRun, Sort: Fails, What: "lifecycle of " + side.Version, Detail: failed.Error()})
		}
	}
	if cfg.SchemaError != nil {
		rep.Changes = append(rep.Changes, Change{Level: LevelRun, Sort: Fails, What: "schema", Detail: cfg.SchemaError.Error()})
	}
	if len(both) == 0 {
		rep.Changes = append(rep.Changes, Change{Level: LevelRun, Sort: Fails, What: "no scenario was recorded on both versions"})
	}
	rep.Verdict = verdictOf(rep.Changes)
	return rep, nil
}

// merge adds the findings of a scenario; one that was made before gets the
// scenario only.
func (r *Report) merge(changes []Change) {
	for _, c := range changes {
		i := slices.IndexFunc(r.Changes, func(x Change) bool {
			return x.Level == c.Level && x.Sort == c.Sort && x.What == c.What && x.Detail == c.Detail && len(c.Where) > 0
		})
		if i < 0 {
			r.Changes = append(r.Changes, c)
			continue
		}
		r.Changes[i].Where = append(r.Changes[i].Where, c.Where...)
	}
}

// both are the scenarios that both sides have recorded.
func (cfg Config) both() []*fixtures.Scenario {
	var out []*fixtures.Scenario
	for _, s := range cfg.Scenarios {
		if cfg.From.Cases[s.ID] != nil && cfg.To.Cases[s.ID] != nil {
			out = append(out, s)
		}
	}
	return out
}

// performed tells the scenarios that only one side can perform.
func (cfg Config) performed() []Change {
	var out []Change
	for _, s := range cfg.Scenarios {
		what := "scenario " + s.ID
		from, to := cfg.From.Cases[s.ID] != nil, cfg.To.Cases[s.ID] != nil
		switch {
		case cfg.To.Failed[s.ID] != nil:
			out = append(out, Change{Level: LevelRun, Sort: Fails, What: what, Detail: cfg.To.Failed[s.ID].Error()})
		case cfg.From.Failed[s.ID] != nil:
			out = append(out, Change{Level: LevelRun, Sort: Fails, What: what, Detail: cfg.From.Version + ": " + cfg.From.Failed[s.ID].Error()})
		case from && !to:
			out = append(out, Change{Level: LevelWire, Sort: Gone, What: what, Detail: cfg.To.Excluded[s.ID]})
		case to && !from:
			out = append(out, Change{Level: LevelWire, Sort: Added, What: what, Detail: cfg.From.Excluded[s.ID]})
		}
	}
	return out
}

func verdictOf(changes []Change) Verdict {
	v := None
	for _, c := range changes {
		one := Behavioural
		switch {
		case c.Chance:
			one = None
		case c.Sort == Fails:
			one = Breaking
		case c.Sort == Added && c.Level != LevelEvents:
			one = Additive
		}
		if one.Worse(v) {
			v = one
		}
	}
	return v
}

// sorted orders findings so that a report reads the same each time.
func sorted(changes []Change) []Change {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.What, b.What), cmp.Compare(a.Detail, b.Detail))
	})
	return changes
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
