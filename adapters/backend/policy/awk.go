package policy

import (
	"regexp"
	"slices"
	"strings"
)

// awkNames are the names of an awk program that are known to be harmless: those that begin
// with a small letter are of the language; others are variables that awk reads.
var (
	awkNames    = listedNames("awk")
	awkReserved = listedNames("awk reserved")
)

// awkProblem returns why a program is not known to be harmless, or "". It reads the tokens
// of patterns, print and expressions. A print may not be redirected.
func awkProblem(f field) string {
	if !f.known {
		return "unknown program of awk"
	}
	rest, depth, parens := f.text, 0, 0
	value := false    // the token before ends an operand, so / divides
	printing := -1    // the parentheses around the current print, or -1
	doubtful := false // after the token before, / may divide or begin a pattern
	control := false  // the program has an if, a for or a while
	for rest != "" {
		c := rest[0]
		size := 1
		was, doubt := value, doubtful
		value, doubtful = false, false
		switch {
		case c == ' ' || c == '\t':
			value, doubtful = was, doubt
		case strings.IndexByte("{};\n", c) >= 0:
			if c != '\n' || was && parens == 0 { // behind a comma or an operator, print goes on
				printing = -1
			}
			depth += map[byte]int{'{': 1, '}': -1}[c]
		case c == '"':
			size, value = delimitedLength(rest, c, false), true
		case c == '/' && doubt:
			return unlistedAwk("a / behind a condition, + or -")
		case c == '/' && !was:
			size, value = delimitedLength(rest, c, true), true
		case c >= '0' && c <= '9' || c == '.':
			size = len(rest) - len(strings.TrimLeft(rest, "0123456789."))
			value = true
		case isLetter(c) || c == '_':
			size = len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"))
			name := rest[:size]
			known := slices.Contains(awkNames, name)
			call := strings.HasPrefix(rest[size:], "(")
			if !known && (call || strings.ToLower(name) != name || slices.Contains(awkReserved, name)) {
				return unlistedAwk(name)
			}
			if strings.HasPrefix(name, "print") && known && printing < 0 {
				printing = parens
			}
			control = control || slices.Contains([]string{"if", "for", "while"}, name)
			doubtful = name == "length"
			value = !slices.Contains([]string{"print", "printf", "in", "else", "do", "exit"}, name)
		case c == '(' || c == '[':
			parens++
		case c == ')' || c == ']':
			parens--
			value, doubtful = true, control
		case strings.HasPrefix(rest, "||") || strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, ">=") && (printing < 0 || parens > printing):
			size = 2
		case c == '>' && printing >= 0 && parens <= printing, c == '|':
			return unlistedAwk("a print to " + string(c))
		case strings.HasPrefix(rest, ">>"):
			return unlistedAwk(">>")
		case c == '+' || c == '-':
			value, doubtful = was, was // x++ / 2, x - /a/
		case strings.IndexByte("$,!~<>=*/%?:^", c) >= 0:
		default:
			return unlistedAwk(string(c))
		}
		if size <= 0 || depth < 0 || parens < 0 {
			return "the program of awk cannot be read at " + rest + "; write texts in one line, without ] or / in brackets"
		}
		rest = rest[size:]
	}
	if depth != 0 || parens != 0 {
		return "the program of awk cannot be read"
	}
	return ""
}

func unlistedAwk(what string) string {
	return "in awk " + unlisted(what, "patterns and print, with > and | of the shell behind the program")
}

// delimitedLength returns the length of a text of awk or sed with its two delimiters, or 0 if
// it does not end in its line. A backslash escapes. In a pattern the delimiter may not be in
// brackets, because implementations disagree about it.
func delimitedLength(s string, delim byte, pattern bool) int {
	bracket := 0 // its end
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '[' && pattern && i >= bracket:
			if bracket = i + len(plainBracket.FindString(s[i:])); bracket == i {
				return 0
			}
		case s[i] == delim && i < bracket:
			return 0
		case s[i] == delim:
			return i + 1
		}
	}
	return 0
}

// plainBracket matches a bracket expression whose end all implementations of awk and sed find
// at the same place, if the delimiter is not in it.
var plainBracket = regexp.MustCompile(`^\[\^?(\[:[a-z]+:\]|\\[^][\n]|[^][\\\n^])(\[:[a-z]+:\]|\\[^][\n]|[^][\\\n])*\]`)
