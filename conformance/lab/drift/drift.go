// Package drift compares two versions of a runtime. It is not part of the stable
// interface.
//
// It compares recordings of the same scenarios on both versions: what the runtime
// declares (schema), what it sends (wire), and, what matters most, the events that
// the reference adapter emits and the checks that fail. If a scenario could not be
// recorded or compared, the verdict is breaking.
package drift

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/schema"
)

// Side holds the recordings of one version.
type Side struct {
	Version string
	Cases   map[string]*fixtures.Case // by scenario
	// Excluded is why a scenario does not apply to this version.
	Excluded  map[string]string
	Failed    map[string]error // scenarios that could not be recorded
	Schema    *schema.Schema   // nil if the runtime declares nothing
	Lifecycle *fixtures.ReadReplies
}

// Config configures a comparison.
type Config struct {
	Runtime   string
	From, To  Side
	Scenarios []*fixtures.Scenario
	Subject   conformance.Subject // the reference adapter of the runtime
	Checks    []*conformance.Check
	Progress  func(done, total int, id string)
	// SchemaError is the error of reading a schema.
	SchemaError error
	// Again records scenarios once more, on the old or the new version, because a
	// change that does not occur each time is chance. If it cannot, the Side it
	// returns is empty. If Again is nil, Compare believes every change.
	Again func(ctx context.Context, old bool, scenarios []*fixtures.Scenario) (Side, error)

	cache *cache
}

// Verdict is how much the changes matter.
type Verdict string

// The verdicts, from harmless to breaking.
const (
	None        Verdict = "none"        // no difference
	Additive    Verdict = "additive"    // only additions: every scenario has the same events
	Behavioural Verdict = "behavioural" // something was removed, reordered or has another form, or events differ; all checks pass
	Breaking    Verdict = "breaking"    // a check fails, or a scenario could not be run
)

// Verdicts returns all verdicts, from harmless to breaking.
func Verdicts() []Verdict { return []Verdict{None, Additive, Behavioural, Breaking} }

// Worse reports whether v is at least as bad as w.
func (v Verdict) Worse(w Verdict) bool {
	return slices.Index(Verdicts(), v) >= slices.Index(Verdicts(), w)
}

// Level is what a change affects.
type Level string

// The levels.
const (
	LevelSchema Level = "schema"
	LevelWire   Level = "wire"
	LevelEvents Level = "events"
	LevelChecks Level = "checks"
	LevelRun    Level = "run" // scenarios that could not be recorded or compared
)

// Sort is the kind of a change.
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
	Chance bool     `json:"chance,omitempty"` // may differ from run to run, so the verdict ignores it
	Diff   string   `json:"diff,omitempty"`   // of the events of the first scenario in Where

	scenarios []string // that show it; none for what is declared
}

// Report is the result of a comparison.
type Report struct {
	Runtime   string   `json:"runtime"`
	From      string   `json:"from"`
	To        string   `json:"to"`
	Verdict   Verdict  `json:"verdict"`
	Scenarios int      `json:"scenarios"` // recorded on both sides
	Same      int      `json:"same"`      // scenarios with the same events
	Changes   []Change `json:"changes"`
}

