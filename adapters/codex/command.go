package codex

import (
	"path"
	"strings"
)

// unwrap returns the command inside the shell that the runtime wraps it in: for
// /bin/bash -lc 'echo hi' it returns echo hi. Other commands are returned
// unchanged.
func unwrap(s string) string {
	shell, rest, ok := strings.Cut(s, " ")
	if !ok {
		return s
	}
	switch path.Base(shell) {
	case "bash", "sh", "zsh", "dash":
	default:
		return s
	}
	flag, arg, ok := strings.Cut(rest, " ")
	if !ok || (flag != "-lc" && flag != "-c") {
		return s
	}
	if out, ok := unquote(arg); ok {
		return out
	}
	return s
}

// unquote decodes one shell word without expansions.
func unquote(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '\'':
			n := strings.IndexByte(s[i+1:], '\'')
			if n < 0 {
				return "", false
			}
			b.WriteString(s[i+1 : i+1+n])
			i += n + 2
		case '"':
			i++
			for i < len(s) && s[i] != '"' {
				if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
					i++
				}
				b.WriteByte(s[i])
				i++
			}
			if i >= len(s) {
				return "", false
			}
			i++
		case '\\':
			if i+1 >= len(s) {
				return "", false
			}
			b.WriteByte(s[i+1])
			i += 2
		case ' ', '\t', '\n', ';', '|', '&', '<', '>', '(', ')', '$', '`':
			return "", false // more than one word
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), true
}

// reads describes what a command reads, from the runtime's own analysis. A
// command is a file read if every part of it only reads, lists or searches.
type reads struct {
	is         bool
	file       string
	pattern    string
	searchPath string
}

func readsOf(actions []commandAction) (r reads) {
	r.is = len(actions) > 0
	for _, a := range actions {
		switch a.Type {
		case "read":
			if r.file == "" {
				r.file = string(a.Path)
			}
		case "listFiles":
			if r.searchPath == "" {
				r.searchPath = string(a.Path)
			}
		case "search":
			if r.pattern == "" {
				r.pattern, r.searchPath = string(a.Query), string(a.Path)
			}
		default:
			r.is = false
		}
	}
	if !r.is {
		return reads{}
	}
	return r
}
