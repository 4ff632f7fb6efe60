package facts

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/fixtures/refusal"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// Editor reads or changes what an adapter gives to a runtime: lines, arguments and variables.
//
// Each thing that it gives is a fact. Its name is "argv" and a flag, such as "argv --verbose";
// "env" and a variable; or the method or kind of a line, and the path of the member in it, such
// as "turn/start params.cwd". The kind alone is the whole line.
type Editor struct {
	// Each is called for each fact that is written, in order, by one goroutine at a time. The
	// value of a whole line is nil, that of a flag a string with what follows it.
	Each func(fact string, value any) Edit

	mu sync.Mutex
}

// Edit is what happens to a fact. The zero value keeps it.
type Edit struct {
	Do   Action
	With any // the value after Replace; of a flag or a variable it is a string
}

// Action is the kind of an edit.
type Action int

// The actions.
const (
	Keep    Action = iota
	Drop           // leave it out
	Repeat         // write it twice: of a line alone
	Replace        // give it another value: not of a line
)

// IsLine reports whether a fact is a whole line.
func IsLine(fact string) bool { return !strings.Contains(fact, " ") }

// Subject returns the subject with an editor between it and the runtime.
func (e *Editor) Subject(s conformance.Subject) conformance.Subject {
	rt := runtimes.Find(s.Runtime())
	return Between(s, func(o *conformance.Open, next proc.Launcher) proc.Launcher {
		args, given := o.Args, o.Env
		return proc.LauncherFunc(func(ctx context.Context, c proc.Command) (proc.Process, error) {
			c.Argv, c.Env = e.argv(args, c.Argv), e.env(given, c.Env)
			p, err := next.Launch(ctx, c)
			if err != nil {
				return nil, err
			}
			return &editedProcess{p, &editedLines{WriteCloser: p.Stdin(), rt: rt, e: e}}, nil
		})
	})
}

// OfLine returns the facts of a line that a client writes.
func OfLine(rt *wire.Runtime, line []byte) []string {
	var out []string
	e := Editor{Each: func(fact string, _ any) Edit {
		out = append(out, fact)
		return Edit{}
	}}
	e.line(rt, line)
	return out
}

// Between returns the subject with another launcher around that of each session.
func Between(s conformance.Subject, wrap func(o *conformance.Open, next proc.Launcher) proc.Launcher) conformance.Subject {
	return broken.Adapter{Mutation: broken.Opening(func(o *conformance.Open) { o.Launch = wrap(o, o.Launch) })}.Subject(s)
}

type editedProcess struct {
	proc.Process
	in io.WriteCloser
}

func (p *editedProcess) Stdin() io.WriteCloser { return p.in }

// editedLines passes on whole lines, as the editor changes them.
type editedLines struct {
	io.WriteCloser
	rt   *wire.Runtime
	e    *Editor
	rest []byte
}

func (w *editedLines) Write(b []byte) (int, error) {
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

// Close writes what has no line end, such as the message of a process that takes no lines.
func (w *editedLines) Close() error {
	if len(w.rest) > 0 {
		if _, err := w.WriteCloser.Write(w.rest); err != nil {
			return err
		}
		w.rest = nil
	}
	return w.WriteCloser.Close()
}

// line returns the lines that take the place of one.
func (e *Editor) line(rt *wire.Runtime, line []byte) [][]byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	kept := [][]byte{slices.Clone(line)}
	if rt.Process.Message != nil { // it takes no lines
		return kept
	}
	l := rt.ReadInput(line)
	name := refusal.LineName(&l)
	switch e.Each(name, nil).Do {
	case Drop:
		return nil
	case Repeat:
		kept = append(kept, slices.Clone(line))
	case Keep, Replace:
	}
	var v any
	if json.Unmarshal(line, &v) != nil {
		return kept
	}
	c := lineChange{e: e}
	c.members(name+" ", v)
	if members, ok := v.(map[string]any); ok {
		c.path(&l, name, members)
	}
	if !c.made {
		return kept
	}
	out, err := json.Marshal(v)
	if err != nil {
		return kept
	}
	return [][]byte{out}
}

