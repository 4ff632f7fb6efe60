package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellText judges a text that a program gives to /bin/sh.
func (j *judgement) shellText(n *Node, text string, st state) {
	j.script(n, text, st, syntax.LangBash, syntax.LangPOSIX)
}

// sub is the first word that is no option: the subcommand of a tool that has
// such, with what stands before and behind it.
func sub(args []field) (before []field, name string, behind []field) {
	for i, f := range args {
		if !f.known || !strings.HasPrefix(f.text, "-") && !strings.HasPrefix(f.text, "+") {
			return args[:i], f.text, args[i+1:]
		}
	}
	return args, "", nil
}

// flags walks over the options of a tool whose table would be long: see is told
// each with its value, if one stands behind a =, and the word that follows. It
// stops at --. What may be an option and is not known is softly denied.
func (j *judgement) flags(n *Node, c *command, args []field, see func(name, value string, has bool, next field)) {
	for i, f := range args {
		if f.known && f.text == "--" {
			return
		}
		if !f.known && f.mayBeOption() {
			j.soft(n, c, "nobody knows whether this is an option: "+f.src)
			continue
		}
		if !f.known || len(f.text) < 2 || f.text[0] != '-' {
			continue
		}
		name, value, has := strings.Cut(f.text, "=")
		next := somewhat("nothing")
		if i+1 < len(args) {
			next = args[i+1]
		}
		see(name, value, has, next)
	}
}

// given is the value of an option: behind the = or the next word.
func given(value string, has bool, next field) field {
	if has {
		return literal(value)
	}
	return next
}

func judgeGo(j *judgement, n *Node, c *command) flow {
	inner := *c
	before, name, behind := sub(c.args)
	if len(before) == 1 && before[0].text == "-C" { // its folder was taken for the subcommand
		inner.st.dirs = join(c.st.dirs, name)
		j.operand(n, writes, literal(name), c.st)
		before, name, behind = sub(behind)
	}
	if len(before) > 0 || name == "" && len(c.args) > 0 {
		j.soft(n, c, "nobody knows what go is to do")
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
		j.soft(n, c, "nobody knows what go "+name+" does")
	}
	j.flags(n, c, behind, func(o, v string, has bool, next field) {
		switch strings.TrimLeft(o, "-") {
		case "exec", "toolexec", "vettool", "overlay", "modfile", "gccgoflags", "compiler", "pkgdir":
			n.deny("the option " + o + " runs another program")
		case "ldflags", "gcflags", "asmflags":
			if f := given(v, has, next); !f.known || strings.Contains(f.text, "ext") || strings.Contains(f.text, "tmpdir") || strings.Contains(f.text, "fuse") {
				n.deny("the option " + o + " may run another program")
			}
		case "o", "coverprofile", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace", "outputdir", "test.coverprofile":
			j.operand(n, writes, given(v, has, next), inner.st)
		case "C":
			n.deny("another folder, and not as the first option")
		}
	})
	n.allow("mode implementation runs the code of the workspace")
	return same2(c.st)
}

func judgeMake(j *judgement, n *Node, c *command) flow {
	got := parseOptions(`BeiknqrRsStvwdp f: C: I: j? l? o: W: O? E! --file: --makefile: --directory: --jobs? --always-make --silent --keep-going --dry-run --just-print --no-print-directory
		--question --print-directory --trace --eval! --version --help --ignore-errors --quiet`, c.args)
	j.options(n, c, got)
	inner := c.st
	for _, o := range got.options {
		switch o.name {
		case "-C", "--directory":
			j.operand(n, writes, o.value, inner)
			inner.dirs = join(inner.dirs, o.value.text)
		case "-f", "--file", "--makefile", "-I":
			if !o.value.known || o.value.text == "-" || strings.HasPrefix(o.value.text, "/dev/") {
				n.deny("nobody knows what the makefile says")
			}
			j.operand(n, writes, o.value, inner)
		}
	}
	for _, f := range got.operands {
		name, value, isVar := strings.Cut(f.text, "=")
		switch {
		case !f.known && !strings.Contains(f.prefix, "="), f.splits:
			n.deny("nobody knows whether it sets a variable of make")
		case !f.known:
			n.deny("nobody knows the value, and make runs what it holds")
		case !isVar:
		default:
			if name = strings.TrimRight(name, ":+?!"); matchesAny(hijacking, name) || strings.HasPrefix(name, ".") {
				n.deny("the variable changes what runs: " + name)
			}
			j.words(n, value)
		}
	}
	n.allow("mode implementation runs the code of the workspace")
	return same2(c.st)
}

