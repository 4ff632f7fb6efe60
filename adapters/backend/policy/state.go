package policy

import (
	"slices"
	"strings"
)

// state is the state of a shell before or after a command.
type state struct {
	dirs []string // the possible current folders; none if unknown
	dead bool     // the shell has exited
}

// flow holds the state after a command succeeds and after it fails.
type flow struct{ yes, no state }

func sameFlow(s state) flow { return flow{s, s} }

// mergeStates returns the state if it may be either.
func mergeStates(a, b state) state {
	switch {
	case a.dead:
		return b
	case b.dead:
		return a
	}
	out := a
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

func (f flow) either() state { return mergeStates(f.yes, f.no) }

func sameState(a, b state) bool { return slices.Equal(a.dirs, b.dirs) && a.dead == b.dead }

// inUnknownDir returns the state with an unknown folder.
func (s state) inUnknownDir() state {
	s.dirs, s.dead = nil, false
	return s
}

// joinDirs returns a path relative to each of the folders.
func joinDirs(dirs []string, to string) (out []string) {
	if strings.HasPrefix(to, "/") {
		return []string{to}
	}
	for _, d := range dirs {
		out = append(out, d+"/"+to)
	}
	return out
}
