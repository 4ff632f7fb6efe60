package policy

import "strings"

// sedWrong says what of a script cannot be allowed: w, r, e and what is not
// understood. "" is a script that only edits.
func sedWrong(f field) string {
	if !f.known {
		return "nobody knows the script"
	}
	s := sedScript{f.text}
	for {
		s.skip(" \t\n;}")
		if s.rest == "" {
			return ""
		}
		if s.rest[0] == '#' {
			s.line()
			continue
		}
		for s.address() {
			s.skip(" \t")
			if !strings.HasPrefix(s.rest, ",") {
				break
			}
			s.rest = s.rest[1:]
			s.skip(" \t")
		}
		s.skip(" \t!")
		if s.rest == "" {
			return "the script cannot be read"
		}
		cmd := s.rest[0]
		s.rest = s.rest[1:]
		switch cmd {
		case '{', 'p', 'P', 'd', 'D', 'n', 'N', 'g', 'G', 'h', 'H', 'x', '=', 'z', 'F':
		case 'q', 'Q', 'l', 'L':
			s.skip(" \t0123456789")
		case 'b', 't', 'T', ':':
			s.skip(" \t")
			s.skip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
		case 'a', 'i', 'c':
			// The text goes on to the end of the script: with backslashes it may
			// have many lines, and what seems a line of it could be a command.
			if strings.ContainsAny(s.rest, "\\\n}") {
				return "the script has a text of several lines"
			}
			s.rest = ""
		case 's', 'y':
			if !s.substitute(cmd) {
				return "the script cannot be read"
			}
			if s.rest != "" && strings.ContainsRune("ew", rune(s.rest[0])) {
				return "a substitution runs or writes"
			}
		default:
			return "the script reads, writes or runs something: " + string(cmd)
		}
		s.skip(" \t")
		if s.rest != "" && cmd != '{' && !strings.ContainsRune(";\n}#", rune(s.rest[0])) {
			return "the script cannot be read"
		}
	}
}

// sedScript is what is left of a script.
type sedScript struct{ rest string }

func (s *sedScript) skip(cutset string) { s.rest = strings.TrimLeft(s.rest, cutset) }

func (s *sedScript) line() {
	_, s.rest, _ = strings.Cut(s.rest, "\n")
}

// address takes one address, if there is one.
func (s *sedScript) address() bool {
	if s.rest == "" {
		return false
	}
	switch s.rest[0] {
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '$', '+', '~':
		s.rest = s.rest[1:]
		s.skip("0123456789~")
		return true
	case '/':
		s.rest = s.rest[1:]
		if !s.until('/') {
			s.rest = "\x00" // no command: it cannot be read
			return false
		}
		s.skip("IM")
		return true
	}
	return false
}

// until takes what stands before a delimiter, and that too. Within brackets and
// behind a backslash it is no delimiter; as sed and others disagree about
// brackets, one that holds the delimiter is refused.
func (s *sedScript) until(delim byte) bool {
	bracket := false
	for i := 0; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\n':
			return false
		case '\\':
			i++
		case '[':
			bracket = true
		case ']':
			bracket = false
		case delim:
			if bracket {
				return false
			}
			s.rest = s.rest[i+1:]
			return true
		}
	}
	return false
}

// substitute takes what follows s or y.
func (s *sedScript) substitute(cmd byte) bool {
	if s.rest == "" || strings.ContainsRune("\\\n \t;}[]", rune(s.rest[0])) || s.rest[0] >= 0x80 {
		return false
	}
	d := s.rest[0]
	s.rest = s.rest[1:]
	for range 2 {
		if !s.until(d) {
			return false
		}
	}
	if cmd == 's' {
		s.skip("gpIi0123456789")
	}
	return true
}
