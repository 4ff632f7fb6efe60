package policy

import (
	"slices"
	"strings"
)

// findValues are the tests of find that take a word.
var findValues = strings.Fields(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin
	-newer -anewer -cnewer -newermt -newerct -user -group -uid -gid -perm -maxdepth -mindepth -samefile -fstype -inum -links -lname -ilname -used -printf -context`)

var findPlain = strings.Fields(`-print -print0 -ls -prune -quit -depth -d -mount -xdev -empty -executable -readable -writable -nouser -nogroup -true -false -follow -daystart
	-noleaf -warn -nowarn -ignore_readdir_race -not -a -and -o -or ! ( ) ,`)

// judgeFind judges find. Its tests read, but some actions run programs or write.
func judgeFind(j *judgement, n *Node, c *command) flow {
	args := c.args
	var starts []field
	for len(args) > 0 && args[0].known && slices.Contains([]string{"-H", "-L", "-P"}, args[0].text) {
		args = args[1:]
	}
	for ; len(args) > 0; args = args[1:] {
		f := args[0]
		if !f.known && f.mayBeOption() {
			n.deny("an unknown word may be an action")
		}
		if f.known && (strings.HasPrefix(f.text, "-") || f.text == "!" || f.text == "(") {
			break
		}
		starts = append(starts, f)
	}
	if len(starts) == 0 {
		starts = []field{literalField(".")}
	}
	for _, s := range starts {
		j.judgeOperand(n, reads, s, c.st)
	}
	next := func() (field, bool) {
		if len(args) < 2 {
			return field{}, false
		}
		args = args[1:]
		return args[0], !args[0].splits && !args[0].glob
	}
	for ; len(args) > 0; args = args[1:] {
		f := args[0]
		switch {
		case !f.known:
			n.deny("an unknown word may be an action")
		case slices.Contains(findPlain, f.text):
		case slices.Contains(findValues, f.text):
			if _, ok := next(); !ok {
				n.deny("unknown words may follow " + f.text)
			}
		case f.text == "-delete":
			for _, s := range starts {
				j.judgeOperand(n, writes, s, c.st)
				j.denyRemovingRoots(n, s, c.st)
			}
		case slices.Contains([]string{"-fprint", "-fprint0", "-fls", "-fprintf"}, f.text):
			file, ok := next()
			if f.text == "-fprintf" && ok {
				_, ok = next()
			}
			if !ok {
				n.deny("the action of find is unknown")
			}
			j.judgeOperand(n, writes, file, c.st)
		case slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, f.text):
			end := 1
			for end < len(args) && args[end].text != ";" && (args[end].text != "+" || args[end-1].text != "{}") {
				if !args[end].known {
					n.deny("the end of the action is unknown")
				}
				end++
			}
			inner := *c
			inner.st.input, inner.st.piped = nil, true
			if strings.HasSuffix(f.text, "dir") {
				inner.st = inner.st.inUnknownDir()
			}
			if end == 1 {
				n.deny("an action without a program")
			} else {
				j.judgeInner(n, &inner, parsed{}, replaceMark(args[1:end], "{}"))
			}
			args = args[min(end, len(args)-1):]
		default:
			j.softDeny(n, c, "unknown action "+f.text)
		}
	}
	n.allow("it looks for files")
	return sameFlow(c.st)
}

// judgeSed judges sed, whose scripts may read, write and run programs.
func judgeSed(j *judgement, n *Node, c *command) flow {
	got := parseOptions("nErsuzbe: f: i? l: --expression: --file: --in-place? --quiet --silent --regexp-extended --posix --debug --sandbox --separate --unbuffered --null-data --line-length:", c.args)
	j.judgeOptions(n, c, got)
	var scripts []field
	files, kind := got.operands, readsAll
	for _, o := range got.options {
		switch o.name {
		case "-e", "--expression":
			scripts = append(scripts, o.value)
		case "-f", "--file":
			j.softDeny(n, c, "it runs a script that the policy does not read")
			scripts = append(scripts, literalField(""))
		case "-i", "--in-place":
			kind = writesAll
			if strings.ContainsAny(o.value.text, "/*") || !o.value.known && o.value.src != "" {
				n.deny("the name of the backup is unknown")
			}
		}
	}
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	for _, s := range scripts {
		if why := sedProblem(s); why != "" {
			j.softDeny(n, c, why)
		}
	}
	j.judgeOperands(n, kind, files, c.st)
	n.allow("it edits text")
	return sameFlow(c.st)
}

// judgeAwk judges awk, whose programs may read, write and run other programs.
func judgeAwk(j *judgement, n *Node, c *command) flow {
	got := parseOptions("+ F: v: f: e! --field-separator: --assign: --posix --re-interval --file:", c.args)
	j.judgeOptions(n, c, got)
	files := got.operands
	switch {
	case got.hasOption("-f", "--file"):
		j.softDeny(n, c, "it runs a program that the policy does not read")
	case len(files) > 0:
		if why := awkProblem(files[0]); why != "" {
			j.softDeny(n, c, why)
		}
		files = files[1:]
	}
	for _, f := range files {
		if strings.HasPrefix(f.text+f.prefix, "/inet") {
			j.softDeny(n, c, "gawk connects to a network")
		}
	}
	j.judgeOperands(n, readsAll, files, c.st)
	n.allow("it prints")
	return sameFlow(c.st)
}

// awkProblem returns why a program is not harmless, or "". It does not parse the program:
// any text that might run, write or read something is enough. A comment may hide braces,
// and an escaped line end may cut a word, so it rejects both.
func awkProblem(f field) string {
	if !f.known {
		return "unknown program"
	}
	for _, w := range []string{"system", "getline", "@", "ARGV", "SYMTAB", "close", "fflush", "/inet", "#", "\\\n"} {
		if strings.Contains(f.text, w) {
			return "the program may run or read something: " + w
		}
	}
	text := strings.NewReplacer("||", "", ">=", "").Replace(f.text)
	if strings.Contains(text, "|") {
		return "the program may run another program: |"
	}
	// Outside of braces > is a comparison. A string or a pattern may hide a brace.
	depth := 0
	for _, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case '>':
			if depth != 0 || strings.ContainsAny(f.text, "\"/\\") {
				return "the program may write a file: >"
			}
		}
	}
	return ""
}
