package policy

import (
	"cmp"
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/turnspec/turnspec/adapters"
)

// mostLinks is the limit of symlinks in one path, as in the kernel.
const mostLinks = 40

var (
	errLinks = errors.New("too many symbolic links")
	errProc  = errors.New("a path in /proc that may lead elsewhere; name the file by its own path")
)

// plainProc matches the paths in /proc that lead nowhere else. The others may be links such
// as cwd, root and fd/3, which are other files for the command than for this process.
var plainProc = regexp.MustCompile(`^/proc(/(version|stat|uptime|loadavg|mounts|filesystems|cmdline|modules|swaps|devices|partitions|diskstats|[a-z]+info)|(/sys|/net)(/\w[\w.-]*)+|/(self|[0-9]+)/(status|stat|statm|maps|mounts|mountinfo|cmdline|cgroup|limits|comm|io))?/?$`)

// resolvePath resolves symlinks and .. as far as the path exists; the rest is taken
// literally.
func resolvePath(path string) (string, error) {
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
			if path = strings.Join(append([]string{next}, rest...), "/"); !plainProc.MatchString(path) {
				return "", errProc
			}
			return path, nil
		}
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			at = next
			continue
		case err != nil && !errors.Is(err, syscall.ENOTDIR): // the kernel rejects a path through a file
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

// resolveIn returns where a path leads from each of the folders. It leaves out what cannot be
// resolved.
func resolveIn(dirs []string, name string) (out []string) {
	for _, p := range joinDirs(dirs, name) {
		if place, err := resolvePath(p); err == nil {
			out = append(out, place)
		}
	}
	return out
}

// inRoots reports whether a resolved path is in one of the roots.
func (j *judgement) inRoots(path string) bool {
	return slices.ContainsFunc(j.roots, func(r string) bool { return isInside(path, r) })
}

func isInside(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

// controlTable has a line for each runtime with its control files. A test writes it from what
// the adapters state.
//
//go:embed control.txt
var controlTable string

// controlFiles are the names of all control files in lower case, with the program that reads
// each.
var controlFiles = func() map[string]string {
	out := map[string]string{".git": "git"}
	for line := range strings.SplitSeq(controlTable, "\n") {
		runtime, names, _ := strings.Cut(line, ": ")
		for name := range strings.FieldsSeq(strings.ToLower(names)) {
			out[name] = cmp.Or(out[name], runtime)
		}
	}
	return out
}()

// controlFile returns the first part of a path that is a control file, and the program
// that reads it. It returns "" if there is none. Case is ignored, because some file systems
// ignore it.
func controlFile(path string) (name, program string) {
	for c := range strings.SplitSeq(path, "/") {
		if program := controlFiles[strings.ToLower(c)]; program != "" {
			return c, program
		}
	}
	return "", ""
}

// mayNameControlFile reports whether a pattern for one part of a path may match a control file.
func mayNameControlFile(pattern string) bool {
	for name := range controlFiles {
		matches, err := path.Match(strings.ToLower(goGlob(pattern)), name)
		if err != nil || matches && (name[0] != '.' || pattern[0] == '.') {
			return true
		}
	}
	return false
}

// isInstruction reports whether a control file only instructs a runtime: people ask agents
// to write it, so it is unknown and not denied.
func isInstruction(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".md") }

// expandHome replaces a leading ~ with the home folder. It returns false if that folder
// is unknown.
func (p *Policy) expandHome(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok {
		return path, true
	}
	if p.Home == "" || rest != "" && rest[0] != '/' {
		return "", false
	}
	return p.Home + rest, true
}

// access is the kind of an access to a path.
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

