package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judges are the judges of programs that need more than their line in programs.txt.
var judges map[string]func(j *judgement, n *Node, c *command)

func init() { //nolint:gochecknoinits // judges refer to the table that holds them
	judges = map[string]func(j *judgement, n *Node, c *command){
		"cd": judgeChangeDir, "printf": judgePrintf, "test": judgeTest, "[": judgeTest,
		"read": judgeRead, "unset": judgeRead, "set": judgeSet, "exit": judgeExit, "return": judgeExit, "break": judgeExit, "continue": judgeExit, "shift": judgeExit, "date": judgeDate, "lsof": judgeLsof, "netstat": judgeLsof,
		"sh": judgeShell, "bash": judgeShell, "dash": judgeShell, "ash": judgeShell, "zsh": judgeShell,
		"command": judgeCommand, "env": judgeEnv, "xargs": judgeXargs,
		"git": judgeGit, "jq": judgeJq, "find": judgeFind, "sed": judgeSed, "awk": judgeAwk, "gawk": judgeAwk, "mawk": judgeAwk, "nawk": judgeAwk,
		"rm": judgeRemove, "unlink": judgeRemove, "cp": judgeCopy, "mv": judgeCopy, "ln": judgeCopy, "install": judgeCopy, "tar": judgeTar,
		"make": judgeMake, "gmake": judgeMake, "node": judgeInterpreter, "python": judgeInterpreter, "python3": judgeInterpreter,
	}
	for names, judge := range map[string]func(j *judgement, n *Node, c *command){
		"nohup setsid nice ionice stdbuf time busybox toybox timeout exec": judgeWrapper,
		"gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd":                    judgeCompress,
	} {
		for name := range strings.FieldsSeq(names) {
			judges[name] = judge
		}
	}
	judges["coverage run"] = judgeCoverage
	for _, name := range []string{"test", "build", "install", "run"} {
		judges["go "+name] = judgeGo
	}
	for _, name := range []string{"npx", "npm exec", "pnpm exec", "pnpm dlx", "yarn exec", "yarn dlx",
		"uv run", "poetry run", "pdm run", "pipenv run", "bundle exec", "bunx", "bun x"} {
		judges[name] = judgePackaged
	}
	loadPrograms(programTable)
}

// judgeChangeDir follows cd. If cd fails, the folder stays the same.
func judgeChangeDir(j *judgement, n *Node, c *command) {
	n.allow("another folder")
	here, lost := c.st, c.st.inUnknownDir()
	args := c.args
	for len(args) > 0 && args[0].known && (args[0].text == "--" || args[0].text == "-L") {
		args = args[1:]
	}
	var there state
	switch {
	case len(args) == 0 && j.Home != "":
		there = here
		there.dirs = []string{j.Home}
	case len(args) == 1 && args[0].known && args[0].text != "" && !strings.HasPrefix(args[0].text, "-") && !strings.HasPrefix(args[0].text, "+"):
		there = here
		there.dirs = nil
		for _, d := range joinDirs(here.dirs, args[0].text) {
			clean := path.Clean(d) // as PWD has it: .. removes the part before it, also a link
			place, err := resolvePath(clean)
			if other, otherErr := resolvePath(d); place != other || err != nil || otherErr != nil { // if it fails, shells go where the link leads
				there = lost
				break
			}
			there.dirs = append(there.dirs, clean)
		}
	default:
		there, here = lost, lost
	}
	j.after = &flow{there, here}
}

// Conversions of printf: with some, zsh evaluates the argument as arithmetic; with one, it sets
// the variable that the argument names.
var (
	printfNumber  = regexp.MustCompile(`%[-+ #0-9.*]*[^-+ #0-9.*%sbqc]`)
	printfAssigns = regexp.MustCompile(`%[-+ #0-9.*]*n`)
)

func judgePrintf(j *judgement, n *Node, c *command) {
	args := c.args
	if len(args) > 0 && args[0].known && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) > 1 && printfAssigns.MatchString(args[0].text) {
		j.softDeny(n, c, unlisted("%n of printf", "%s"))
	}
	if len(args) > 1 && (!args[0].known || strings.Contains(args[0].text, "*") || printfNumber.MatchString(strings.ReplaceAll(args[0].text, "%%", ""))) {
		for _, f := range args[1:] {
			if !f.number && (!f.known || strings.ContainsAny(f.text, "[`$")) {
				j.softDeny(n, c, unlisted("printf of a number that is unknown", "%s"))
			}
		}
	}
	if len(c.args) > 0 {
		switch first := c.args[0]; {
		case !first.known && first.mayBeOption():
			j.softDeny(n, c, "it may set a variable; `printf --` does not")
		case strings.HasPrefix(first.text, "-v"):
			if len(c.args) > 1 {
				j.judgeAssigned(n, c.args[1])
			}
			j.softDeny(n, c, unlisted("printf -v", "NAME=$(printf …)"))
		}
	}
}

