// Package requests finds out what a real runtime does if what an adapter gives to it is
// changed, and whether the stand-in sees the change. It is not part of the stable interface.
//
// The reference adapter performs a scenario on the real runtime, without a change and with one
// change of one fact (package written) in each place. What the runtime writes and what the model
// receives is compared. The same change is played to the stand-in, and the checks are applied.
package requests

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/wire"
	"github.com/turnspec/turnspec/conformance/lab/facts"
	"github.com/turnspec/turnspec/conformance/lab/live"
	"github.com/turnspec/turnspec/conformance/worker"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// Census is a census of the requests of one runtime.
type Census struct {
	Corpus    fixtures.Corpus
	Subject   conformance.Subject // the reference adapter
	Runtime   runtimes.Runtime
	Checks    []*conformance.Check // that may see a change
	Scenarios []string             // none: some that hold each fact
	Facts     func(fact string) bool
	Workers   int
	// Stored plays the stand-in's side alone, and takes what the runtime does from here; nil: it
	// is asked.
	Stored *refusal.Table
	// Progress is called after each change, by one goroutine at a time.
	Progress func(done, total int, what string)
}

// Verdict compares the stand-in with the runtime.
type Verdict string

// The verdicts.
const (
	Agrees      Verdict = "agrees"
	TooKind     Verdict = "too kind"     // the runtime does not do what is asked, and no check fails
	TooStrict   Verdict = "too strict"   // the runtime does the same as without the change, and a check fails
	OtherAnswer Verdict = "other answer" // a check fails, but the runtime refuses in another way than the stand-in
	Unseen      Verdict = "unseen"       // the runtime does something else, the stand-in what is recorded, and no check fails
)

// Verdicts returns all verdicts.
func Verdicts() []Verdict { return []Verdict{Agrees, TooKind, TooStrict, OtherAnswer, Unseen} }

// Row is a change in a scenario.
type Row struct {
	refusal.Outcome
	Scenario string          `json:"scenario"`
	StandIn  refusal.Outcome `json:"stand_in"` // what the stand-in does
	Seen     []string        `json:"seen"`     // the checks that fail on the stand-in
	Verdict  Verdict         `json:"verdict"`
	Reason   string          `json:"reason,omitempty"` // why the two do not agree; "": it is not known

	contrary   bool // the client wrote what is valid, but is not what the user chose
	unrecorded bool // the run is not judged: no recording holds what the client wrote
}

// chosen are the checks that compare what the client wrote with what the user chose, whatever the
// runtime makes of it: the scripted model answers the same without. So does wire.valid-input if an
// answer is contrary to the user's.
var chosen = []string{"session.open-options", "tool.client-offered", "turn.files"}

// isContrary reports whether all that is wrong with what the client wrote is that it is not what the
// user chose.
func isContrary(run *conformance.Run) bool {
	contrary := 0
	for _, a := range run.ClientActions {
		if a.Contrary != "" {
			contrary++
		}
	}
	return contrary > 0 && contrary == len(run.Violations)
}

// judge compares what the stand-in does with what the runtime does. A check that fails on the
// runtime too judges what the client wrote, and not what the stand-in makes of it.
func (r *Row) judge() Verdict {
	seen := len(r.Seen) > 0
	switch r.Effect {
	case refusal.EffectNone:
		ofStandIn := func(id string) bool {
			return !slices.Contains(chosen, id) && !slices.Contains(r.Fails, id) && (id != wire.ValidInput.ID || !r.contrary)
		}
		if slices.ContainsFunc(r.Seen, ofStandIn) || r.StandIn.Refused() {
			return TooStrict
		}
		return Agrees
	case refusal.EffectDiffers:
		if !seen && r.StandIn.Effect == refusal.EffectNone {
			return Unseen
		}
		return Agrees
	case refusal.EffectSilent:
		if !seen {
			return TooKind
		}
		return Agrees
	case refusal.EffectRefuses, refusal.EffectExits:
	}
	same := r.Effect == r.StandIn.Effect && r.ErrorCode() == r.StandIn.ErrorCode()
	switch {
	case !seen && (!same || !r.unrecorded):
		return TooKind
	case !same:
		return OtherAnswer
	}
	return Agrees
}

// try is one change to try.
type try struct {
	scenario, fact string
	how            refusal.Edit
	was            string
	tags           []string
	without        string // another fact that is left out with it; "": none
}

// hangTime is how long a changed run may take at least. A run that takes longer, and much longer
// than one without a change, hangs.
const hangTime = 10 * time.Second