// judgePath judges an access to a known path, as the kernel reads it (without ~), from
// each of the folders in which the command may run.
func (j *judgement) judgePath(n *Node, a access, path string, dirs []string) {
	p := n.addPart(a.what(), path)
	if path == "" {
		p.allow("no such file")
		return
	}
	if strings.ContainsRune(path, 0) {
		p.deny("a path with a NUL")
		return
	}
	switch {
	case harmlessDevice(path), path == "/dev/stdin" && a == reads:
		p.allow("a device that keeps nothing")
		return
	case a == writes && descriptor.MatchString(path):
		p.deny("a write to " + path + ", which opens the file behind it again, even if that is open for reading; write >&2 or >&N")
		return
	}
	abs := joinDirs(dirs, path)
	if len(abs) == 0 {
		j.judgeUnknownPath(p, a, "the folder is unknown")
		return
	}
	for _, one := range abs {
		place, err := resolvePath(one)
		if err != nil {
			p.deny("the path cannot be resolved: " + err.Error())
			return
		}
		p.places = append(p.places, place)
		j.judgeResolved(p, a, place)
		if (a == writes || j.ConfineReads || j.hasReadRules()) && j.crossesNewLink(one, false) {
			j.setUnknown(p, newLinkReason)
		}
	}
}

const newLinkReason = "an earlier part of the command may make a link there; run it as a separate command"

// judgeResolved judges an access to a resolved path.
func (j *judgement) judgeResolved(p *Node, a access, place string) {
	name, program := controlFile(j.relToRoot(place))
	switch {
	case a == writes && !j.inRoots(place):
		p.deny("a write outside of the workspace: " + place)
	case a == writes && isInstruction(name) && j.modeOrDefault() != Planner:
		j.applyPathRules(p, a, place)
		j.setUnknown(p, "a write to "+name+", which instructs "+program+": "+place)
	case a == writes && name != "" && !isInstruction(name):
		p.deny("a write to " + name + " of " + program + ", which decides what runs: " + place)
	case a == writes && j.modeOrDefault() == Planner:
		p.deny("a planner does not write")
	case a == reads && j.ConfineReads && !j.inRoots(place):
		p.deny("a read outside of the workspace: " + place)
	default:
		j.applyPathRules(p, a, place)
		if a == writes {
			j.noteTree(place, false)
			p.allow("in the workspace")
		} else {
			p.allow("reading is allowed")
		}
	}
}

// judgeUnknownPath judges an access to an unknown path.
func (j *judgement) judgeUnknownPath(p *Node, a access, why string) {
	switch {
	case a == writes:
		p.deny("a write, and " + why)
	case j.ConfineReads:
		p.deny("a read, and " + why)
	default:
		j.applyPathRules(p, a, "")
		p.allow("reading is allowed")
	}
}

// relToRoot returns a path relative to its root, or the path if it is in none.
func (j *judgement) relToRoot(place string) string {
	for _, r := range j.roots {
		if isInside(place, r) {
			return strings.TrimPrefix(place, r)
		}
	}
	return place
}

