package policy

import "strings"

// sedProblem returns why a script is not harmless: w, r, e and everything that cannot be
// parsed. It returns "" for a script that only edits.
func sedProblem(f field) string {
	if !f.known {
		return "unknown script"
	}
	s := sedScript{f.text}
	for {
		s.skip(" \t\n;}")
		if s.rest == "" {
			return ""
		}
		if s.rest[0] == '#' {
			s.skipLine()
			continue
		}
		for s.takeAddress() {
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
		case 0:
			return unreadableText
		case '{', 'p', 'd', 'n', '=':
		case 'q', 'Q':
			s.skip(" \t0123456789")
		case 'a', 'i', 'c':
			// The text extends to the end of the script. With backslashes it may
			// have several lines, and one that looks like text may be a command.
			text := strings.TrimPrefix(strings.TrimLeft(s.rest, " \t"), `\`)
			if text == "" || strings.ContainsAny(text, "\\\n}") {
				return "the script has a text of several lines"
			}
			s.rest = ""
		case 's', 'y':
			if !s.takeSubstitute(cmd) {
				return unreadableText
			}
			if s.rest != "" && strings.ContainsRune("ew", rune(s.rest[0])) {
				return "a substitution runs or writes"
			}
		default:
			return "the script reads, writes or runs something: " + unlisted("the command "+string(cmd)+" of sed", "s, d and p")
		}
		s.skip(" \t")
		if s.rest != "" && cmd != '{' && !strings.ContainsRune(";\n}#", rune(s.rest[0])) {
			return "the script cannot be read"
		}
	}
}

const unreadableText = "the script cannot be read; write one line without ] or the delimiter in brackets"

// sedScript is the rest of a script.
type sedScript struct{ rest string }

func (s *sedScript) skip(cutset string) { s.rest = strings.TrimLeft(s.rest, cutset) }

func (s *sedScript) skipLine() {
	_, s.rest, _ = strings.Cut(s.rest, "\n")
}

// takeAddress takes one address, if there is one.
func (s *sedScript) takeAddress() bool {
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
		if !s.takeUntil('/') {
			s.rest = "\x00" // no command: it cannot be read
			return false
		}
		s.skip("IM")
		return true
	}
	return false
}

// takeUntil takes the text up to a delimiter, and the delimiter.
func (s *sedScript) takeUntil(delim byte) bool {
	size := delimitedLength(string(delim)+s.rest, delim, true)
	s.rest = s.rest[max(size-1, 0):]
	return size > 0
}

// takeSubstitute takes the rest of an s or y command.
func (s *sedScript) takeSubstitute(cmd byte) bool {
	if s.rest == "" || strings.ContainsRune("\\\n \t;}[]", rune(s.rest[0])) || s.rest[0] >= 0x80 {
		return false
	}
	d := s.rest[0]
	s.rest = s.rest[1:]
	for range 2 {
		if !s.takeUntil(d) {
			return false
		}
	}
	if cmd == 's' {
		s.skip("gpIi0123456789")
	}
	return true
}
