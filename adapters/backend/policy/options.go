package policy

import (
	"regexp"
	"slices"
	"strings"
)

// option is an option of a command. Its kind comes from the program's table, where
// programs.txt documents it. 0 means that it takes no value, and x that it is not in the
// table.
type option struct {
	name  string
	kind  byte
	value field
}

// optionKinds are the kinds of options that are not 0, from the least harmful to the most.
const optionKinds = ":?^@<>$!"

// parsed holds the words of a command, split into options and operands.
type parsed struct {
	options  []option
	operands []field
	rest     []field // after -args of a program with single options
}

func (p *parsed) hasOption(names ...string) bool {
	return slices.ContainsFunc(p.options, func(o option) bool { return slices.Contains(names, o.name) })
}

// mayHold reports whether one of these options, or an unknown word, is among the options.
func (p *parsed) mayHold(names ...string) bool {
	return p.hasOption(names...) || slices.ContainsFunc(p.options, func(o option) bool { return o.kind == 'x' })
}

// valueOf returns the value of the last of these options.
func (p *parsed) valueOf(names ...string) (v field) {
	for _, o := range p.options {
		if slices.Contains(names, o.name) {
			v = o.value
		}
	}
	return v
}

// spec is a compiled table of options.
type spec struct {
	short  map[byte]byte
	long   map[string]byte
	stop   bool // options end with the first operand
	single bool // long options have one dash or two
}

// compileOptions reads the options of programs.txt.
func compileOptions(table string, single bool) *spec {
	s := &spec{short: map[byte]byte{}, long: map[string]byte{}, single: single}
	for t := range strings.FieldsSeq(table) {
		name, long := strings.CutPrefix(t, "--")
		switch {
		case t == "+":
			s.stop = true
		case long || single:
			k := byte(0)
			if i := len(name) - 1; strings.IndexByte(optionKinds, name[i]) >= 0 {
				k, name = name[i], name[:i]
			}
			s.long[name] = k
		default:
			for i := 0; i < len(t); i++ {
				k := byte(0)
				if i+1 < len(t) && strings.IndexByte(optionKinds, t[i+1]) >= 0 {
					k = t[i+1]
				}
				s.short[t[i]] = k
				if k != 0 {
					i++
				}
			}
		}
	}
	return s
}

var looksLikeOption = regexp.MustCompile(`^--?[[:alpha:]]`)

// takesWord reports whether an option of this kind takes the next word as its value.
func takesWord(kind byte) bool { return kind != 0 && strings.IndexByte(":@<>$", kind) >= 0 }

// parse splits words by the table, as getopt_long does, or as Go's package flag does if
// options are single: options may follow operands.
func (s *spec) parse(words []field) (out parsed) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		add := func(name string, kind byte, v field) { out.options = append(out.options, option{name, kind, v}) }
		// addNext takes the next word as the option's value.
		addNext := func(name string, kind byte) {
			v := field{known: true, src: "nothing"}
			if i++; i < len(words) {
				v = words[i]
			}
			if v.splits || v.glob || !s.single && looksLikeOption.MatchString(v.text) {
				add(v.src, 'x', v) // more words may follow, and a program may not take it as the value
			}
			add(name, kind, v)
		}
		switch {
		case !w.known && w.mayBeOption():
			add(w.src, 'x', w)
			out.operands = append(out.operands, w)
		case !w.known || len(w.text) < 2 || w.text[0] != '-':
			out.operands = append(out.operands, w)
			if s.stop {
				out.operands = append(out.operands, words[i+1:]...)
				return out
			}
		case w.text == "--":
			out.operands = append(out.operands, words[i+1:]...)
			return out
		case s.single && (w.text == "-args" || w.text == "--args"):
			out.rest = words[i+1:]
			return out
		case s.single || strings.HasPrefix(w.text, "--"):
			name, v, has := strings.Cut(strings.TrimPrefix(w.text[1:], "-"), "=")
			kind, full := s.findLong(name)
			if !s.single || len(full) > 1 {
				full = "-" + full
			}
			full = "-" + full
			switch {
			case has && kind == 0 && (!s.single || v != "true" && v != "false"):
				add(full, 'x', literalField(v)) // the option takes no value
			case has:
				add(full, kind, literalField(v))
			case takesWord(kind):
				addNext(full, kind)
			default:
				add(full, kind, field{known: true})
			}
		default:
			for k := 1; k < len(w.text); k++ {
				name := "-" + w.text[k:k+1]
				kind, ok := s.short[w.text[k]]
				rest := w.text[k+1:]
				switch {
				case !ok:
					add(name, 'x', field{known: true})
				case takesWord(kind) && rest == "":
					addNext(name, kind)
				case takesWord(kind) || kind == '?':
					add(name, kind, literalField(rest))
					k = len(w.text)
				default:
					add(name, kind, field{known: true})
				}
			}
		}
	}
	return out
}

// findLong returns the kind of a long option. An abbreviation is not in the table, because
// it may be that of an option that the table does not have; but one of an option that
// writes or is denied is treated as that option.
func (s *spec) findLong(name string) (kind byte, full string) {
	if k, ok := s.long[name]; ok {
		return k, name
	}
	kind, full = 'x', name
	if s.single || len(name) < 2 {
		return kind, full
	}
	for long, k := range s.long {
		rank := strings.IndexByte("<>$!", k)
		if k != 0 && rank > strings.IndexByte("<>$!", kind) && strings.HasPrefix(long, name) || k == kind && k != 'x' && strings.HasPrefix(long, name) && long < full {
			kind, full = k, long
		}
	}
	return kind, full
}
