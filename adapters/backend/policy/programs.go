package policy

import (
	_ "embed"
	"strings"
)

// programClass is the class of a program.
type programClass int

const (
	harmless programClass = iota // does what its options and operands say
	guarded                      // always denied
	opaque                       // runs what cannot be read: another program, code, another machine
)

// operandKind is how a program uses its operands.
type operandKind int

const (
	nothing    operandKind = iota // they are not files
	readsAll                      // they are read
	writesAll                     // they are written
	writesLast                    // the last is written, the others are read
	writesSecond
	readsAfterFirst // the first is a pattern
	places          // of code of the workspace
	textOnly        // no word is an option or a file
	noOperands
)

// program is a line of programs.txt.
type program struct {
	class   programClass
	why     string // the reason, of guarded and opaque
	options *spec
	args    operandKind
	any     bool // no option does more than read
	here    bool // without a file it reads the current folder
	builds  bool // it runs code of the workspace
	sub     bool // the first operand is a subcommand
	read    bool // of git: it changes nothing
	judge   func(j *judgement, n *Node, c *command)
}

func (p *program) reason() string {
	switch {
	case p.builds:
		return "mode implementation runs the code of the workspace"
	case p.args == writesAll || p.args == writesLast:
		return "it writes what it names"
	case p.judge != nil:
		return "all of it is on the list"
	}
	return "it changes nothing"
}

//go:embed programs.txt
var programTable string

// programs are the known programs and builtins of shells, and their subcommands as
// "git log".
var programs = map[string]*program{}

//go:embed names.txt
var nameTable string

// listedNames returns a list of names.txt.
func listedNames(title string) []string {
	_, rest, found := strings.Cut(strings.ReplaceAll(nameTable, "\n\t", " "), "\n"+title+": ")
	if !found {
		panic("names.txt has no list " + title)
	}
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Fields(line)
}

// operandKinds are the words of programs.txt for the operands.
var operandKinds = map[string]operandKind{"reads": readsAll, "writes": writesAll, "last": writesLast, "second": writesSecond,
	"pattern": readsAfterFirst, "place": places, "nothing": nothing, "none": noOperands, "text": textOnly}

// loadPrograms reads programs.txt, and returns the lines that it cannot read.
func loadPrograms(text string) (bad []string) {
	text = strings.ReplaceAll(text, "\n\t", " ")
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		columns := strings.Split(line, "|")
		if len(columns) != 3 {
			bad = append(bad, line)
			continue
		}
		p, single := program{}, false
		use := strings.Fields(columns[1])
		for i, word := range use {
			kind, isKind := operandKinds[word]
			switch {
			case isKind:
				p.args, p.read = kind, kind == readsAll
			case word == "any":
				p.any = true
			case word == "here":
				p.here = true
			case word == "builds":
				p.builds = true
			case word == "sub":
				p.sub = true
			case word == "single":
				single = true
			case word == "guarded" || word == "opaque":
				p.class, p.why = guarded, strings.Join(use[i+1:], " ")
				if word == "opaque" {
					p.class = opaque
				}
			case word != "git" && p.class == harmless:
				bad = append(bad, line)
			}
		}
		p.options = compileOptions(columns[2], single)
		p.options.stop = p.options.stop || p.sub
		for name := range strings.FieldsSeq(columns[0]) {
			if name != ":" {
				name = strings.ReplaceAll(name, ":", " ")
			}
			own := p
			own.judge = judges[name]
			programs[name] = &own
		}
	}
	return bad
}
