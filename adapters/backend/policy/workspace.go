package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judgeShText judges a text that a program passes to /bin/sh.
func (j *judgement) judgeShText(n *Node, text string, st state) {
	j.judgeScript(n, text, st, syntax.LangBash, syntax.LangPOSIX)
}

// subcommand returns the first word that is not an option, with the words before and
// after it.
func subcommand(args []field) (before []field, name string, behind []field) {
	for i, f := range args {
		if !f.known || !strings.HasPrefix(f.text, "-") && !strings.HasPrefix(f.text, "+") {
			return args[:i], f.text, args[i+1:]
		}
	}
	return args, "", nil
}

// eachOption calls see for each option of a tool without a table, with its value if it
// has one after =, and with the next word. It stops at --. An unknown word that may be an
// option makes the command unknown.
func (j *judgement) eachOption(n *Node, c *command, args []field, see func(name, value string, has bool, next field)) {
	for i, f := range args {
		if f.known && f.text == "--" {
			return
		}
		if !f.known && f.mayBeOption() {
			j.softDeny(n, c, "it may be an option: "+f.src)
			continue
		}
		if !f.known || len(f.text) < 2 || f.text[0] != '-' {
			continue
		}
		name, value, has := strings.Cut(f.text, "=")
		next := unknownField("nothing")
		if i+1 < len(args) {
			next = args[i+1]
		}
		see(name, value, has, next)
	}
}

// optionValue returns the value of an option: the text after = or the next word.
func optionValue(value string, has bool, next field) field {
	if has {
		return literalField(value)
	}
	return next
}

func judgeGo(j *judgement, n *Node, c *command) flow {
	inner := *c
	before, name, behind := subcommand(c.args)
	if len(before) == 1 && before[0].text == "-C" { // the word after -C was taken for the subcommand
		inner.st.dirs = joinDirs(c.st.dirs, name)
		j.judgeOperand(n, writes, literalField(name), c.st)
		before, name, behind = subcommand(behind)
	}
	if len(before) > 0 || name == "" && len(c.args) > 0 {
		j.softDeny(n, c, "the go command is unknown")
	}
	switch name {
	case "", "version", "help", "doc", "list", "build", "test", "vet", "fmt", "run", "generate", "mod", "get", "install", "work", "clean", "fix":
	case "env":
		for _, f := range behind {
			if !f.known || strings.HasPrefix(f.text, "-w") || strings.HasPrefix(f.text, "-u") || strings.HasPrefix(f.text, "--") {
				n.deny("it changes what go does from now on")
			}
		}
	default:
		j.softDeny(n, c, "unknown go command "+name)
	}
	j.eachOption(n, c, behind, func(o, v string, has bool, next field) {
		switch strings.TrimLeft(o, "-") {
		case "exec", "toolexec", "vettool", "overlay", "modfile", "gccgoflags", "compiler", "pkgdir":
			n.deny("the option " + o + " runs another program")
		case "ldflags", "gcflags", "asmflags":
			if f := optionValue(v, has, next); !f.known || strings.Contains(f.text, "ext") || strings.Contains(f.text, "tmpdir") || strings.Contains(f.text, "fuse") {
				n.deny("the option " + o + " may run another program")
			}
		case "o", "coverprofile", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace", "outputdir", "test.coverprofile":
			j.judgeOperand(n, writes, optionValue(v, has, next), inner.st)
		case "C":
			n.deny("another folder, and not as the first option")
		}
	})
	if i := slices.IndexFunc(behind, func(f field) bool { return strings.TrimLeft(f.text, "-") == "args" }); i >= 0 {
		for _, f := range behind[i:] {
			if strings.HasPrefix(strings.TrimLeft(f.text+f.prefix, "-"), "test.") {
				j.softDeny(n, c, "the option "+f.src+" may write a file in the folder of a package")
			}
		}
	}
	n.allow("mode implementation runs the code of the workspace")
	return sameFlow(c.st)
}

func judgeMake(j *judgement, n *Node, c *command) flow {
	got := parseOptions(`BeiknqrRsStvwdp f: C: I: j? l? o: W: O? E! --file: --makefile: --directory: --jobs? --always-make --silent --keep-going --dry-run --just-print --no-print-directory
		--question --print-directory --trace --eval! --version --help --ignore-errors --quiet`, c.args)
	j.judgeOptions(n, c, got)
	inner := c.st
	for _, o := range got.options {
		switch o.name {
		case "-C", "--directory":
			j.judgeOperand(n, writes, o.value, inner)
			inner.dirs = joinDirs(inner.dirs, o.value.text)
		case "-f", "--file", "--makefile", "-I":
			if !o.value.known || o.value.text == "-" || strings.HasPrefix(o.value.text, "/dev/") {
				n.deny("the makefile is unknown")
			}
			j.judgeOperand(n, writes, o.value, inner)
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
		default:
			if name = strings.TrimRight(name, ":+?!"); matchesAny(hijackingVariables, name) || strings.HasPrefix(name, ".") {
				n.deny("the variable changes what runs: " + name)
			}
			j.judgeValueWords(n, value)
		}
	}
	n.allow("mode implementation runs the code of the workspace")
	return sameFlow(c.st)
}

