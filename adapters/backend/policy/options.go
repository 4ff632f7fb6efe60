package policy

import (
	"slices"
	"strings"
)

// option is an option of a command. Its kind comes from the program's table:
//
//	0  takes no value, is harmless
//	:  takes a value        ?  may take one (--x=value, -xvalue)
//	<  takes a path to read
//	>  takes a path to write
//	!  is denied
//	x  is not in the table
type option struct {
	name  string
	kind  byte
	value field
}

// parsed holds the words of a command, split into options and operands.
type parsed struct {
	options  []option
	operands []field
}

func (p *parsed) hasOption(names ...string) bool {
	return slices.ContainsFunc(p.options, func(o option) bool { return slices.Contains(names, o.name) })
}

// spec is a compiled table of options.
type spec struct {
	short map[byte]byte
	long  map[string]byte
	stop  bool // options end with the first operand
}

// compileOptions reads a table: letters and --names, each followed by its kind. A single
// "+" means that options end at the first operand.
func compileOptions(table string) *spec {
	s := &spec{short: map[byte]byte{}, long: map[string]byte{}}
	for t := range strings.FieldsSeq(table) {
		switch name, long := strings.CutPrefix(t, "--"); {
		case t == "+":
			s.stop = true
		case long:
			k := byte(0)
			if i := len(name) - 1; strings.IndexByte(":?<>!", name[i]) >= 0 {
				k, name = name[i], name[:i]
			}
			s.long[name] = k
		default:
			for i := 0; i < len(t); i++ {
				k := byte(0)
				if i+1 < len(t) && strings.IndexByte(":?<>!", t[i+1]) >= 0 {
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

// parseOptions splits words by a table, as getopt_long does: options may follow
// operands, and long names may be abbreviated.
func parseOptions(table string, words []field) (out parsed) {
	s := compileOptions(table)
	for i := 0; i < len(words); i++ {
		w := words[i]
		// value takes the next word as the option's value.
		value := func(name string, kind byte) {
			v := field{known: true, src: "nothing"}
			if i++; i < len(words) {
				v = words[i]
			}
			if v.splits || v.glob {
				out.options = append(out.options, option{name: v.src, kind: 'x'}) // more words may follow
			}
			out.options = append(out.options, option{name, kind, v})
		}
		switch {
		case !w.known && w.mayBeOption():
			out.options = append(out.options, option{name: w.src, kind: 'x'})
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
		case strings.HasPrefix(w.text, "--"):
			name, v, has := strings.Cut(w.text[2:], "=")
			kind, full := s.findLong(name)
			switch {
			case has:
				if kind == 0 {
					kind = 'x' // the option takes no value
				}
				out.options = append(out.options, option{"--" + full, kind, literalField(v)})
			case kind == ':' || kind == '<' || kind == '>':
				value("--"+full, kind)
			default:
				out.options = append(out.options, option{name: "--" + full, kind: kind})
			}
		default:
			for k := 1; k < len(w.text); k++ {
				name := "-" + w.text[k:k+1]
				kind, ok := s.short[w.text[k]]
				if !ok {
					out.options = append(out.options, option{name: name, kind: 'x'})
					continue
				}
				if kind == ':' || kind == '<' || kind == '>' {
					if rest := w.text[k+1:]; rest != "" {
						out.options = append(out.options, option{name, kind, literalField(rest)})
					} else {
						value(name, kind)
					}
					break
				}
				if kind == '?' {
					out.options = append(out.options, option{name, kind, literalField(w.text[k+1:])})
					break
				}
				out.options = append(out.options, option{name: name, kind: kind})
			}
		}
	}
	return out
}

// findLong returns the kind of a long option. If the name abbreviates several options,
// it returns the worst kind.
func (s *spec) findLong(name string) (kind byte, full string) {
	if k, ok := s.long[name]; ok {
		return k, name
	}
	kind, full = 'x', name
	for long, k := range s.long {
		if !strings.HasPrefix(long, name) {
			continue
		}
		if kind == 'x' || strings.IndexByte("\x00?:<>!", k) > strings.IndexByte("\x00?:<>!", kind) || k == kind && long < full {
			kind, full = k, long
		}
	}
	return kind, full
}
