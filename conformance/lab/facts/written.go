package facts

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/worker"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// Written measures which wrong lines to the runtime the checks see: it changes each member of
// each line, argument and variable that the reference gives to the runtime, plays the case
// with it, and applies the checks.
//
// The name of a fact is the runtime, the method or kind of the line, and the path of the
// member, as in "codex turn/start params.cwd"; "argv" and a flag; or "env" and a name.
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
		seen := &editor{see: func(fact string, v any) {
			if kept := values[fact]; len(kept) < maxValues && !slices.ContainsFunc(kept, func(x any) bool { return reflect.DeepEqual(x, v) }) {
				values[fact] = append(kept, v)
			}
		}}
		if _, err := s.play(id, seen); err != nil {
			return nil, err
		}
	}
	var mu sync.Mutex
	counts, done := map[pair]*tried{}, 0
	err := worker.Each(ctx, s.Workers, len(s.Cases), func(i int) error {
		id := s.Cases[i]
		found, err := s.judge(ctx, id, values)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for p, caught := range found {
			n := counts[p]
			if n == nil {
				n = &tried{}
				counts[p] = n
			}
			n.cases++
			if !caught {
				n.missed = append(n.missed, id)
			}
		}
		if done++; s.Progress != nil {
			s.Progress(done, len(s.Cases), id)
		}
		return nil
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
func (s *Written) play(id string, e *editor) (*conformance.Run, error) {
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
	seen := &editor{see: func(fact string, _ any) { places[fact]++ }}
	plain, err := s.play(id, seen)
	if err != nil || plain == nil {
		return nil, err
	}
	sound := slices.DeleteFunc(slices.Clone(s.Checks), func(c *conformance.Check) bool {
		return c.Severity != conformance.Must || Fails(c, plain)
	})
	out := map[pair]bool{}
	for _, fact := range slices.Sorted(maps.Keys(places)) {
		for _, how := range []Change{LeftOut, Other, Previous, Repeated} {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			e := &editor{fact: fact, how: how, values: values[fact], random: rand.New(rand.NewPCG(seedOf(id), 1))}
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

// editor reads or changes what a subject gives to the runtime: every second place of one fact.
type editor struct {
	see    func(fact string, v any) // reads; nil: changes
	fact   string
	how    Change
	values []any
	random *rand.Rand

	mu      sync.Mutex
	n       int // places so far
	last    any // the value of the place before
	had     bool
	changed bool
}

// subject returns the subject with its lines read or changed on their way to the runtime.
func (e *editor) subject(s conformance.Subject) conformance.Subject {
	rt := runtimes.Find(s.Runtime())
	between := broken.Opening(func(o *conformance.Open) {
		next, given := o.Launch, o.Env
		o.Launch = proc.LauncherFunc(func(ctx context.Context, c proc.Command) (proc.Process, error) {
			c.Argv, c.Env = e.argv(rt.Name, c.Argv), e.env(rt.Name, given, c.Env)
			p, err := next.Launch(ctx, c)
			if err != nil {
				return nil, err
			}
			return &writtenTo{p, &lineEditor{WriteCloser: p.Stdin(), rt: rt, e: e}}, nil
		})
	})
	return broken.Adapter{Mutation: between}.Subject(s)
}

type writtenTo struct {
	proc.Process
	in *lineEditor
}

func (p *writtenTo) Stdin() io.WriteCloser { return p.in }

// lineEditor passes on whole lines, as the editor changes them.
type lineEditor struct {
	io.WriteCloser
	rt   *wire.Runtime
	e    *editor
	rest []byte
}

func (w *lineEditor) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		end := bytes.IndexByte(w.rest, '\n')
		if end < 0 {
			return len(b), nil
		}
		line := w.rest[:end]
		for _, x := range w.e.line(w.rt, line) {
			if _, err := w.WriteCloser.Write(append(x, '\n')); err != nil {
				return 0, err
			}
		}
		w.rest = slices.Clone(w.rest[end+1:])
	}
}

// line returns the lines that take the place of one.
func (e *editor) line(rt *wire.Runtime, line []byte) [][]byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := rt.ReadInput(line)
	name := rt.Name + " " + lineName(&l)
	if e.see != nil {
		e.see(name, nil)
	}
	if e.fact == name {
		e.n++
		switch {
		case e.n%2 == 0:
		case e.how == LeftOut:
			e.changed = true
			return nil
		case e.how == Repeated:
			e.changed = true
			return [][]byte{slices.Clone(line), slices.Clone(line)}
		}
	}
	var v any
	if (e.see != nil || strings.HasPrefix(e.fact, name+" ")) && json.Unmarshal(line, &v) == nil {
		before := e.changed
		if e.changed = false; e.visit(name+" ", v, nil) {
			v = nil
		}
		if e.changed {
			if out, err := json.Marshal(v); err == nil {
				return [][]byte{out}
			}
		}
		e.changed = e.changed || before
	}
	return [][]byte{slices.Clone(line)}
}

// lineName names a kind of line.
func lineName(l *wire.Line) string {
	switch {
	case l.Method != "":
		return l.Method
	case l.Name != "":
		return l.Name
	}
	return string(l.Kind)
}

// visit reads or changes the members of a value at a path. It reports whether the value
// itself is to be left out; set puts another value in its place.
func (e *editor) visit(path string, v any, set func(any)) (leaveOut bool) {
	if !strings.HasSuffix(path, " ") {
		if drop, with, ok := e.place(path, v); ok {
			if drop {
				return true
			}
			set(with)
			return false
		}
	}
	join := func(name string) string {
		if strings.HasSuffix(path, " ") {
			return path + name
		}
		return path + "." + name
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if e.visit(join(name), v[name], func(x any) { v[name] = x }) {
				delete(v, name)
			}
		}
	case []any:
		kept := v[:0:len(v)]
		for i := range v {
			if !e.visit(path+"[]", v[i], func(x any) { v[i] = x }) {
				kept = append(kept, v[i])
			}
		}
		if len(kept) < len(v) {
			set(kept)
		}
	}
	return false
}

// place decides about one place of a fact: whether it is left out, or has another value.
func (e *editor) place(fact string, v any) (drop bool, with any, ok bool) {
	if e.see != nil {
		e.see(fact, v)
		return false, nil, false
	}
	if fact != e.fact {
		return false, nil, false
	}
	was, had := e.last, e.had
	e.last, e.had = v, true
	e.n++
	if e.n%2 == 0 && e.how != Previous {
		return false, nil, false
	}
	switch e.how {
	case LeftOut:
		e.changed = true
		return true, nil, true
	case Previous:
		if !had || reflect.DeepEqual(was, v) {
			return false, nil, false
		}
		e.changed = true
		return false, was, true
	case Other:
		if with = e.another(v); with != nil {
			e.changed = true
			return false, with, true
		}
	}
	return false, nil, false
}

// another returns a value that the fact has elsewhere, or an altered one.
func (e *editor) another(v any) any {
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

// argv reads or changes the flags of a command line: each with the values that follow it.
func (e *editor) argv(runtime string, argv []string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for i := 0; i < len(argv); {
		end := i + 1
		for i > 0 && strings.HasPrefix(argv[i], "-") && end < len(argv) && !strings.HasPrefix(argv[end], "-") {
			end++
		}
		name, values := argv[i], any(strings.Join(argv[i+1:end], " "))
		if i == 0 || !strings.HasPrefix(name, "-") {
			out = append(out, argv[i:end]...)
			i = end
			continue
		}
		drop, with, ok := e.place(runtime+" argv "+name, values)
		switch {
		case drop:
		case ok && end == i+2:
			out = append(out, name, with.(string))
		default:
			out = append(out, argv[i:end]...)
		}
		i = end
	}
	return out
}

// env reads or changes the variables that the subject adds to those that it was given.
func (e *editor) env(runtime string, given, env []string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if given == nil {
		given = os.Environ()
	}
	var out []string
	for _, x := range env {
		name, value, _ := strings.Cut(x, "=")
		if slices.Contains(given, x) {
			out = append(out, x)
			continue
		}
		drop, with, ok := e.place(runtime+" env "+name, value)
		switch {
		case drop:
		case ok:
			out = append(out, name+"="+with.(string))
		default:
			out = append(out, x)
		}
	}
	if env == nil {
		return nil
	}
	return out
}
