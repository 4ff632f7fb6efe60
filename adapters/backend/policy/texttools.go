package policy

import (
	"slices"
	"strings"
)

// findValues are the tests of find that take a word.
var findValues = listedNames("find with a value")

var findPlain = listedNames("find")

// judgeFind judges find. Its tests read, but some actions run programs or write.
func judgeFind(j *judgement, n *Node, c *command) {
	args := c.args
	var starts []field
	for len(args) > 0 && args[0].known && slices.Contains([]string{"-H", "-P"}, args[0].text) {
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
			v, ok := next()
			if !ok {
				n.deny("unknown words may follow " + f.text)
			}
			if slices.Contains([]string{"-newer", "-anewer", "-cnewer", "-samefile"}, f.text) {
				j.judgeOperand(n, reads, v, c.st)
			}
		case f.text == "-delete":
			for _, s := range starts {
				j.judgeOperand(n, writes, s, c.st)
				if !removesJunk(c.args) {
					j.denyRemovingRoots(n, s, c.st)
				}
			}
		case slices.Contains([]string{"-exec", "-ok"}, f.text):
			end := 1
			for end < len(args) && args[end].text != ";" && (args[end].text != "+" || args[end-1].text != "{}") {
				if !args[end].known {
					n.deny("the end of the action is unknown")
				}
				end++
			}
			prefix := "" // of what {} becomes
			if len(starts) == 1 && starts[0].known {
				prefix = starts[0].text
			}
			if end == 1 {
				n.deny("an action without a program")
			} else {
				j.judgeInner(n, c, parsed{}, replaceMark(args[1:end], "{}", prefix))
			}
			args = args[min(end, len(args)-1):]
		case strings.HasPrefix(f.text, "-exec"), strings.HasPrefix(f.text, "-ok"), strings.HasPrefix(f.text, "-f"):
			n.deny("unknown action " + f.text + ", which may run or write; write -exec")
		default:
			j.softDeny(n, c, "unknown action "+f.text)
		}
	}
}

// junk are the names of files that tools leave behind, of which no runtime reads one.
var junk = listedNames("junk")

// removesJunk reports whether find removes only junk: -name PATTERN -delete, perhaps with
// -type f before it.
func removesJunk(args []field) bool {
	n := len(args)
	if n < 3 || args[n-1].text != "-delete" || args[n-3].text != "-name" || !args[n-2].known || !slices.Contains(junk, args[n-2].text) {
		return false
	}
	rest := args[:n-3]
	if k := len(rest); k > 1 && rest[k-2].text == "-type" && rest[k-1].text == "f" {
		rest = rest[:k-2]
	}
	return !slices.ContainsFunc(rest, func(f field) bool {
		return !f.known || f.mayBeOption() || f.text == "!" || f.text == "(" || f.text == ","
	})
}

// judgeSed judges sed, whose scripts may read, write and run programs.
func judgeSed(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	var scripts []field
	files, a, backup := got.operands, reads, field{}
	for _, o := range got.options {
		switch o.name {
		case "-e", "--expression":
			scripts = append(scripts, o.value)
		case "-f", "--file":
			j.softDeny(n, c, "it runs a script that the policy does not read")
			scripts = append(scripts, literalField(""))
		case "-i", "--in-place":
			a, backup = writes, o.value
			if strings.ContainsAny(backup.text, "/*") || !backup.known && backup.src != "" {
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
	for _, f := range files {
		j.judgeOperand(n, a, f, c.st)
		if backup.text != "" && f.known {
			j.judgeOperand(n, writes, literalField(f.text+backup.text), c.st)
		} else if backup.text != "" {
			j.softDeny(n, c, unlisted("a backup of files that are unknown", "-i without an ending, or the names of the files"))
		}
	}
	j.judgeRenamed(n, c, files)
}

// judgeJq judges jq, whose program may read the files of modules.
func judgeJq(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	for _, f := range got.operands { // --arg takes two words, so the program may be any
		switch {
		case !j.ConfineReads && !j.hasReadRules():
		case !f.known:
			j.softDeny(n, c, "unknown program of jq: it may read a module")
		case strings.Contains(f.text, "import") || strings.Contains(f.text, "modulemeta") || strings.Contains(f.text, "include"):
			j.softDeny(n, c, "in jq "+unlisted("import or include", "--slurpfile"))
		}
	}
	j.judgeOperands(n, c, got)
}

// judgeAwk judges awk, whose programs may read, write and run other programs.
func judgeAwk(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
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
		if f.mayBegin("/inet") {
			j.softDeny(n, c, "the file may be a name with which gawk connects to a network; write ./ before it")
		}
		j.judgeOperand(n, reads, f, c.st)
	}
}

// judgeLsof judges lsof, which asks a name server for the host behind an @, and netstat, which
// asks for the names of all hosts.
func judgeLsof(j *judgement, n *Node, c *command) {
	got := j.parse(n, c)
	j.judgeOperands(n, c, got)
	if c.name == "netstat" && !got.hasOption("-n") {
		j.softDeny(n, c, "it asks a name server for hosts; write -n")
	}
	for _, f := range c.args {
		if !f.known || strings.Contains(f.text, "@") {
			j.softDeny(n, c, "it may ask a name server for a host; write -i :PORT")
		}
	}
}
