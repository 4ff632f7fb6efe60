package redact

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// needle is one form of a path.
type needle struct {
	text  string
	repl  string
	short bool // one component: it must not follow another part of a path
	slug  bool
}

var notAlnum = regexp.MustCompile(`[^A-Za-z0-9]`)

// pathNeedles returns the forms in which runtimes write a path.
func pathNeedles(path, name string) []needle {
	short := strings.Count(path, "/") == 1
	ns := []needle{
		{text: path, repl: "<" + name + ">", short: short},
		// A runtime may store a project under its path, with "-" for each other byte.
		{text: notAlnum.ReplaceAllString(path, "-"), repl: "<" + name + ":slug>", short: short, slug: true},
	}
	if !short { // a runtime may name a folder from the root on
		ns = append(ns, needle{text: strings.TrimPrefix(path, "/"), repl: "<" + name + ">"})
	}
	esc := url.QueryEscape(path)
	for _, e := range []string{esc, strings.ReplaceAll(esc, "+", "%20"), lowerHex(esc), (&url.URL{Path: path}).EscapedPath()} {
		if !slices.ContainsFunc(ns, func(n needle) bool { return n.text == e }) {
			ns = append(ns, needle{text: e, repl: "<" + name + ":url>", short: short})
		}
	}
	return ns
}

var hexEscape = regexp.MustCompile(`%[0-9A-F]{2}`)

func lowerHex(s string) string { return hexEscape.ReplaceAllStringFunc(s, strings.ToLower) }

// word is a name that is replaced if it is a whole word.
type word struct{ text, repl string }

// reserved words are names in the protocols. A host or a user of that name is
// replaced only as part of a known path.
var reserved = map[string]bool{
	"root": true, "user": true, "assistant": true, "system": true, "agent": true, "main": true, "node": true,
	"claude": true, "codex": true, "localhost": true, "default": true, "model": true, "tool": true, "text": true,
	"bash": true, "sh": true, "local": true, "code": true, "app": true, "runtime": true, "test": true, "lab": true,
	"unix": true, "linux": true, "cli": true, "host": true, "message": true, "thread": true, "session": true,
	"error": true, "result": true, "status": true, "task": true, "read": true, "write": true, "edit": true,
}

// protocolKeys are members that hold words of the protocols. A value that equals
// the host's or the user's name is there by chance.
var protocolKeys = map[string]bool{
	"type": true, "subtype": true, "role": true, "method": true, "kind": true, "status": true, "state": true,
	"source": true, "model": true, "tool": true, "tool_name": true, "behavior": true, "decision": true, "event": true,
}

// agentKeys are members that hold paths of agents, which begin with /root and are
// not folders.
var agentKeys = map[string]bool{
	"agentPath": true, "agent_path": true, "agentName": true, "agent_name": true, "author": true, "recipient": true,
}

// loopbackNames are the beginnings of what loopback matches.
var loopbackNames = []string{"127.0.0.1", "localhost", "[::1]"}

var loopback = regexp.MustCompile(`(?:127\.0\.0\.1|localhost|\[::1\])(?::|%3[Aa])(\d{2,5})\b`)

// findNames returns what is to be replaced in a text, secrets first.
func (r *Redactor) findNames(text, key string, isName bool, secrets []word) []span {
	var out []span
	addSpan := func(start, end int, repl string) {
		for _, s := range out {
			if start < s.end && s.start < end {
				return // part of a longer one
			}
		}
		out = append(out, span{start, end, repl})
	}
	for _, s := range secrets {
		eachIndex(text, s.text, func(at int) { addSpan(at, at+len(s.text), s.repl) })
	}
	for _, n := range r.needles {
		if n.text == "/root" && agentKeys[key] {
			continue
		}
		eachIndex(text, n.text, func(at int) {
			if n.fits(text, at) {
				addSpan(at, at+len(n.text), n.repl)
			}
		})
	}
	if uid := "claude-" + r.uid; strings.Contains(text, uid) {
		eachIndex(text, uid, func(at int) {
			if at > 0 && text[at-1] == '/' && !wordAt(text, at+len(uid)) {
				addSpan(at+len("claude-"), at+len(uid), "<uid>")
			}
		})
	}
	if dir := "/run/user/" + r.uid; strings.Contains(text, dir) {
		eachIndex(text, dir, func(at int) {
			if !wordAt(text, at+len(dir)) {
				addSpan(at+len("/run/user/"), at+len(dir), "<uid>")
			}
		})
	}
	if !isName {
		if containsAny(text, loopbackNames) {
			for _, m := range loopback.FindAllStringSubmatchIndex(text, -1) {
				addSpan(m[2], m[3], "<port>")
			}
		}
		for _, w := range r.words {
			if text == w.text && protocolKeys[key] {
				continue
			}
			eachIndex(text, w.text, func(at int) {
				if !wordBefore(text, at) && !wordAt(text, at+len(w.text)) && !inPlaceholder(text, at, at+len(w.text)) {
					addSpan(at, at+len(w.text), w.repl)
				}
			})
		}
	}
	slices.SortFunc(out, func(a, b span) int { return a.start - b.start })
	return out
}

func eachIndex(text, part string, f func(at int)) {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return
		}
		f(from + i)
		from += i + len(part)
	}
}

// fits reports whether the path ends after the match, so that /home/ann is not
// found in /home/anna.
func (n needle) fits(text string, at int) bool {
	end := at + len(n.text)
	if wordAt(text, end) {
		return false
	}
	if end < len(text) && !n.slug {
		switch text[end] {
		case '-':
			return false
		case '.':
			if wordAt(text, end+1) {
				return false
			}
		}
	}
	if !n.short && !n.slug {
		return true
	}
	return !wordBefore(text, at) && (at == 0 || !n.short || !strings.ContainsRune("-.", rune(text[at-1])))
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func wordAt(text string, i int) bool { return i < len(text) && isWord(text[i]) }

var ansiEnd = regexp.MustCompile(`(?:\x1b|\\x1b|\\u001b|\\e)\[[0-9;]*m$`)

// wordBefore reports whether a word ends at i. The letter of an escape (JSON inside
// a string, a colour) is not a word.
func wordBefore(text string, i int) bool {
	if i == 0 || !isWord(text[i-1]) {
		return false
	}
	if i > 1 && text[i-2] == '\\' && strings.IndexByte("nrtbf", text[i-1]) >= 0 {
		return false
	}
	return text[i-1] != 'm' || !ansiEnd.MatchString(text[max(0, i-24):i])
}

func inPlaceholder(text string, start, end int) bool {
	return start > 0 && text[start-1] == '<' && end < len(text) && (text[end] == '>' || text[end] == ':')
}
