// Package codexcli holds what the adapters of `codex app-server` and `codex exec` share: where the
// program is, the options that both subcommands take, and how both report a command line.
package codexcli

import (
	"path"
	"strings"
)

// Unwrap returns the command inside the shell that the runtime wraps it in: for
// /bin/bash -lc 'echo hi' it returns echo hi. Other commands are returned
// unchanged.
func Unwrap(s string) string {
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