// judgeTest judges test and [ ] in the forms WORD, OPERATOR WORD and WORD OPERATOR WORD,
// which may be negated. -v and -R would evaluate the subscript of a name.
func judgeTest(j *judgement, n *Node, c *command) {
	args := c.args
	if c.name == "[" && len(args) > 0 && args[len(args)-1].text == "]" {
		args = args[:len(args)-1]
	}
	for _, f := range args {
		if f.splits || f.glob {
			j.softDeny(n, c, "unknown words may be an operator that runs a subscript; quotes keep them one word")
		}
	}
	known := func(i int, of ...string) bool { return args[i].known && slices.Contains(of, args[i].text) }
	compares := func() bool { return len(args) == 3 && (known(1, binaryTests...) || known(1, numberTests...)) }
	if len(args) > 1 && !compares() && known(0, "!") {
		args = args[1:]
	}
	switch {
	case len(args) < 2, len(args) == 2 && known(0, unaryTests...), compares():
	default:
		j.softDeny(n, c, unlisted("this test", "[ -f FILE ], [ A = B ] or [ 1 -lt 2 ], joined by && and ||"))
	}
}

func judgeRead(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	for _, f := range got.operands {
		j.judgeAssigned(n, f)
	}
	for _, o := range got.options { // zsh evaluates it
		if o.kind == ':' && o.name != "-d" && o.name != "-p" && (!o.value.known || strings.Trim(o.value.text, "0123456789.") != "") {
			j.softDeny(n, c, unlisted("a value of "+c.name+" that is no number", "the number"))
		}
	}
	if len(got.operands) == 0 {
		j.softDeny(n, c, unlisted(c.name+" without a variable", "its name"))
	}
}

// harmlessSetOptions are the options of set that do not change which programs run.
var harmlessSetOptions = []string{"errexit", "nounset", "pipefail", "xtrace", "noglob", "noclobber", "verbose", "noexec"}

func judgeSet(_ *judgement, n *Node, c *command) {
	for i := 0; i < len(c.args); i++ {
		f := c.args[i]
		switch {
		case !f.known:
			if f.mayBeOption() {
				n.deny("it sets an unknown option")
			}
			return
		case f.text == "--" || f.text == "-" || f.text == "" || f.text[0] != '-' && f.text[0] != '+':
			return
		case strings.Trim(f.text, "-+euxfCvno") != "":
			n.deny("an option that changes how a shell reads commands")
		case strings.Contains(f.text, "o"):
			if i++; i < len(c.args) && (!c.args[i].known || !slices.Contains(harmlessSetOptions, c.args[i].text)) {
				n.deny("an option that changes how a shell reads commands")
			}
		}
	}
}

// judgeExit judges exit and what leaves loops. zsh evaluates their words.
func judgeExit(j *judgement, n *Node, c *command) {
	numbers := true
	for _, f := range c.args {
		if !f.known || !isNumber(strings.TrimPrefix(f.text, "-")) {
			if numbers = false; strings.Trim(f.src, `"`) != "$?" {
				j.softDeny(n, c, unlisted("a word after "+c.name+" that is no number", "the number, or $?"))
			}
		}
	}
	j.left = mergeStates(j.left, c.st)
	if c.name == "exit" && len(c.args) < 2 && numbers {
		j.after = &flow{state{dead: true}, state{dead: true}}
	}
}

func judgeDate(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	for _, f := range got.operands {
		if !strings.HasPrefix(f.text+f.prefix, "+") || f.splits {
			n.deny("it may set the clock")
		}
	}
}

// judgeShell judges a shell together with the script that it runs.
func judgeShell(j *judgement, n *Node, c *command) {
	langs := []syntax.LangVariant{syntax.LangBash}
	switch c.name {
	case "sh", "dash", "ash":
		langs = append(langs, syntax.LangPOSIX)
	case "zsh":
		langs = append(langs, syntax.LangZsh)
	}
	fromText, fromInput, args := false, false, c.args
options:
	for ; len(args) > 0; args = args[1:] {
		f := args[0]
		switch {
		case !f.known:
			if f.mayBeOption() {
				n.deny("the script of the shell is unknown")
				return
			}
			break options
		case f.text == "--" || f.text == "-":
			args = args[1:]
			break options
		case len(c.args) == 1 && (f.text == "--version" || f.text == "--help"): // busybox goes on
			n.allow("it prints")
			return
		case f.text == "--login" || f.text == "--norc" || f.text == "--noprofile" || f.text == "--posix":
		case f.text == "" || f.text[0] != '-' && f.text[0] != '+':
			break options
		case strings.Trim(f.text[1:], "celuxsfovn") != "":
			n.deny("an option of a shell that changes what it reads: " + f.text)
		default:
			fromText = fromText || strings.Contains(f.text, "c")
			fromInput = fromInput || strings.Contains(f.text, "s")
			if strings.Contains(f.text, "o") {
				if len(args) < 2 || !args[1].known || !slices.Contains(harmlessSetOptions, args[1].text) {
					n.deny("an option of a shell that changes what it reads")
					return
				}
				args = args[1:]
			}
		}
	}
	switch {
	case fromText && len(args) == 0:
		n.deny("a shell without a command")
	case fromText && !args[0].known:
		n.deny("the script of the shell is unknown")
	case fromText && len(args) > 1:
		n.deny("words after a command: the shell takes them as arguments, not as part of the command")
	case fromText:
		j.judgeScript(n, args[0].text, c.st, langs...)
	case len(args) > 0 && !fromInput:
		j.softDeny(n, c, "it runs a script that the policy does not read")
	default:
		n.deny("a shell that runs its standard input")
	}
}