// Compare compares both sides. It returns an error if the comparison could not be
// made.
func Compare(ctx context.Context, cfg Config) (*Report, error) {
	cfg.cache = newCache()
	cfg.From.Cases, cfg.To.Cases = maps.Clone(cfg.From.Cases), maps.Clone(cfg.To.Cases)
	cfg.From.Failed, cfg.To.Failed = maps.Clone(cfg.From.Failed), maps.Clone(cfg.To.Failed)
	found, err := cfg.findChanges(ctx)
	if err == nil && cfg.Again != nil {
		found, err = cfg.changesThatLast(ctx, found)
	}
	if err != nil {
		return nil, err
	}
	rep := &Report{Runtime: cfg.Runtime, From: cfg.From.Version, To: cfg.To.Version, Changes: schemaChanges(cfg.Runtime, cfg.From.Schema, cfg.To.Schema)}
	both := cfg.recordedOnBoth()
	rep.Scenarios = len(both)
	rep.Changes = append(rep.Changes, joinValues(found)...)
	rep.Changes = append(rep.Changes, lifecycleChanges(cfg.From.Lifecycle, cfg.To.Lifecycle)...)
	rep.Same = len(both)
	for _, s := range both {
		if slices.ContainsFunc(found, func(c Change) bool {
			return (c.Level == LevelEvents || c.Level == LevelChecks || c.Level == LevelRun) && slices.Contains(c.scenarios, s.ID)
		}) {
			rep.Same--
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
	if rep.Changes == nil {
		rep.Changes = []Change{}
	}
	rep.Verdict = verdictOf(rep.Changes)
	return rep, nil
}

// findChanges compares the recordings of both sides.
func (cfg *Config) findChanges(ctx context.Context) ([]Change, error) {
	masked := cfg.withoutChance()
	both := masked.recordedOnBoth()
	rep := &Report{Changes: masked.recordedOnOne()}
	rep.Changes = append(rep.Changes, wireChanges(masked, both)...)
	for i, scn := range both {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from, to := masked.From.Cases[scn.ID], masked.To.Cases[scn.ID]
		if from != to {
			key := [2]*fixtures.Case{from, to}
			changes, known := cfg.cache.events[key]
			if !known {
				var err error
				if changes, err = masked.compareEvents(scn); err != nil {
					return nil, err
				}
				cfg.cache.events[key] = changes
			}
			rep.addChanges(changes)
		}
		if cfg.Progress != nil {
			cfg.Progress(i+1, len(both), scn.ID)
		}
	}
	return rep.Changes, nil
}

// addChanges adds the changes of a scenario. If a change is in the report already,
// it adds only the scenario to it.
func (r *Report) addChanges(changes []Change) {
	for _, c := range changes {
		i := slices.IndexFunc(r.Changes, func(x Change) bool {
			return x.isSame(c) && len(c.Where) > 0
		})
		if i < 0 {
			r.Changes = append(r.Changes, c)
			continue
		}
		r.Changes[i].Where = slices.Concat(r.Changes[i].Where, c.Where)
		r.Changes[i].scenarios = slices.Concat(r.Changes[i].scenarios, c.scenarios)
	}
}

// recordedOnBoth returns the scenarios that both sides have recorded.
func (cfg Config) recordedOnBoth() []*fixtures.Scenario {
	var out []*fixtures.Scenario
	for _, s := range cfg.Scenarios {
		if cfg.From.Cases[s.ID] != nil && cfg.To.Cases[s.ID] != nil {
			out = append(out, s)
		}
	}
	return out
}

// recordedOnOne returns a change for each scenario that only one side could record.
func (cfg Config) recordedOnOne() []Change {
	var out []Change
	for _, s := range cfg.Scenarios {
		what, own := "scenario "+s.ID, []string{s.ID}
		from, to := cfg.From.Cases[s.ID] != nil, cfg.To.Cases[s.ID] != nil
		switch {
		case cfg.To.Failed[s.ID] != nil:
			out = append(out, Change{Level: LevelRun, Sort: Fails, What: what, Detail: cfg.To.Failed[s.ID].Error(), scenarios: own})
		case cfg.From.Failed[s.ID] != nil:
			out = append(out, Change{Level: LevelRun, Sort: Fails, What: what, Detail: cfg.From.Version + ": " + cfg.From.Failed[s.ID].Error(), scenarios: own})
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

// sortChanges sorts changes, so that a report is always the same.
func sortChanges(changes []Change) []Change {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Sort, b.Sort), cmp.Compare(a.What, b.What), cmp.Compare(a.Detail, b.Detail))
	})
	return changes
}

func countNoun(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