// judgeValueWords judges a value that a tool may run as a command. It must not contain
// special characters of a shell or guarded programs.
func (j *judgement) judgeValueWords(n *Node, value string) {
	if strings.ContainsAny(value, "$`;|&<>(){}\n\\'\"") {
		n.deny("the value may run a command")
	}
	for w := range strings.FieldsSeq(value) {
		if p := programs[baseName(w)]; p != nil && p.class == guarded {
			n.deny("the value names " + baseName(w) + ": " + p.why)
		}
	}
}

func judgeCargo(j *judgement, n *Node, c *command) flow {
	_, name, behind := subcommand(c.args)
	switch name {
	case "", "build", "b", "check", "c", "test", "t", "run", "r", "fmt", "clippy", "doc", "bench", "clean", "tree", "metadata", "version", "add", "remove", "update", "fetch", "nextest", "search", "new", "init":
	default:
		j.softDeny(n, c, "unknown cargo command "+name)
	}
	for _, args := range [][]field{c.args[:len(c.args)-len(behind)], behind} {
		j.eachOption(n, c, args, func(o, v string, has bool, next field) {
			switch {
			case o == "--config" || strings.HasPrefix(o, "-C"):
				n.deny("the option " + o + " changes what runs, or where")
			case strings.HasPrefix(o, "-Z"):
				j.softDeny(n, c, "unknown option: "+o)
			case o == "--target-dir" || o == "--out-dir" || o == "--artifact-dir" || o == "--manifest-path" || o == "--path" || o == "--root":
				j.judgeOperand(n, writes, optionValue(v, has, next), c.st)
			}
		})
	}
	n.allow("mode implementation runs the code of the workspace")
	return sameFlow(c.st)
}

// judgePackages judges npm, pnpm, yarn and npx.
func judgePackages(j *judgement, n *Node, c *command) flow {
	name, behind := "exec", c.args
	if c.name != "npx" {
		var before []field
		if before, name, behind = subcommand(c.args); len(before) > 0 && name != "" {
			j.softDeny(n, c, "the command of "+c.name+" is unknown")
		}
	}
	switch name {
	case "", "install", "i", "ci", "add", "remove", "rm", "uninstall", "un", "test", "t", "tst", "run", "run-script", "start", "stop", "restart", "build", "lint", "ls", "list", "outdated", "view", "info",
		"audit", "why", "version", "root", "dedupe", "prune", "update", "up", "init", "create", "help", "fund", "pack":
	case "exec", "x", "dlx":
		j.judgePackaged(n, c, behind)
		return sameFlow(c.st)
	default:
		j.softDeny(n, c, "unknown "+c.name+" command "+name)
	}
	j.judgePackageFlags(n, c, behind)
	n.allow("mode implementation runs the code of the workspace")
	return sameFlow(c.st)
}

// judgePackageFlags judges the options of npm, pnpm, yarn and npx.
func (j *judgement) judgePackageFlags(n *Node, c *command, args []field) {
	j.eachOption(n, c, args, func(o, v string, has bool, next field) {
		switch {
		case slices.Contains([]string{"-c", "--call", "--script-shell", "--shell", "--shell-mode", "--node-options", "--globalconfig", "--userconfig", "--git", "--editor", "--browser", "--viewer", "--init-module", "--use-node-version"}, o):
			n.deny("the option " + o + " runs a command, or changes what runs")
		case o == "-g" || o == "--global" || o == "--location":
			n.deny("it writes outside of the workspace")
		case slices.Contains([]string{"--prefix", "-C", "--dir", "--cwd", "--cache", "--modules-dir"}, o):
			j.judgeOperand(n, writes, optionValue(v, has, next), c.st)
		}
	})
}

// judgePackaged judges a program from a package.
func (j *judgement) judgePackaged(n *Node, c *command, args []field) {
	got := parseOptions("+ yqp: c! --yes --no --quiet --package: --call! --no-install --ignore-existing --shell!", args)
	j.judgeOptions(n, c, got)
	if len(got.operands) == 0 {
		n.allow("nothing is run")
		return
	}
	if first := got.operands[0]; first.known && isProgram(baseName(first.text)) {
		j.judgeInner(n, c, got, got.operands)
		return
	} else if !first.known {
		n.deny("the program is unknown")
	}
	n.allow("mode implementation runs the code of packages")
}

