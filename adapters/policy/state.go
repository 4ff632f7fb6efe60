package policy

import (
	"slices"
	"strings"
)

// state is what of a shell matters for what follows.
type state struct {
	dirs  []string        // the folders in which it may be; none: nobody knows
	dead  bool            // nothing follows: it has ended
	funcs map[string]bool // functions that are surely declared. Never changed, but copied
	input *string         // what stands on standard input, if that is known
	piped bool            // standard input comes from another command
}

// flow is the state after a command that went well, and after one that did not.
type flow struct{ yes, no state }

func same2(s state) flow { return flow{s, s} }

// merge is the state where either may be.
func merge(a, b state) state {
	switch {
	case a.dead:
		return b
	case b.dead:
		return a
	}
	out := a
	out.funcs = nil
	for f := range a.funcs {
		if b.funcs[f] {
			out = out.with(f)
		}
	}
	if len(a.dirs) == 0 || len(b.dirs) == 0 {
		out.dirs = nil
		return out
	}
	out.dirs = slices.Clone(a.dirs)
	for _, d := range b.dirs {
		if !slices.Contains(out.dirs, d) {
			out.dirs = append(out.dirs, d)
		}
	}
	if len(out.dirs) > 8 {
		out.dirs = nil
	}
	return out
}

func (f flow) both() state { return merge(f.yes, f.no) }

// with is the state with a function more.
func (s state) with(name string) state {
	funcs := map[string]bool{name: true}
	for f := range s.funcs {
		funcs[f] = true
	}
	s.funcs = funcs
	return s
}

func equal(a, b state) bool { return slices.Equal(a.dirs, b.dirs) && a.dead == b.dead }

// fresh is the state with the standard input of the shell.
func (s state) fresh() state {
	s.input, s.piped = nil, false
	return s
}

// declared is the state, but with the functions of another.
func declared(s, as state) state {
	s.funcs = as.funcs
	return s
}

// nowhere is the state when nobody knows the folder.
func (s state) nowhere() state {
	s.dirs, s.dead = nil, false
	return s
}

// join is a folder seen from each of the others.
func join(dirs []string, to string) (out []string) {
	if strings.HasPrefix(to, "/") {
		return []string{to}
	}
	for _, d := range dirs {
		out = append(out, d+"/"+to)
	}
	return out
}
