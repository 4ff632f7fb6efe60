package policy

import (
	"slices"
	"strings"
)

// goTexts are the options of go whose next word is no path.
var goTexts = strings.Fields("run bench skip list fuzz ldflags gcflags asmflags tags f")

// placedWords returns the words of a build tool that may name places: those before the
// words for the program that it runs, without the values of options that are texts.
func placedWords(c *command) (out []field) {
	switch c.name {
	case "node", "python", "python3":
		return nil // the words of a script are its own
	}
	sub := ""
	for i, f := range c.args {
		option := f.known && strings.HasPrefix(f.text, "-")
		switch {
		case f.known && f.text == "--" && slices.Contains([]string{"cargo", "npm", "pnpm", "yarn", "npx"}, c.name):
			return out
		case c.name != "go":
		case option && strings.TrimLeft(f.text, "-") == "args":
			return out
		case !option && i > 0 && slices.Contains(goTexts, strings.TrimLeft(c.args[i-1].text, "-")) && strings.HasPrefix(c.args[i-1].text, "-"):
			continue
		case !option && sub == "":
			sub = f.text
			continue
		case !option && sub == "run" && !strings.HasSuffix(f.text, ".go"):
			if len(out) > 0 && strings.HasSuffix(out[len(out)-1].text, ".go") {
				return out
			}
			return append(out, f)
		}
		out = append(out, f)
	}
	return out
}

// judgePlaces judges the words of a tool that runs code, as far as they may be paths.
// What the tool does there is not known, so each must be in the workspace and must not be
// a control file. An address is another place too.
func (j *judgement) judgePlaces(n *Node, c *command) {
	for _, f := range placedWords(c) {
		if !f.known {
			j.softDeny(n, c, "the place is unknown: "+f.src)
			continue
		}
		if strings.Contains(f.text, "://") && c.name != "make" && c.name != "gmake" || strings.HasPrefix(f.text, "git@") {
			j.softDeny(n, c, "it reaches an address that the command names: "+f.text)
			continue
		}
		for _, name := range placeNames(f.text) {
			j.judgePlace(n, c.st, name)
		}
	}
}

// placeNames returns the parts of a word that may be a path: the word, the value of an
// option, and what follows each =.
func placeNames(word string) (out []string) {
	if !strings.HasPrefix(word, "-") {
		out = append(out, word)
	} else if len(word) > 2 && word[1] != '-' {
		out = append(out, word[2:])
	}
	for rest, ok := word, true; ok; {
		if _, rest, ok = strings.Cut(rest, "="); ok {
			out = append(out, rest)
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

// judgePlace denies a path that is outside of the workspace or a control file.
func (j *judgement) judgePlace(n *Node, st state, name string) {
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
			if file, program := controlFile(j.relToRoot(place)); file != "" {
				n.deny("a place in " + file + " of " + program + ", which decides what runs: " + place)
			}
		}
	}
}