// lineChange changes the members of one line.
type lineChange struct {
	e    *Editor
	made bool
}

// path changes the parameters of the path of a request over HTTP, each a fact such as
// "GET/session/{session} path.session".
func (c *lineChange) path(l *wire.Line, name string, line map[string]any) {
	path, _ := line[refusal.PathMember].(string)
	if params, ok := refusal.SplitPath(l, line)[refusal.PathMember].(map[string]any); ok {
		made := c.made
		c.made = false
		if c.members(name+" "+refusal.PathMember, params); c.made {
			line[refusal.PathMember] = refusal.JoinPath(l, path, params)
		}
		c.made = c.made || made
	}
}

// members changes the members of an object or a list, which is at path. It returns the list if it
// is shorter afterwards.
func (c *lineChange) members(path string, v any) []any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if with, keep := c.value(memberPath(path, name), v[name]); keep {
				v[name] = with
			} else {
				delete(v, name)
			}
		}
	case []any:
		kept := make([]any, 0, len(v))
		for i := range v {
			if with, keep := c.value(path+"[]", v[i]); keep {
				kept = append(kept, with)
			}
		}
		return kept
	}
	return nil
}

func memberPath(path, name string) string {
	if strings.HasSuffix(path, " ") {
		return path + name
	}
	return path + "." + name
}

// value returns the value that takes the place of one, and whether there is one.
func (c *lineChange) value(path string, v any) (with any, keep bool) {
	switch edit := c.e.Each(path, v); edit.Do {
	case Drop:
		c.made = true
		return nil, false
	case Replace:
		c.made = true
		return edit.With, true
	case Keep, Repeat:
	}
	if list := c.members(path, v); list != nil {
		return list, true
	}
	return v, true
}

// argv changes the flags of a command line: each with the values that follow it. args are
// arguments that the subject was given.
func (e *Editor) argv(args, argv []string) []string {
	if slices.Contains(argv, "--version") { // it opens no session
		return argv
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	from := -1
	for i := 0; len(args) > 0 && i+len(args) <= len(argv); i++ {
		if slices.Equal(argv[i:i+len(args)], args) {
			from = i
			break
		}
	}
	var out []string
	for i := 0; i < len(argv); {
		if i == from {
			out = append(out, args...)
			i += len(args)
			continue
		}
		end := i + 1
		for i > 0 && isFlag(argv[i]) && end < len(argv) && end != from && !isFlag(argv[end]) {
			end++
		}
		if i == 0 || !isFlag(argv[i]) {
			out = append(out, argv[i])
			i++
			continue
		}
		values := strings.Join(argv[i+1:end], " ")
		name := "argv " + argv[i]
		if key, _, ok := strings.Cut(values, "="); ok && (argv[i] == "-c" || argv[i] == "--config") {
			key, _, _ = strings.Cut(key, ".") // what follows may be a name of the user's
			name += " " + key
		}
		switch edit := e.Each(name, values); {
		case edit.Do == Drop:
		case edit.Do == Replace && end == i+2:
			with, _ := edit.With.(string)
			out = append(out, argv[i], with)
		default:
			out = append(out, argv[i:end]...)
		}
		i = end
	}
	return out
}

func isFlag(arg string) bool { return strings.HasPrefix(arg, "-") && arg != "-" && arg != "--" }

// env changes the variables that the subject adds to those that it was given.
func (e *Editor) env(given, env []string) []string {
	if env == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if given == nil {
		given = os.Environ()
	}
	out := []string{}
	for _, x := range env {
		name, value, _ := strings.Cut(x, "=")
		if slices.Contains(given, x) {
			out = append(out, x)
			continue
		}
		switch edit := e.Each("env "+name, value); edit.Do {
		case Drop:
		case Replace:
			with, _ := edit.With.(string)
			out = append(out, name+"="+with)
		case Keep, Repeat:
			out = append(out, x)
		}
	}
	return out
}