func judgePip(j *judgement, n *Node, c *command) flow {
	_, name, behind := subcommand(c.args)
	switch name {
	case "", "install", "uninstall", "list", "show", "freeze", "check", "download", "wheel", "index", "hash", "inspect", "help":
	default:
		j.softDeny(n, c, "unknown pip command "+name)
	}
	j.eachOption(n, c, behind, func(o, v string, has bool, next field) {
		if len(o) > 2 && o[1] != '-' {
			o, v, has = o[:2], strings.TrimPrefix(o[2:], "="), true
		}
		switch o {
		case "-t", "--target", "--prefix", "--root", "--log", "--cache-dir", "--src", "-d", "--dest", "-w", "--wheel-dir", "--report":
			j.judgeOperand(n, writes, optionValue(v, has, next), c.st)
		case "--install-option", "--global-option", "--build-option", "--config-settings", "-C", "--python":
			n.deny("the option " + o + " changes what runs")
		}
	})
	n.allow("mode implementation installs packages")
	return sameFlow(c.st)
}

// modules are the known Python modules.
var modules = []string{"pytest", "unittest", "pip", "venv", "mypy", "ruff", "black", "build", "json.tool", "flake8", "isort", "pylint", "py_compile", "compileall", "doctest", "tox"}

// moduleWords returns the words of python after the name of a module.
func moduleWords(args []field, module string) []field {
	for i, f := range args {
		if strings.HasPrefix(f.text, "-") && strings.HasSuffix(f.text, "m"+module) {
			return args[i+1:]
		}
		if strings.HasPrefix(f.text, "-") && strings.HasSuffix(f.text, "m") && i+1 < len(args) {
			return args[i+2:]
		}
	}
	return args
}

// judgeInterpreter judges node and python. A file of the workspace is code of the
// workspace; code in the words of the command is unknown.
func judgeInterpreter(j *judgement, n *Node, c *command) flow {
	table := "+ bBdEhIOqsSuvVxPW: X: c! m: i! --version --help"
	if c.name == "node" {
		table = "+ vhct e! p! r! i! --version --help --test --watch --check --no-warnings --enable-source-maps --experimental-strip-types --max-old-space-size? --trace-warnings --test-name-pattern? --test-only"
	}
	got := parseOptions(table, c.args)
	for _, o := range got.options {
		switch {
		case o.kind == '!':
			j.softDeny(n, c, "it runs code that the policy does not read")
			return sameFlow(c.st)
		case o.kind == 'x':
			j.softDeny(n, c, "unknown option "+o.name)
		case o.name == "-m":
			if !o.value.known || !slices.Contains(modules, o.value.text) {
				j.softDeny(n, c, "unknown module: "+o.value.src)
			}
			module := &command{o.value.text, moduleWords(c.args, o.value.text), c.st, c.rule}
			j.judgePlaces(n, module)
			if module.name == "pip" {
				return judgePip(j, n, module)
			}
			j.eachOption(n, c, module.args, func(name, _ string, _ bool, _ field) {
				if name == "--init-hook" || module.name == "tox" && (strings.HasPrefix(name, "-x") || strings.HasPrefix(name, "--o")) {
					j.softDeny(n, c, "the option "+name+" may hold code")
				}
			})
			n.allow("mode implementation runs the code of the workspace")
			return sameFlow(c.st) // the following words are the module's
		case o.name == "--version", o.name == "-V", o.name == "--help", o.name == "-h":
			n.allow("it prints")
			return sameFlow(c.st)
		}
	}
	switch {
	case len(got.operands) == 0 && !got.hasOption("--test"), len(got.operands) > 0 && got.operands[0].text == "-":
		j.softDeny(n, c, "it runs code from its standard input")
	case len(got.operands) == 0:
	case !got.operands[0].known:
		n.deny("the file that it runs is unknown")
	case got.hasOption("--test"):
		j.judgePlaces(n, &command{"node --test", got.operands, c.st, c.rule})
	default:
		for _, p := range joinDirs(c.st.dirs, got.operands[0].text) {
			if place, err := resolvePath(p); err != nil || !j.inRoots(place) {
				j.softDeny(n, c, "it runs code outside of the workspace")
			}
			if j.crossesNewLink(p, true) {
				j.softDeny(n, c, newLinkReason)
			}
		}
	}
	n.allow("mode implementation runs the code of the workspace")
	return sameFlow(c.st)
}
