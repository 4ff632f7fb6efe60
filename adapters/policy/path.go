package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// most links on one path; the kernel's bound is 40.
const mostLinks = 40

var errLinks = errors.New("too many symbolic links")

// physical is where a path leads: symlinks and .. are resolved as far as the
// path exists, the rest is taken as it is written. What lies in /proc is not
// followed: it would be about this process and not about the command's.
func physical(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("not an absolute path")
	}
	rest := strings.Split(path, "/")
	at, links := "/", 0
	for len(rest) > 0 {
		c := rest[0]
		rest = rest[1:]
		switch c {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, c)
		if next == "/proc" {
			return filepath.Join(append([]string{next}, rest...)...), nil
		}
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			at = next
			continue
		case err != nil && !isNotDir(err):
			return "", err
		case err != nil, info.Mode()&fs.ModeSymlink == 0:
			at = next
			continue
		}
		if links++; links > mostLinks {
			return "", errLinks
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = slices.Concat(strings.Split(to, "/"), rest)
	}
	return at, nil
}

// isNotDir: a file stands where the path wants a folder. The kernel will refuse.
func isNotDir(err error) bool {
	p, ok := errors.AsType[*fs.PathError](err)
	return ok && p.Err.Error() == "not a directory"
}

// within reports whether a resolved path lies in one of the roots.
func (j *judgement) within(path string) bool {
	return slices.ContainsFunc(j.roots, func(r string) bool { return inside(path, r) })
}

func inside(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

// protected are the names under which a workspace holds what decides over the
// agent itself: settings, hooks, permissions. Case does not count: on some disks
// it does not.
var protected = []string{".git", ".claude", ".codex", ".mcp.json"}

func isProtected(path string) string {
	for c := range strings.SplitSeq(path, "/") {
		for _, p := range protected {
			if strings.EqualFold(c, p) {
				return c
			}
		}
	}
	return ""
}

// home puts the home folder in the place of a leading ~. It reports false where
// nobody knows the home.
func (p *Policy) home(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok {
		return path, true
	}
	if p.Home == "" || rest != "" && rest[0] != '/' {
		return "", false
	}
	return p.Home + rest, true
}

// access is what is done with a path.
type access bool

const (
	reads  access = false
	writes access = true
)

func (a access) what() What {
	if a == writes {
		return WhatWrite
	}
	return WhatRead
}

// path judges an access to a path that is known, as the kernel takes it (~ means
// nothing), from any of the folders: a command may run in one or in another.
// tool is the name that rules of paths have for it.
func (j *judgement) path(n *Node, a access, tool, path string, dirs []string) {
	p := n.part(a.what(), path)
	if path == "" {
		p.allow("no such file")
		return
	}
	if strings.ContainsRune(path, 0) {
		p.deny("a path with a NUL")
		return
	}
	if harmlessDevice(path) {
		p.allow("a device that keeps nothing")
		return
	}
	abs := []string{path}
	if !filepath.IsAbs(path) {
		abs = nil
		for _, d := range dirs {
			abs = append(abs, d+"/"+path)
		}
	}
	if len(abs) == 0 {
		j.placeless(p, a, tool, "nobody knows in which folder")
		return
	}
	for _, one := range abs {
		place, err := physical(one)
		if err != nil {
			p.deny("the path cannot be resolved: " + err.Error())
			return
		}
		j.resolved(p, a, tool, place)
	}
}

// resolved judges an access to a path in which nothing is left to resolve.
func (j *judgement) resolved(p *Node, a access, tool, place string) {
	name := isProtected(j.rel(place))
	switch {
	case a == writes && !j.within(place):
		p.deny("a write outside of the workspace: " + place)
	case a == writes && name != "":
		p.deny("a write to " + name + ", which decides what runs: " + place)
	case a == writes && j.mode() == Planner:
		p.deny("a planner does not write")
	case a == reads && j.ConfineReads && !j.within(place):
		p.deny("a read outside of the workspace: " + place)
	default:
		j.pathRules(p, tool, place)
		if a == writes {
			p.allow("in the workspace")
		} else {
			p.allow("reading is free")
		}
	}
}

// placeless judges an access to a path that nobody knows.
func (j *judgement) placeless(p *Node, a access, tool, why string) {
	switch {
	case a == writes:
		p.deny("a write, and " + why)
	case j.ConfineReads:
		p.deny("a read, and " + why)
	default:
		j.pathRules(p, tool, "")
		p.allow("reading is free")
	}
}

// rel is a path within its root; of others it is the path.
func (j *judgement) rel(place string) string {
	for _, r := range j.roots {
		if inside(place, r) {
			return strings.TrimPrefix(place, r)
		}
	}
	return place
}

func harmlessDevice(path string) bool {
	switch path {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	}
	n, ok := strings.CutPrefix(path, "/dev/fd/")
	return ok && isNumber(n)
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
