package standin

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

func (d claudeDialect) started(argv, env []string) settings {
	s := settings{asks: d.mode(argv), model: getenv(env, "ANTHROPIC_MODEL")}
	if model, ok := value(argv, "--model"); ok {
		s.model = model
	}
	if schema, ok := value(argv, "--json-schema"); ok {
		s.schema = canonical(jsontext.Value(schema))
	}
	return s
}

// opening says which session a command line opens.
func opening(argv []string) string {
	resume, resumes := value(argv, "--resume", "-r")
	if !resumes {
		return "a new session"
	}
	out := "--resume " + resume
	if slices.Contains(argv, "--fork-session") {
		out += " --fork-session"
	}
	if at, ok := value(argv, "--resume-session-at"); ok {
		out += " --resume-session-at " + at
	}
	return out
}

func (claudeDialect) mode(argv []string) string {
	mode, ok := value(argv, "--permission-mode")
	switch {
	case ok:
		return mode
	case slices.Contains(argv, "--dangerously-skip-permissions"):
		return "bypassPermissions"
	}
	return "default"
}

func (claudeDialect) modeMember(line []byte) (span, bool) {
	for _, path := range [][]string{{"permissionMode"}, {"response", "response", "current_permission_mode"}} {
		if !bytes.Contains(line, []byte(path[len(path)-1])) {
			continue
		}
		if at, ok := member(line, path...); ok && line[at.from] == '"' {
			return span{at.from + 1, at.to - 1}, true
		}
	}
	return span{}, false
}

func (claudeDialect) onSignal(s string) (int, bool) {
	switch s {
	case "SIGTERM":
		return 143, false
	case "SIGHUP":
		return 129, false
	case "SIGINT":
		return 0, false
	}
	return 0, true
}
