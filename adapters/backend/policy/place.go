package policy

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// judgePlace judges a word of a tool that runs code, as a path. What the tool does there is
// not known, so it must be in the workspace and must not be a control file. An address is
// another place too.
func (j *judgement) judgePlace(n *Node, c *command, f field) {
	st := c.st
	tool, _, _ := strings.Cut(c.name, " ")
	npm := slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, tool)
	if strings.Contains(f.text, "..") && (npm || tool == "cargo") {
		st.dirs = slices.Concat(st.dirs, j.packageDirs(st.dirs))
	}
	variable, _, _ := strings.Cut(f.text, "=")
	switch {
	case matchesAny(hijackingVariables, variable) && variable != f.text:
		n.deny("the variable changes what runs: " + variable)
	case strings.HasPrefix(f.text, "{"):
		j.softDeny(n, c, unlisted("settings in the words of a command", "a file of the workspace"))
	case slices.Contains([]string{"gotestsum", "cmake"}, c.name) && (strings.HasPrefix(f.text, "-") || strings.Contains(f.text, "=")):
		j.softDeny(n, c, "an option for the tool that "+c.name+" runs: "+f.src)
	case f.glob && strings.Contains(f.prefix, "/"):
		matches, ok := globMatches(f, st.dirs)
		if !ok {
			j.softDeny(n, c, "the matches of the pattern are unknown: "+f.src)
		}
		for _, m := range append(matches, f.globDir()) {
			j.judgePlaceName(n, st, m)
		}
	case !f.known:
		j.softDeny(n, c, "the place is unknown: "+f.src)
	case strings.Contains(f.text, "://") && !strings.HasPrefix(c.name, "make") || strings.HasPrefix(f.text, "git@"),
		addsPackages.MatchString(c.name) && (npm && hostedPackage.MatchString(f.text) || strings.Contains(localPackage.ReplaceAllString(f.text, ""), ":")):
		j.softDeny(n, c, "it reaches an address that the command names: "+f.text)
	default:
		for _, name := range placeNames(f.text) {
			j.judgePlaceName(n, st, name)
		}
	}
}

// hostedPackage matches a package of npm that is a repository: user/repo, name@user/repo.
// localPackage matches the begin of one that is a folder or has another name.
var (
	addsPackages  = regexp.MustCompile(`^(npm|pnpm|yarn|bun|pip3?|uv|uv pip|poetry) (install|i|add|up|update|upgrade|pack|download|wheel)$`)
	hostedPackage = regexp.MustCompile(`^((@[\w.-]+/)?[\w.-]+@)?[\w-][\w.-]*/[\w.-]+(#.*)?$`)
	localPackage  = regexp.MustCompile(`^((@[\w.-]+/)?[\w.-]+@)?(file|link|portal|npm|workspace):`)
)

// packageDirs returns the folders above in which a tool may run the code of a package.
func (j *judgement) packageDirs(dirs []string) (out []string) {
	for _, d := range dirs {
		at, err := resolvePath(d)
		for ; err == nil && at != "/" && j.inRoots(at); at = filepath.Dir(at) {
			if exists(filepath.Join(at, "package.json")) || exists(filepath.Join(at, "Cargo.toml")) {
				out = append(out, at)
			}
		}
	}
	return out
}

// placeNames returns the parts of a word that may be a path: the word, the value of an
// option, what follows each =, : and @, as in pytest @FILE, and all of these of a list.
func placeNames(word string) (out []string) {
	if len(word) > 2 && word[0] == '-' { // a letter with its value, behind --
		out = append(out, word[2:])
	}
	for _, part := range append(strings.Split(word, ","), word) {
		out = append(out, part)
		for i := range len(part) {
			if strings.IndexByte("=:@", part[i]) >= 0 {
				out = append(out, part[i+1:])
			}
		}
	}
	for i, name := range out {
		for _, scheme := range []string{"file:", "link:", "portal:"} { // of npm and yarn
			name = strings.TrimPrefix(name, scheme)
		}
		out[i] = name
	}
	return out
}

// judgePlaceName denies a path that is outside of the workspace or a control file.
func (j *judgement) judgePlaceName(n *Node, st state, name string) {
	if name == "" || harmlessDevice(name) {
		return
	}
	if len(st.dirs) == 0 && !strings.HasPrefix(name, "/") && strings.Contains("/"+name+"/", "/../") {
		n.deny("the place is unknown, because the folder is: " + name)
	}
	for _, d := range joinDirs(st.dirs, name) {
		place, err := resolvePath(d)
		switch {
		case err != nil:
			n.deny("the path cannot be resolved: " + err.Error())
		case !j.inRoots(place):
			n.deny("a place outside of the workspace: " + place)
		case j.crossesNewLink(d, true):
			j.setUnknown(n, newLinkReason)
		default:
			j.applyPathRules(n, reads, place)
			if file, program := controlFile(j.relToRoot(place)); file != "" && !isInstruction(file) {
				n.deny("a place in " + file + " of " + program + ", which decides what runs: " + place)
			}
		}
	}
}