// Run takes the census. If it is interrupted, it returns the rows so far, too. Isolate the process first (package isolate), unless Stored is set.
func (c *Census) Run(ctx context.Context) ([]Row, error) {
	scenarios := c.Scenarios
	switch {
	case len(scenarios) > 0:
	case c.Stored != nil:
		scenarios = c.Stored.Scenarios()
	default:
		var err error
		if scenarios, err = c.cover(ctx); err != nil {
			return nil, err
		}
	}
	var rows []Row
	for i, scenario := range scenarios {
		p, tries, err := c.plain(ctx, scenario)
		if err != nil {
			return rows, err
		}
		tries = slices.DeleteFunc(tries, func(t try) bool { return isKnown(rows, t) })
		found := make([]Row, len(tries))
		var mu sync.Mutex
		done := 0
		err = worker.Each(ctx, max(c.Workers, 1), len(tries), func(j int) error {
			row, err := c.try(ctx, tries[j], p)
			if err != nil {
				return err
			}
			found[j] = *row
			mu.Lock()
			defer mu.Unlock()
			if done++; c.Progress != nil {
				c.Progress(done, len(tries), fmt.Sprintf("%s (%d of %d) %s %s", scenario, i+1, len(scenarios), row.Fact, row.Change))
			}
			return nil
		})
		rows = append(rows, slices.DeleteFunc(found, func(r Row) bool { return r.Fact == "" })...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// isKnown reports whether a change needs no further try: it had an effect, or it had none in two
// scenarios.
func isKnown(rows []Row, t try) bool {
	none := 0
	for _, r := range rows {
		if r.Fact != t.fact || r.Change != t.how {
			continue
		}
		if r.Effect != refusal.EffectNone {
			return true
		}
		none++
	}
	return none >= 2
}

// Changes returns the rows in the form in which a corpus holds them, with the stored changes of
// the scenarios in which they were not tried again.
func Changes(rows []Row, stored []refusal.Outcome) []refusal.Outcome {
	type key struct {
		fact   string
		how    refusal.Edit
		effect refusal.Effect
		code   int
		fails  string
	}
	byKey := map[key]*refusal.Outcome{}
	add := func(o refusal.Outcome, scenarios []string) {
		k := key{o.Fact, o.Change, o.Effect, o.Code, strings.Join(o.Fails, " ")}
		if byKey[k] == nil {
			o.Scenarios = nil
			byKey[k] = &o
		}
		one := byKey[k]
		one.Scenarios = append(one.Scenarios, scenarios...)
		if len(one.Accepts) == 0 { // another scenario may have another value, which the message lists
			one.Accepts, one.Form = o.Accepts, cmp.Or(one.Form, o.Form)
		}
	}
	for _, r := range rows {
		add(r.Outcome, []string{r.Scenario})
	}
	for _, x := range stored {
		rest := slices.DeleteFunc(slices.Clone(x.Scenarios), func(scenario string) bool {
			return slices.ContainsFunc(rows, func(r Row) bool { return r.Fact == x.Fact && r.Change == x.Change && r.Scenario == scenario })
		})
		if len(rest) > 0 {
			add(x, rest)
		}
	}
	out := make([]refusal.Outcome, 0, len(byKey))
	for _, one := range byKey {
		slices.Sort(one.Scenarios)
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b refusal.Outcome) int {
		return cmp.Or(
			strings.Compare(a.Fact, b.Fact), strings.Compare(string(a.Change), string(b.Change)), strings.Compare(string(a.Effect), string(b.Effect)),
			cmp.Compare(a.Code, b.Code), slices.Compare(a.Fails, b.Fails),
		)
	})
	return out
}

// plainRun is what happens without a change.
type plainRun struct {
	runs    []*fixtures.Case
	noise   map[string]bool // streams that differ by chance
	limit   time.Duration
	facts   []string             // sorted
	texts   map[string]string    // the values that are texts, by fact
	standIn *fixtures.Case       // what the stand-in does
	sound   []*conformance.Check // that do not fail on the stand-in
	fails   map[string]bool      // the checks that fail on the runtime, by chance or always
	unread  map[string]bool      // the facts of lines that the runtime may not have read
}

// plain performs a scenario without a change, and returns the changes to try.
func (c *Census) plain(ctx context.Context, scenario string) (*plainRun, []try, error) {
	was, within, tags := map[string]string{}, map[string]string{}, map[string][]string{}
	p := &plainRun{noise: map[string]bool{}, limit: hangTime, texts: map[string]string{}, fails: map[string]bool{}}
	seer := &facts.Editor{Each: func(fact string, v any) facts.Edit {
		if was[fact] == "" || was[fact] == "null" {
			was[fact] = kindOf(v, fact)
		}
		if text, ok := v.(string); ok && p.texts[fact] == "" {
			p.texts[fact] = text
		}
		if members, ok := v.(map[string]any); ok {
			within[fact] = refusal.Tag(members)
		}
		if i := strings.LastIndexByte(fact, '.'); i > 0 && within[fact[:i]] != "" && !slices.Contains(tags[fact], within[fact[:i]]) {
			tags[fact] = append(tags[fact], within[fact[:i]])
		}
		return facts.Edit{}
	}}
	run, did, err := c.standIn(scenario, seer)
	if err == nil && run == nil {
		err = fmt.Errorf("the reference cannot play %s", c.id(scenario))
	}
	if err != nil {
		return nil, nil, err
	}
	p.standIn, p.unread = did.wire, unread(did.wire)
	p.sound = slices.DeleteFunc(slices.Clone(c.Checks), func(k *conformance.Check) bool {
		return k.Severity != conformance.Must || facts.Fails(k, run)
	})
	if c.Stored == nil {
		for range 3 {
			run, seen, err := c.real(ctx, scenario, nil, 0)
			if err != nil {
				return nil, nil, err
			}
			for _, id := range p.failing(run) {
				p.fails[id] = true
			}
			p.runs = append(p.runs, seen.wire)
			p.limit = max(p.limit, 4*seen.took)
			for key := range differing(p.runs[0], seen.wire) {
				p.noise[key] = true
			}
		}
	}
	var tries []try
	p.facts = ofRuntime(slices.Sorted(maps.Keys(was)))
	given := givenIDs(did.wire)
	for _, fact := range p.facts {
		if c.Facts != nil && !c.Facts(fact) {
			continue
		}
		for _, how := range edits(fact, was[fact], given(p.texts[fact])) {
			tries = append(tries, try{scenario: scenario, fact: fact, how: how, was: was[fact], tags: tags[fact]})
		}
	}
	return p, tries, nil
}

// try makes one change.
func (c *Census) try(ctx context.Context, t try, p *plainRun) (*Row, error) {
	row := &Row{Scenario: t.scenario, Outcome: refusal.Outcome{Fact: t.fact, Change: t.how, Was: t.was, Tags: t.tags}}
	e, changed := t.editor()
	run, did, err := c.standIn(t.scenario, e)
	if err != nil {
		return nil, err
	}
	if !changed.made {
		return &Row{}, nil
	}
	did.outcome(p.standIn, nil, p.texts[t.fact], &row.StandIn)
	if row.Seen = []string{"unfinished"}; run != nil && run.Unfinished() == "" {
		row.Seen, row.contrary, row.unrecorded = p.failing(run), isContrary(run), len(run.Unrecorded) > 0
	}
	if c.Stored == nil {
		if err := c.ask(ctx, t, p, &row.Outcome); err != nil {
			return nil, err
		}
	} else {
		i := slices.IndexFunc(c.Stored.Changes, func(x refusal.Outcome) bool {
			return x.Fact == t.fact && x.Change == t.how && slices.Contains(x.Scenarios, t.scenario)
		})
		if i < 0 {
			return &Row{}, nil
		}
		row.Outcome = c.Stored.Changes[i]
	}
	if row.Effect == refusal.EffectNone && p.unread[t.fact] {
		return &Row{}, nil
	}
	row.Verdict = row.judge()
	row.Reason = Reason(c.Runtime.Name, row)
	return row, nil
}

// ask gives a change to the real runtime, and states what it does.
func (c *Census) ask(ctx context.Context, t try, p *plainRun, o *refusal.Outcome) error {
	plain := *o
	found, err := confirm(p.limit, func(limit time.Duration) (refusal.Outcome, error) {
		o := plain
		e, changed := t.editor()
		run, seen, err := c.real(ctx, t.scenario, e, limit)
		if err != nil {
			return o, err
		}
		seen.outcome(p.runs[0], p.noise, p.texts[t.fact], &o)
		if t.how == refusal.EditOther && o.Refused() && len(o.Accepts) == 0 {
			o.Form = changed.form
		}
		o.Fails = slices.DeleteFunc(p.failing(run), func(id string) bool { return p.fails[id] })
		return o, nil
	})
	if err != nil {
		return err
	}
	*o = found
	o.With, err = c.with(ctx, t, p, o)
	return err
}

// confirm asks again, with twice the time, if the runtime went no further or did something else: both
// may be because the machine was busy. What it did with the most time counts.
func confirm(limit time.Duration, ask func(limit time.Duration) (refusal.Outcome, error)) (refusal.Outcome, error) {
	first, err := ask(limit)
	if err != nil || first.Effect != refusal.EffectSilent && first.Effect != refusal.EffectDiffers {
		return first, err
	}
	again, err := ask(2 * limit)
	if err != nil || again.Effect != refusal.EffectSilent && again.Effect != refusal.EffectDiffers || again.Effect == first.Effect {
		return again, err
	}
	return ask(4 * limit)
}

// failing returns the checks that fail, of those that do not fail on the stand-in without a change.
func (p *plainRun) failing(run *conformance.Run) []string {
	var out []string
	for _, k := range p.sound {
		if facts.Fails(k, run) {
			out = append(out, k.ID)
		}
	}
	return out
}

// with returns what the runtime has to get for it to refuse a change: the flags, with their values,
// of a command line that lacks another flag, or the members of the later request that it refuses.
func (c *Census) with(ctx context.Context, t try, p *plainRun, refused *refusal.Outcome) ([]string, error) {
	ofArgv := refused.Effect == refusal.EffectExits && t.how == refusal.EditLeftOut && strings.HasPrefix(t.fact, "argv ")
	if !ofArgv && refused.Of == "" {
		return nil, nil
	}
	var out []string
	for _, other := range p.facts {
		name := other
		switch {
		case other == t.fact:
			continue
		case ofArgv && strings.HasPrefix(other, "argv "):
			name = strings.TrimSpace(strings.TrimPrefix(other, "argv ") + " " + p.texts[other])
		case ofArgv || !strings.HasPrefix(other, refused.Of+" ") || strings.Count(other, ".") != 1 || strings.Contains(other, "[]"):
			continue
		}
		t.without = other
		e, _ := t.editor()
		_, seen, err := c.real(ctx, t.scenario, e, p.limit)
		if err != nil {
			return nil, err
		}
		now := refusal.Outcome{Fact: t.fact}
		seen.outcome(p.runs[0], p.noise, p.texts[t.fact], &now)
		if now.Effect != refused.Effect || now.Code != refused.Code || now.Message != refused.Message {
			out = append(out, name)
		}
	}
	return out, nil
}

// standIn plays the stored case. The run is nil if the reference cannot perform it.
func (c *Census) standIn(scenario string, e *facts.Editor) (*conformance.Run, *seen, error) {
	out := c.newSeen(scenario)
	s := e.Subject(out.around(c.Subject)) // the lines are kept as they are before the change
	run, err := facts.Play(c.Corpus, map[string]conformance.Subject{s.Runtime(): s}, c.id(scenario))
	out.finish(nil)
	return run, out, err
}

func (c *Census) newSeen(scenario string) *seen {
	return &seen{wire: &fixtures.Case{ID: c.id(scenario), Scenario: scenario, Runtime: c.Runtime.Name, Version: c.Runtime.Version}}
}

func (c *Census) id(scenario string) string {
	return path.Join(c.Runtime.Name, c.Runtime.Version, scenario)
}

// real performs a scenario on the real runtime. limit 0 is that of a live run.
func (c *Census) real(ctx context.Context, scenario string, e *facts.Editor, limit time.Duration) (*conformance.Run, *seen, error) {
	scn, err := c.Corpus.LoadScenario(scenario)
	if err != nil {
		return nil, nil, err
	}
	out := c.newSeen(scenario)
	s := out.around(c.Subject)
	if e != nil {
		s = e.Subject(s)
	}
	within, cancel := context.WithCancel(ctx)
	if limit > 0 {
		within, cancel = context.WithTimeout(ctx, limit)
		go func() {
			out.waitExited(within)
			cancel()
		}()
	}
	defer cancel()
	began := time.Now()
	run, err := live.Perform(within, c.Corpus, s, c.Runtime, scn)
	if err != nil {
		return nil, nil, err
	}
	out.took, out.cut = time.Since(began), within.Err() != nil
	out.finish(run.Witness)
	return run, out, ctx.Err()
}

// cover returns scenarios that hold each fact of the version's cases, in about the least time: each
// is the one that has the most further facts for each second.
func (c *Census) cover(ctx context.Context) ([]string, error) {
	cases, err := c.Corpus.CasesOf(c.Runtime.Name, c.Runtime.Version)
	if err != nil {
		return nil, err
	}
	held := map[string]map[string]bool{}
	seconds := map[string]float64{}
	for _, one := range cases {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in := map[string]bool{}
		run, _, err := c.standIn(one.Scenario, &facts.Editor{Each: func(fact string, _ any) facts.Edit {
			in[fact] = c.Facts == nil || c.Facts(fact)
			return facts.Edit{}
		}})
		if err != nil {
			return nil, err
		}
		if run != nil {
			maps.DeleteFunc(in, func(_ string, wanted bool) bool { return !wanted })
			held[one.Scenario] = in
			seconds[one.Scenario] = 1 + one.Wire[len(one.Wire)-1].T.Seconds() // 1: to start and end
		}
	}
	var out []string
	for {
		best, most := "", 0.0
		for _, scenario := range slices.Sorted(maps.Keys(held)) {
			if n := float64(len(held[scenario])) / seconds[scenario]; n > most {
				best, most = scenario, n
			}
		}
		if most == 0 {
			return out, nil
		}
		out = append(out, best)
		taken := maps.Clone(held[best])
		for _, in := range held {
			maps.DeleteFunc(in, func(fact string, _ bool) bool { return taken[fact] })
		}
	}
}
