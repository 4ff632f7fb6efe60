package facts

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
)

// Written measures which wrong lines to the runtime the checks see: it changes each member of
// each line, argument and variable that the reference gives to the runtime, plays the case
// with it, and applies the checks. A fact that the real runtime ignores, as a census of requests
// found, is left out.
//
// The name of a fact is the runtime and its name in Editor, as in
// "codex turn/start params.cwd".
type Written struct {
	Checks   []*conformance.Check
	Cases    []string
	Corpus   fixtures.Corpus
	Subjects map[string]conformance.Subject // the reference adapters, by runtime
	Workers  int
	// Progress is called after each case, by one goroutine at a time.
	Progress func(done, total int, id string)
}

// Run plays the cases, and returns the facts that some case has, the weakest first.
func (s *Written) Run(ctx context.Context) ([]Strength, error) {
	values := map[string][]any{}
	for _, id := range s.Cases {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seen := &placeEditor{see: func(fact string, v any) {
			if kept := values[fact]; len(kept) < maxValues && !slices.ContainsFunc(kept, func(x any) bool { return reflect.DeepEqual(x, v) }) {
				values[fact] = append(kept, v)
			}
		}}
		if _, err := s.play(id, seen); err != nil {
			return nil, err
		}
	}
	counts, err := countTries(ctx, s.Workers, s.Cases, s.Progress, func(id string) (map[pair]bool, error) {
		return s.judge(ctx, id, values)
	})
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for p := range counts {
		names[p.fact] = true
	}
	var all []Fact
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, Fact{Name: name})
	}
	return strengths(all, counts), nil
}

// play performs a case with an editor between the subject and the runtime.
func (s *Written) play(id string, e *placeEditor) (*conformance.Run, error) {
	edited := map[string]conformance.Subject{}
	for runtime, subject := range s.Subjects {
		edited[runtime] = e.subject(subject)
	}
	return Play(s.Corpus, edited, id)
}

// judge returns, for each fact of the lines of a case and each change that is possible,
// whether a check fails that does not fail without the change.
func (s *Written) judge(ctx context.Context, id string, values map[string][]any) (map[pair]bool, error) {
	places := map[string]int{} // by fact
	seen := &placeEditor{see: func(fact string, _ any) { places[fact]++ }}
	plain, err := s.play(id, seen)
	if err != nil || plain == nil {
		return nil, err
	}
	sound := slices.DeleteFunc(slices.Clone(s.Checks), func(c *conformance.Check) bool {
		return c.Severity != conformance.Must || Fails(c, plain)
	})
	out := map[pair]bool{}
	known, err := refusal.Load(s.Corpus, plain.Runtime, plain.Version)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, fact := range slices.Sorted(maps.Keys(places)) {
		if known.Ignored(strings.TrimPrefix(fact, plain.Runtime+" ")) {
			continue
		}
		for _, how := range []Change{LeftOut, Other, Previous, Repeated} {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			e := &placeEditor{fact: fact, how: how, values: values[fact], random: rand.New(rand.NewPCG(seedOf(id), 1))}
			run, err := s.play(id, e)
			if err != nil {
				return nil, err
			}
			if e.changed {
				out[pair{fact, how}] = run == nil || run.Unfinished() != "" ||
					slices.ContainsFunc(sound, func(c *conformance.Check) bool { return Fails(c, run) })
			}
		}
	}
	return out, nil
}

// placeEditor reads or changes what a subject gives to a runtime: every second place of one fact.
type placeEditor struct {
	see    func(fact string, v any) // reads; nil: changes
	fact   string
	how    Change
	values []any
	random *rand.Rand

	n       int // places so far
	last    any // the value of the place before
	had     bool
	changed bool
}

// subject returns the subject with its lines read or changed on their way to the runtime.
func (e *placeEditor) subject(s conformance.Subject) conformance.Subject {
	runtime := s.Runtime()
	w := &Editor{Each: func(fact string, v any) Edit { return e.place(runtime+" "+fact, v, IsLine(fact)) }}
	return w.Subject(s)
}

// place decides about one place of a fact.
func (e *placeEditor) place(fact string, v any, line bool) Edit {
	if e.see != nil {
		e.see(fact, v)
	}
	if fact != e.fact {
		return Edit{}
	}
	was, had := e.last, e.had
	e.last, e.had = v, true
	e.n++
	if e.n%2 == 0 && e.how != Previous {
		return Edit{}
	}
	var edit Edit
	switch {
	case e.how == LeftOut:
		edit.Do = Drop
	case line && e.how == Repeated:
		edit.Do = Repeat
	case line:
	case e.how == Previous && had && !reflect.DeepEqual(was, v):
		edit = Edit{Do: Replace, With: was}
	case e.how == Other:
		if with := e.another(v); with != nil {
			edit = Edit{Do: Replace, With: with}
		}
	}
	e.changed = e.changed || edit.Do != Keep
	return edit
}

// another returns a value that the fact has elsewhere, or an altered one.
func (e *placeEditor) another(v any) any {
	known := slices.DeleteFunc(slices.Clone(e.values), func(x any) bool { return x == nil || reflect.DeepEqual(x, v) })
	if len(known) > 0 {
		return known[e.random.IntN(len(known))]
	}
	switch v := v.(type) {
	case string:
		return v + "x"
	case float64:
		return v + 1
	case bool:
		return !v
	}
	return nil
}
