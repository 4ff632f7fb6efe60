package claude

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// reading describes what a shell command reads. A command is a file read if
// every part of it only reads, lists or searches.
type reading struct {
	is         bool
	file       string // the first file read
	pattern    string
	searchPath string // the first path listed or searched
}

// writingOptions are options with which a reading command does more than read.
var writingOptions = map[string]*regexp.Regexp{
	"find": regexp.MustCompile(`^-(exec|ok|delete|fprint|fls)`),
	"rg":   regexp.MustCompile(`^--(pre|hostname-bin)`),
	"tree": regexp.MustCompile(`^-o|^--output`),
	"file": regexp.MustCompile(`^-C|^--compile`),
	"sort": regexp.MustCompile(`^-[a-zA-Z]*[oT]|^--(output|compress|temp)`),
}

// optionsWithValue are options whose value is the next word.
var optionsWithValue = map[string]string{
	"head": "-n -c", "tail": "-n -c -s --pid", "nl": "-b -s -w -v -i -f -h -d -n", "stat": "-c", "cut": "-d -f -c -b", "sort": "-k -t",
	"grep": "-e -f -m -A -B -C", "rg": "-e -f -m -A -B -C -g -t -T -j --type --glob", "ls": "-I -w", "tree": "-L -I -P",
}

// Readers name files, searchers a pattern and paths, listers paths; filters
// read their standard input.
var (
	readers   = strings.Fields("cat head tail less more stat file wc nl sed")
	searchers = strings.Fields("grep egrep fgrep rg")
	listers   = strings.Fields("ls tree find")
	filters   = strings.Fields("sort uniq cut tr")
)

// sedPrint matches a sed script that only prints lines.
var sedPrint = regexp.MustCompile(`^[0-9$]+(,[+0-9$]+)?p$`)

// readsFiles returns what a command reads. It returns the zero value for
// anything uncertain: substitutions, redirections and unknown commands.
func readsFiles(command string) (r reading) {
	command = unwrap(strings.TrimSpace(command))
	command = strings.NewReplacer("2>/dev/null", "", "2>&1", "").Replace(command)
	parts, ok := parseCommands(command)
	if !ok || len(parts) == 0 {
		return reading{}
	}
	dir := ""
	at := func(name string) string {
		if dir == "" || path.IsAbs(name) {
			return name
		}
		return path.Join(dir, name)
	}
	for i, p := range parts {
		if p.words[0] == "cd" && len(p.words) == 2 && !p.piped && i+1 < len(parts) {
			dir = at(p.words[1])
			continue
		}
		if !r.addCommand(p, at) {
			return reading{}
		}
	}
	return r
}

// addCommand adds what a simple command reads, and reports whether it only
// reads.
func (r *reading) addCommand(p simpleCommand, at func(string) string) bool {
	name, args := p.words[0], p.words[1:]
	if no := writingOptions[name]; no != nil && slices.ContainsFunc(args, no.MatchString) {
		return false
	}
	r.is = true
	if name == "find" {
		r.addFind(args, at)
		return true
	}
	key := name
	if slices.Contains(searchers, name) && name != "rg" {
		key = "grep"
	}
	operands, given := splitOptions(args, strings.Fields(optionsWithValue[key]))
	switch {
	case name == "sed":
		if len(operands) == 0 || !slices.Equal(given, []string{"-n"}) || !sedPrint.MatchString(operands[0]) {
			return false
		}
		operands = operands[1:]
	case name == "uniq" && len(operands) > 1:
		return false // uniq writes its second operand
	case slices.Contains(searchers, name):
		if !slices.Contains(given, "-e") && len(operands) > 0 {
			if r.pattern == "" {
				r.pattern = operands[0]
			}
			operands = operands[1:]
		}
		r.setSearchPath(operands, at)
		return true
	case slices.Contains(listers, name):
		r.setSearchPath(operands, at)
		return true
	case slices.Contains(filters, name):
		return p.piped
	case !slices.Contains(readers, name):
		return false
	}
	if r.file == "" && len(operands) > 0 && operands[0] != "-" {
		r.file = at(operands[0])
	}
	return true
}

func (r *reading) setSearchPath(operands []string, at func(string) string) {
	if r.searchPath == "" && len(operands) > 0 {
		r.searchPath = at(operands[0])
	}
}

// addFind adds the path of a find and the name that it searches for.
func (r *reading) addFind(args []string, at func(string) string) {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		r.setSearchPath(args[:1], at)
	}
	if i := slices.IndexFunc(args, func(a string) bool { return a == "-name" || a == "-iname" || a == "-path" }); i >= 0 && i+1 < len(args) && r.pattern == "" {
		r.pattern = args[i+1]
	}
}

// splitOptions separates operands from options and drops the values of options.
func splitOptions(args, valued []string) (operands, given []string) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			return append(operands, args[i+1:]...), given
		case strings.HasPrefix(a, "-") && a != "-":
			given = append(given, a)
			if slices.Contains(valued, a) {
				i++
			}
		default:
			operands = append(operands, a)
		}
	}
	return operands, given
}

// simpleCommand is one command of a line; piped is set if it reads the output
// of the one before.
type simpleCommand struct {
	words []string
	piped bool
}

// parseCommands parses a shell line into simple commands. It returns false for
// anything but words, quotes and operators between commands.
func parseCommands(line string) (out []simpleCommand, ok bool) {
	var word strings.Builder
	var cur simpleCommand
	inWord := false
	endWord := func() {
		if inWord {
			cur.words = append(cur.words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t':
			endWord()
		case '|', ';', '&':
			endWord()
			double := i+1 < len(line) && line[i+1] == c
			if len(cur.words) == 0 || c == '&' && !double || c == ';' && double {
				return nil, false
			}
			if double {
				i++
			}
			out = append(out, cur)
			cur = simpleCommand{piped: c == '|' && !double}
		case '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return nil, false
			}
			word.WriteString(line[i+1 : i+1+n])
			i, inWord = i+n+1, true
		case '"':
			n := strings.IndexByte(line[i+1:], '"')
			if n < 0 || strings.ContainsAny(line[i+1:i+1+n], "$`\\") {
				return nil, false
			}
			word.WriteString(line[i+1 : i+1+n])
			i, inWord = i+n+1, true
		case '<', '>', '`', '$', '(', ')', '{', '}', '\\', '\n', '#':
			return nil, false
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	endWord()
	switch {
	case len(cur.words) > 0:
		return append(out, cur), true
	case cur.piped:
		return nil, false
	}
	return out, true
}

// unwrap returns the command inside a shell that runs only that command.
func unwrap(command string) string {
	for _, shell := range []string{"bash -lc ", "bash -c ", "sh -c ", "zsh -lc ", "zsh -c "} {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(command, "/bin/"), shell)
		if n := len(rest); ok && n > 2 && (rest[0] == '\'' || rest[0] == '"') && strings.IndexByte(rest[1:], rest[0]) == n-2 {
			return rest[1 : n-1]
		}
	}
	return command
}