// harmlessDevice reports whether a device keeps nothing of what is written to it.
func harmlessDevice(path string) bool {
	return slices.Contains([]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"}, path)
}

var descriptor = regexp.MustCompile(`^/dev/(std(in|out|err)|fd/.*)$`)

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// mostBelow is the limit of files that are looked at below a folder.
const mostBelow = 20000

// hasReadRules reports whether rules deny or ask about files that are read.
func (j *judgement) hasReadRules() bool {
	isRead := func(r Rule) bool { return r.tool == "Read" && r.glob != "" }
	return slices.ContainsFunc(j.Rules.Deny, isRead) || slices.ContainsFunc(j.Rules.Ask, isRead)
}

// judgeBelow applies the Read rules to the files below folders that a command reads: those
// of grep -r, rg, diff -r, tar and cp -r.
func (j *judgement) judgeBelow(n *Node, c *command, got parsed, operands []field) {
	rg := c.name == "rg"
	hidden := !rg || got.mayHold("-.", "-u", "--hidden", "--unrestricted", "-g", "--glob", "--iglob")
	directories := got.valueOf("-d", "--directories")
	recursive := rg || c.name == "tar" || c.name == "diff" || directories.text == "recurse" || got.hasOption("-r", "-R", "-a", "--recursive", "--dereference-recursive", "--archive")
	follow := false // symlinks below
	switch c.name {
	case "diff":
		follow = !got.hasOption("--no-dereference")
	case "cp", "rg":
		follow = got.mayHold("-L", "--dereference", "--follow")
	case "grep", "egrep", "fgrep":
		follow = got.mayHold("-R", "--dereference-recursive")
	}
	if !recursive || !j.hasReadRules() && (!follow || !j.ConfineReads) {
		return
	}
	if len(operands) == 0 {
		operands = []field{literalField(".")}
	}
	for _, f := range operands {
		if !f.known {
			continue // judged as an unknown file
		}
		for _, d := range joinDirs(c.st.dirs, f.text) {
			j.judgeTree(n, d, hidden, follow)
		}
		if follow && j.makesLinksIn(joinDirs(c.st.dirs, f.text)) {
			j.setUnknown(n, newLinkReason)
		}
	}
}

// judgeTree judges the files below a folder as reads: by the Read rules, and if the command
// follows symlinks, by where those lead.
func (j *judgement) judgeTree(n *Node, dir string, hidden, follow bool) {
	root, err := resolvePath(dir)
	if err != nil {
		return
	}
	p, seen := n.addPart(WhatRead, dir), 0
	var shown []string // hidden files that rg reads
	for at := root; !hidden && at != filepath.Dir(at); at = filepath.Dir(at) {
		shown = append(shown, ignoreExceptions(filepath.Dir(at))...)
	}
	p.allow("no rule holds for the files below")
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll // the command makes it, if anything
		case err != nil, seen > mostBelow:
			j.applyPathRules(p, reads, "")
			if follow {
				j.judgeUnknownPath(p, reads, "the files below are not all known")
			}
			return fs.SkipAll
		case name != root && !hidden && strings.HasPrefix(d.Name(), ".") && !matchesAny(shown, d.Name()), d.IsDir() && d.Name() == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		seen++
		if d.IsDir() && !hidden {
			shown = append(shown, ignoreExceptions(name)...)
		}
		if follow && d.Type()&fs.ModeSymlink != 0 {
			j.judgeLinkBelow(p, root, name)
		}
		if !d.IsDir() && (len(j.searched) == 0 || slices.ContainsFunc(j.searched, func(tail string) bool { return tail == "/" || strings.HasSuffix(strings.ToLower(name), tail) })) {
			j.applyPathRules(p, reads, name)
			if p.own != adapters.EffectAllow {
				p.Reason += ": " + name + " is below; name the folders or files without it"
				return fs.SkipAll
			}
		}
		return nil
	})
}

// judgeLinkBelow judges a symlink below root that a command follows.
func (j *judgement) judgeLinkBelow(p *Node, root, name string) {
	place, err := resolvePath(name)
	switch {
	case errors.Is(err, errProc):
		p.deny("the path cannot be resolved: " + err.Error())
	case err != nil || isInside(place, root):
	case j.ConfineReads && !j.inRoots(place):
		p.deny("a read outside of the workspace: " + place)
	case isDir(place):
		j.judgeUnknownPath(p, reads, "a link below leads to a folder")
	default:
		j.applyPathRules(p, reads, place)
	}
}

// ignoreExceptions returns patterns of the names that the ignore files of a folder except
// from other patterns, such as !.env. rg reads what has such a name even if it is hidden.
func ignoreExceptions(dir string) (out []string) {
	for _, name := range []string{".gitignore", ".ignore", ".rgignore"} {
		text, _ := readSmall(filepath.Join(dir, name), mostConfig)
		for line := range strings.SplitSeq(string(text), "\n") {
			if pattern, ok := strings.CutPrefix(line, "!"); ok {
				if pattern = strings.TrimRight(pattern, " \r/"); strings.ContainsAny(pattern, `[{\`) {
					pattern = "*"
				}
				out = append(out, filepath.Base(pattern))
			}
		}
	}
	return out
}
