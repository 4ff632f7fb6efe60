package policy

import (
	"errors"
	"strings"
)

// setting is one line of a git configuration: the key in lower case, except for the
// subsection, as section.key or section.subsection.key.
type setting struct{ key, value string }

// name returns the key without its subsection: remote.*.url.
func (s setting) name() string {
	first, last := strings.IndexByte(s.key, '.'), strings.LastIndexByte(s.key, '.')
	if first == last {
		return s.key
	}
	return s.key[:first] + ".*" + s.key[last:]
}

var errGitConfig = errors.New("it cannot be parsed as a git configuration")

// parseGitConfig reads a git configuration file. It accepts less than git does:
// anything unusual is an error, so that it never reads a setting otherwise than git.
func parseGitConfig(text string) (out []setting, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	section := ""
	for text != "" {
		var line string
		switch text[0] {
		case ' ', '\t', '\n':
			text = text[1:]
		case '#', ';':
			_, text, _ = strings.Cut(text, "\n")
		case '[':
			if section, text, err = gitSection(text[1:]); err != nil {
				return nil, err
			}
		default:
			if section == "" {
				return nil, errGitConfig
			}
			i := 0
			for i < len(text) && (isLetter(text[i]) || i > 0 && (text[i] == '-' || text[i] >= '0' && text[i] <= '9')) {
				i++
			}
			if i == 0 {
				return nil, errGitConfig
			}
			line, text = text[:i], strings.TrimLeft(text[i:], " \t")
			s := setting{section + "." + strings.ToLower(line), "true"}
			switch {
			case text == "" || text[0] == '\n':
			case text[0] == '=':
				if s.value, text, err = gitValue(text[1:]); err != nil {
					return nil, err
				}
			default:
				return nil, errGitConfig
			}
			out = append(out, s)
		}
	}
	return out, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// gitSection reads a section header after its bracket.
func gitSection(text string) (section, rest string, err error) {
	i := 0
	for i < len(text) && (isLetter(text[i]) || text[i] == '-' || text[i] == '.' || text[i] >= '0' && text[i] <= '9') {
		i++
	}
	section, rest = strings.ToLower(text[:i]), text[i:]
	if section == "" || rest == "" {
		return "", "", errGitConfig
	}
	if rest[0] == ']' {
		return section, rest[1:], nil
	}
	rest = strings.TrimLeft(rest, " \t")
	if rest == "" || rest[0] != '"' || strings.Contains(section, ".") {
		return "", "", errGitConfig
	}
	var sub strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; c {
		case '\n':
			return "", "", errGitConfig
		case '\\':
			if i++; i == len(rest) || rest[i] == '\n' {
				return "", "", errGitConfig
			}
			sub.WriteByte(rest[i])
		case '"':
			if i+1 == len(rest) || rest[i+1] != ']' {
				return "", "", errGitConfig
			}
			return section + "." + sub.String(), rest[i+2:], nil
		default:
			sub.WriteByte(c)
		}
	}
	return "", "", errGitConfig
}

// gitValue reads a value after its equals sign, to the end of its line.
func gitValue(text string) (value, rest string, err error) {
	var sb strings.Builder
	quoted, spaces := false, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !quoted && (c == ' ' || c == '\t') { // dropped at the beginning and at the end
			spaces++
			continue
		}
		switch {
		case c == '\n' && quoted, c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			return "", "", errGitConfig
		case c == '\n':
			return sb.String(), text[i+1:], nil
		case (c == '#' || c == ';') && !quoted:
			_, rest, _ = strings.Cut(text[i:], "\n")
			return sb.String(), rest, nil
		}
		if sb.Len() > 0 {
			sb.WriteString(strings.Repeat(" ", spaces))
		}
		spaces = 0
		switch c {
		case '\\':
			if i++; i == len(text) {
				return "", "", errGitConfig
			}
			switch text[i] {
			case '\n':
			case 'n':
				sb.WriteByte('\n')
			case 't':
				sb.WriteByte('\t')
			case 'b':
				sb.WriteByte('\b')
			case '\\', '"':
				sb.WriteByte(text[i])
			default:
				return "", "", errGitConfig
			}
		case '"':
			quoted = !quoted
		default:
			sb.WriteByte(c)
		}
	}
	if quoted {
		return "", "", errGitConfig
	}
	return sb.String(), "", nil
}