// words judges a value that a tool may take for a command: nothing in it may be
// special to a shell or guarded.
func (j *judgement) words(n *Node, value string) {
	if strings.ContainsAny(value, "$`;|&<>(){}\n\\'\"") {
		n.deny("the value may run a command")
	}
	for w := range strings.FieldsSeq(value) {
		if p := programs[base(w)]; p != nil && p.class == guarded {
			n.deny("the value names " + base(w) + ": " + p.why)
		}
	}
}

func judgeCargo(j *judgement, n *Node, c *command) flow {
	_, name, behind := sub(c.args)
	switch name {
	case "", "build", "b", "check", "c", "test", "t", "run", "r", "fmt", "clippy", "doc", "bench", "clean", "tree", "metadata", "version", "add", "remove", "update", "fetch", "nextest", "search", "new", "init":
	default:
		j.soft(n, c, "nobody knows what cargo "+name+" does")
	}
	for _, args := range [][]field{c.args[:len(c.args)-len(behind)], behind} {
		j.flags(n, c, args, func(o, v string, has bool, next field) {
			switch {
			case o == "--config" || strings.HasPrefix(o, "-C"):
				n.deny("the option " + o + " changes what runs, or where")
			case strings.HasPrefix(o, "-Z"):
				j.soft(n, c, "nobody knows what the option does: "+o)
			case o == "--target-dir" || o == "--out-dir" || o == "--artifact-dir" || o == "--manifest-path" || o == "--path" || o == "--root":
				j.operand(n, writes, given(v, has, next), c.st)
			}
		})
	}
	n.allow("mode implementation runs the code of the workspace")
	return same2(c.st)
}

// judgePackages judges npm and its like.
func judgePackages(j *judgement, n *Node, c *command) flow {
	name, behind := "exec", c.args
	if c.name != "npx" {
		var before []field
		if before, name, behind = sub(c.args); len(before) > 0 && name != "" {
			j.soft(n, c, "nobody knows which command of "+c.name+" runs")
		}
	}
	switch name {
	case "", "install", "i", "ci", "add", "remove", "rm", "uninstall", "un", "test", "t", "tst", "run", "run-script", "start", "stop", "restart", "build", "lint", "ls", "list", "outdated", "view", "info",
		"audit", "why", "version", "root", "dedupe", "prune", "update", "up", "init", "create", "help", "fund", "pack":
	case "exec", "x", "dlx":
		j.packaged(n, c, behind)
		return same2(c.st)
	default:
		j.soft(n, c, "nobody knows what "+c.name+" "+name+" does")
	}
	j.packageFlags(n, c, behind)
	n.allow("mode implementation runs the code of the workspace")
	return same2(c.st)
}

// packageFlags judges the options of npm and its like.
func (j *judgement) packageFlags(n *Node, c *command, args []field) {
	j.flags(n, c, args, func(o, v string, has bool, next field) {
		switch {
		case slices.Contains([]string{"-c", "--call", "--script-shell", "--shell", "--shell-mode", "--node-options", "--globalconfig", "--userconfig", "--git", "--editor", "--browser", "--viewer", "--init-module", "--use-node-version"}, o):
			n.deny("the option " + o + " runs a command, or changes what runs")
		case o == "-g" || o == "--global" || o == "--location":
			n.deny("it writes outside of the workspace")
		case slices.Contains([]string{"--prefix", "-C", "--dir", "--cwd", "--cache", "--modules-dir"}, o):
			j.operand(n, writes, given(v, has, next), c.st)
		}
	})
}

