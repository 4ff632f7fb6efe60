package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judgeShText judges a text that a program passes to /bin/sh.
func (j *judgement) judgeShText(n *Node, f field, st state) {
	if !f.known {
		n.deny("the script is unknown")
		return
	}
	j.judgeScript(n, f.text, st, syntax.LangBash, syntax.LangPOSIX)
}

// judgeGo judges the commands of go that link or run programs with words of their own.
func judgeGo(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	for _, o := range got.options {
		if name := strings.TrimLeft(o.name, "-"); strings.HasSuffix(name, "flags") && !plainLinkFlags(o.value) {
			n.deny("the option " + o.name + " may run another program")
		}
	}
	operands := got.operands
	if c.name == "go run" { // the words behind the files are those of the program
		files := slices.IndexFunc(operands, func(f field) bool { return !strings.HasSuffix(f.text, ".go") })
		if files >= 0 {
			operands = operands[:max(files, 1)]
		}
	}
	for _, f := range got.rest {
		if strings.HasPrefix(strings.TrimLeft(f.text+f.prefix, "-"), "test.") || !f.known && f.mayBeOption() {
			j.softDeny(n, c, "the option "+f.src+" may write a file in the folder of a package")
		}
	}
	if c.name == "go run" {
		if slices.ContainsFunc(operands, func(f field) bool { return strings.Contains(f.text, "@") }) {
			j.softDeny(n, c, "it runs code of another module")
		}
	}
	j.judgeOperands(n, c, parsed{operands: operands})
}

// plainLinkFlags reports whether flags of a linker or compiler only strip, set variables or
// turn off optimizations.
func plainLinkFlags(f field) bool {
	words := strings.Fields(strings.Trim(f.text, "'\""))
	for i, w := range words {
		_, value, _ := strings.Cut(w, "all=")
		set := i > 0 && words[i-1] == "-X" || strings.HasPrefix(w, "-X=")
		if !set && !slices.Contains([]string{"-s", "-w", "-X", "-N", "-l", "-m"}, w) && !slices.Contains([]string{"-N", "-l"}, value) {
			return false
		}
	}
	return f.known
}

func judgeMake(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	for _, o := range got.options {
		if slices.Contains([]string{"-f", "--file", "--makefile", "-I"}, o.name) {
			if !o.value.known || o.value.text == "-" || strings.HasPrefix(o.value.text, "/dev/") {
				n.deny("the makefile is unknown")
			}
			j.judgePlace(n, c, o.value)
		}
	}
	for _, f := range got.operands {
		name, value, isVar := strings.Cut(f.text, "=")
		switch {
		case !f.known && !strings.Contains(f.prefix, "="), f.splits:
			n.deny("it may set a variable of make")
		case !f.known:
			n.deny("make runs the value, which is unknown")
		case !isVar:
			j.judgePlace(n, c, f)
		default:
			switch name = strings.TrimRight(name, ":+? "); {
			case strings.Contains(name, "!"):
				n.deny("make runs the value: " + f.src)
			case matchesAny(hijackingVariables, name) || strings.HasPrefix(name, "."):
				n.deny("the variable changes what runs: " + name)
			}
			j.judgePlace(n, c, literalField(value))
			if !matchesAny(harmlessVariables, name) && strings.Trim(value, "0123456789.") != "" || strings.ContainsAny(value, "$`;|&<>(){}\n\\'\"") {
				j.softDeny(n, c, "a variable that may name a program, or a value that may run one: "+f.src)
			}
		}
	}
}

// npmPrograms are programs that a package of their name has.
var npmPrograms = listedNames("npm programs")

// judgePackaged judges npx and its like, which run a program of a package. It must be on
// the list, because npx may download what is not there.
func judgePackaged(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	npm := c.name == "npx" || c.name == "bunx" || slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, strings.Split(c.name, " ")[0])
	if npm && len(got.operands) > 0 && !slices.Contains(npmPrograms, got.operands[0].text) {
		j.softDeny(n, c, c.name+" may install a program of that name: "+got.operands[0].src)
	}
	j.judgeInner(n, c, got, got.operands)
}

// judgeCoverage judges coverage run, which runs a file or a module as python does.
func judgeCoverage(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	args := got.operands
	if got.hasOption("-m", "--module") {
		args = append([]field{literalField("-m")}, args...)
	}
	judgeInterpreter(j, n, &command{"python3", args, c.st, c.rule})
}

// judgeInterpreter judges node and python. A file of the workspace is code of the
// workspace; code in the words of the command is unknown.
func judgeInterpreter(j *judgement, n *Node, c *command) {
	got := programs[c.name].options.parse(c.args)
	for _, o := range got.options {
		switch {
		case o.kind == '!':
			j.softDeny(n, c, "it runs code that the policy does not read")
			return
		case o.kind == 'x':
			j.softDeny(n, c, unknownOption(o, c.name))
		case o.name == "-m":
			p := programs[o.value.text]
			if !o.value.known || p == nil || p.judge != nil || !p.builds && !slices.Contains([]string{"pip", "ruff", "coverage"}, o.value.text) {
				j.softDeny(n, c, "unknown module "+o.value.src+": it is not on the list")
				return
			}
			j.judgeProgram(n, p, &command{o.value.text, moduleWords(c.args), c.st, c.rule})
			return
		case o.name == "--version", o.name == "-V", o.name == "--help", o.name == "-h", o.name == "-v" && c.name == "node":
			n.allow("it prints")
			return
		}
	}
	test := got.hasOption("--test")
	switch {
	case len(got.operands) == 0 && !test, len(got.operands) > 0 && got.operands[0].text == "-":
		j.softDeny(n, c, "it runs code from its standard input")
	case test:
		for _, f := range got.operands {
			j.judgePlace(n, c, f)
		}
	case !got.operands[0].known:
		n.deny("the file that it runs is unknown")
	default:
		for _, p := range joinDirs(c.st.dirs, got.operands[0].text) {
			if place, err := resolvePath(p); err != nil || !j.inRoots(place) {
				j.softDeny(n, c, "it runs code outside of the workspace")
			} else {
				j.applyPathRules(n, reads, place)
			}
			if j.crossesNewLink(p, true) {
				j.softDeny(n, c, newLinkReason)
			}
		}
	}
}

// moduleWords returns the words of python after the name of a module.
func moduleWords(args []field) []field {
	for i, f := range args {
		if strings.HasPrefix(f.text, "-") && !strings.HasPrefix(f.text, "--") {
			_, module, ok := strings.Cut(f.text, "m")
			switch {
			case ok && module == "":
				return args[min(i+2, len(args)):]
			case ok:
				return args[i+1:]
			}
		}
	}
	return nil
}
