package claude

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// reading says what a shell command reads. It is a file read when every part of
// it only reads, lists or searches.
type reading struct {
	is         bool
	file       string // the first that is read
	pattern    string
	searchPath string // the first that is listed or searched
}

// refusals are the options by which a reader does more than read.
var refusals = map[string]*regexp.Regexp{
	"find": regexp.MustCompile(`^-(exec|ok|delete|fprint|fls)`),
	"rg":   regexp.MustCompile(`^--(pre|hostname-bin)`),
	"tree": regexp.MustCompile(`^-o|^--output`),
	"file": regexp.MustCompile(`^-C|^--compile`),
	"sort": regexp.MustCompile(`^-[a-zA-Z]*[oT]|^--(output|compress|temp)`),
}

// valued are the options whose value is the next word.
var valued = map[string]string{
	"head": "-n -c", "tail": "-n -c -s --pid", "nl": "-b -s -w -v -i -f -h -d -n", "stat": "-c", "cut": "-d -f -c -b", "sort": "-k -t",
	"grep": "-e -f -m -A -B -C", "rg": "-e -f -m -A -B -C -g -t -T -j --type --glob", "ls": "-I -w", "tree": "-L -I -P",
}

// Readers name files, searchers a pattern and places, listers places; a filter
// reads what it is piped.
var (
	readers   = strings.Fields("cat head tail less more stat file wc nl sed")
	searchers = strings.Fields("grep egrep fgrep rg")
	listers   = strings.Fields("ls tree find")
	filters   = strings.Fields("sort uniq cut tr")
)

// printing is the sed script that only prints lines.
var printing = regexp.MustCompile(`^[0-9$]+(,[+0-9$]+)?p$`)

// readsFiles says what a command reads. When in doubt nothing: substitutions,
// redirections and unknown commands are no reading.
func readsFiles(command string) (r reading) {
	command = unwrap(strings.TrimSpace(command))
	command = strings.NewReplacer("2>/dev/null", "", "2>&1", "").Replace(command)
	parts, ok := commands(command)
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
		if !r.take(p, at) {
			return reading{}
		}
	}
	return r
}

// take adds what one simple command reads, and tells whether it only reads.
func (r *reading) take(p simple, at func(string) string) bool {
	name, args := p.words[0], p.words[1:]
	if no := refusals[name]; no != nil && slices.ContainsFunc(args, no.MatchString) {
		return false
	}
	r.is = true
	if name == "find" {
		r.found(args, at)
		return true
	}
	key := name
	if slices.Contains(searchers, name) && name != "rg" {
		key = "grep"
	}
	operands, given := split(args, strings.Fields(valued[key]))
	switch {
	case name == "sed":
		if len(operands) == 0 || !slices.Equal(given, []string{"-n"}) || !printing.MatchString(operands[0]) {
			return false
		}
		operands = operands[1:]
	case name == "uniq" && len(operands) > 1:
		return false // the second is written
	case slices.Contains(searchers, name):
		if !slices.Contains(given, "-e") && len(operands) > 0 {
			if r.pattern == "" {
				r.pattern = operands[0]
			}
			operands = operands[1:]
		}
		r.search(operands, at)
		return true
	case slices.Contains(listers, name):
		r.search(operands, at)
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

func (r *reading) search(operands []string, at func(string) string) {
	if r.searchPath == "" && len(operands) > 0 {
		r.searchPath = at(operands[0])
	}
}

// found takes the places of a find, and the name that it looks for.
func (r *reading) found(args []string, at func(string) string) {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		r.search(args[:1], at)
	}
	if i := slices.IndexFunc(args, func(a string) bool { return a == "-name" || a == "-iname" || a == "-path" }); i >= 0 && i+1 < len(args) && r.pattern == "" {
		r.pattern = args[i+1]
	}
}

// split parts operands from options; the value of an option is neither.
func split(args, valued []string) (operands, given []string) {
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

// simple is a command of a line; piped says that it reads what the one before
// it prints.
type simple struct {
	words []string
	piped bool
}

// commands reads a line of shell as simple commands. What is more than words,
// quotes and the operators between commands is not understood.
func commands(line string) (out []simple, ok bool) {
	var word strings.Builder
	var cur simple
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
			cur = simple{piped: c == '|' && !double}
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

// unwrap takes a command out of a shell that is called for it alone.
func unwrap(command string) string {
	for _, shell := range []string{"bash -lc ", "bash -c ", "sh -c ", "zsh -lc ", "zsh -c "} {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(command, "/bin/"), shell)
		if n := len(rest); ok && n > 2 && (rest[0] == '\'' || rest[0] == '"') && strings.IndexByte(rest[1:], rest[0]) == n-2 {
			return rest[1 : n-1]
		}
	}
	return command
}