// packaged judges a program that comes out of a package.
func (j *judgement) packaged(n *Node, c *command, args []field) {
	got := parseOptions("+ yqp: c! --yes --no --quiet --package: --call! --no-install --ignore-existing --shell!", args)
	j.options(n, c, got)
	if len(got.operands) == 0 {
		n.allow("nothing is run")
		return
	}
	if first := got.operands[0]; first.known && isProgram(base(first.text)) {
		j.inner(n, c, got, got.operands)
		return
	} else if !first.known {
		n.deny("nobody knows which program runs")
	}
	n.allow("mode implementation runs the code of packages")
}

func judgePip(j *judgement, n *Node, c *command) flow {
	_, name, behind := sub(c.args)
	switch name {
	case "", "install", "uninstall", "list", "show", "freeze", "check", "download", "wheel", "index", "hash", "inspect", "help":
	default:
		j.soft(n, c, "nobody knows what pip "+name+" does")
	}
	j.flags(n, c, behind, func(o, v string, has bool, next field) {
		if len(o) > 2 && o[1] != '-' {
			o, v, has = o[:2], strings.TrimPrefix(o[2:], "="), true
		}
		switch o {
		case "-t", "--target", "--prefix", "--root", "--log", "--cache-dir", "--src", "-d", "--dest", "-w", "--wheel-dir", "--report":
			j.operand(n, writes, given(v, has, next), c.st)
		case "--install-option", "--global-option", "--build-option", "--config-settings", "-C", "--python":
			n.deny("the option " + o + " changes what runs")
		}
	})
	n.allow("mode implementation installs packages")
	return same2(c.st)
}

// modules are Python modules that run nothing but what they say.
var modules = []string{"pytest", "unittest", "pip", "venv", "mypy", "ruff", "black", "build", "json.tool", "flake8", "isort", "pylint", "py_compile", "compileall", "doctest", "tox"}

// judgeInterpreter judges node and python: a file of the workspace is its code,
// but code among the words is what nobody reads.
func judgeInterpreter(j *judgement, n *Node, c *command) flow {
	table := "+ bBdEhIOqsSuvVxPW: X: c! m: i! --version --help"
	if c.name == "node" {
		table = "+ vhct e! p! r! i! --version --help --test --watch --check --no-warnings --enable-source-maps --experimental-strip-types --max-old-space-size? --trace-warnings --test-name-pattern? --test-reporter? --test-only"
	}
	got := parseOptions(table, c.args)
	for _, o := range got.options {
		switch {
		case o.kind == '!':
			j.soft(n, c, "it runs code that nobody reads")
			return same2(c.st)
		case o.kind == 'x':
			j.soft(n, c, "nobody knows the option "+o.name)
		case o.name == "-m":
			if !o.value.known || !slices.Contains(modules, o.value.text) {
				j.soft(n, c, "nobody knows what the module does: "+o.value.src)
			}
			if o.value.text == "pip" {
				return judgePip(j, n, &command{"pip", got.operands, c.st, c.rule})
			}
			n.allow("mode implementation runs the code of the workspace")
			return same2(c.st) // words behind it are the module's
		case o.name == "--version", o.name == "-V", o.name == "--help", o.name == "-h":
			n.allow("it prints")
			return same2(c.st)
		}
	}
	switch {
	case len(got.operands) == 0 && !got.has("--test"), len(got.operands) > 0 && got.operands[0].text == "-":
		j.soft(n, c, "it runs code that comes on its standard input")
	case len(got.operands) == 0:
	case !got.operands[0].known:
		n.deny("nobody knows which file it runs")
	default:
		for _, p := range join(c.st.dirs, got.operands[0].text) {
			if place, err := physical(p); err != nil || !j.within(place) {
				j.soft(n, c, "it runs code outside of the workspace")
			}
		}
	}
	n.allow("mode implementation runs the code of the workspace")
	return same2(c.st)
}
