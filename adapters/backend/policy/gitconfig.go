package policy

import (
	"errors"
	"regexp"
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

// The lines of a git configuration that are read: what is quoted, escaped or continued is not.
var (
	gitSection  = regexp.MustCompile(`^\[([A-Za-z0-9-]+)(?:[ \t]+"([^"\\\x00]+)")?\]$`)
	gitVariable = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*)(?:[ \t]*=[ \t]*(?:"([^"\\\x00-\x1f\x7f]*)"|([^"\\#;\x00-\x08\x0a-\x1f\x7f]*)))?$`)
)

// parseGitConfig reads a git configuration file. It accepts less than git does: anything
// unusual is an error, so that it never reads a setting otherwise than git.
func parseGitConfig(text string) (out []setting, err error) {
	section := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line = strings.Trim(line, " \t")
		head, variable := gitSection.FindStringSubmatch(line), gitVariable.FindStringSubmatch(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case head != nil && head[2] == "":
			section = strings.ToLower(head[1])
		case head != nil:
			section = strings.ToLower(head[1]) + "." + head[2]
		case variable != nil && section != "":
			value := variable[2] + variable[3]
			if !strings.Contains(line, "=") {
				value = "true"
			}
			out = append(out, setting{section + "." + strings.ToLower(variable[1]), value})
		default:
			return nil, errors.New("it has a line that the policy does not read: " + line)
		}
	}
	return out, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
