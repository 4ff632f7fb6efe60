package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// This many adjacent words that are not known are the prose of a vendor.
const (
	proseWords      = 6
	describingWords = 4 // in a member that describes something
)

// describing are members that hold descriptions.
var describing = map[string]bool{
	"description": true, "argumentHint": true, "argument_hint": true, "whenToUse": true, "when_to_use": true,
	"shortDescription": true, "short_description": true, "longDescription": true, "instructions": true,
	"defaultPrompt": true, "tooltip": true, "helpText": true,
}

// kept are members that are never prose.
var kept = map[string]bool{
	"userAgent": true, "command": true, "cmd": true, "path": true, "cwd": true, "method": true, "type": true,
	"model": true, "displayName": true, "display_name": true, "name": true, "id": true, "signature": true,
}

// phrases are constants of the protocols that clients compare with.
var phrases = []string{
	"[Request interrupted by user for tool use]",
	"The user doesn't want to proceed with this tool use.",
	"Tool permission stream closed before response received",
	"no rollout found for thread id",
	"Resource not found: Session",
	"expected active turn id",
	"ephemeral threads do not support includeTurns",
	"stream disconnected before completion:",
	"Invalid request: unknown variant",
	"requires experimentalApi capability",
	"Info: Response was interrupted due to a server error. Retrying...",
	"Info: Request failed due to a transient API error. Retrying...",
	"Info: The conversation exceeded the model's context limit. Compacting history and retrying...",
	"Error: Failed to get response from the AI model; retried",
	"completed with exit code",
	"Error: Model",
	"Error: Authentication failed with provider at",
	"Error: The provider rejected the prompt as too long, but automatic recovery could not reduce it.",
}

// nameList matches the list of values that a runtime would have accepted. It is
// long, and the schemas hold it too.
var nameList = regexp.MustCompile("(?:`[^`\\s]+`, ){5,}`[^`\\s]+`")

// anyPlaceholder matches each placeholder that this package can write. Prose never
// contains one.
var anyPlaceholder = regexp.MustCompile(`<[a-z][a-z0-9-]*(?::[a-z0-9]+)?>`)

// placeholders matches the placeholders of these paths and the general ones. The
// prose of a vendor holds words in angle brackets too.
func placeholders(names []string) *regexp.Regexp {
	return regexp.MustCompile(`<(?:home|work|tmp|host|user|uid|port|(?:secret|elided):\d+` +
		strings.Join(append([]string{""}, names...), "|") + `)(?::slug|:url)?>`)
}

// eliding finds prose. Texts that are in the witness and in the wire are parts.
// They are elided in the same way everywhere, so that a text which contained a part
// still contains it.
type eliding struct {
	corpus *corpus
	stops  *regexp.Regexp // placeholders
	parts  []part         // the longest first
	seen   map[string]bool
}

// part is a text that other texts may contain.
type part struct {
	text  string
	form  string // what the others contain: the text, or its form as JSON inside a string
	lines bool   // it has no prose, so it is a part only where it stands on lines of its own
}

// addPart adds a text if a result contains it.
func (e *eliding) addPart(text string, results []string) {
	text = strings.Trim(text, "\n")
	if e.seen[text] || strings.IndexFunc(text, unicode.IsLetter) < 0 {
		return
	}
	if e.seen == nil {
		e.seen = map[string]bool{}
	}
	e.seen[text] = true
	plain := part{text, text, len(e.runs(text, proseWords)) == 0}
	escaped := part{text, inString(text), false}
	contains := func(p part) bool {
		return slices.ContainsFunc(results, func(r string) bool { return p.index(r) >= 0 })
	}
	if contains(plain) {
		e.parts = append(e.parts, plain)
	}
	if !plain.lines && escaped.form != text && contains(escaped) {
		e.parts = append(e.parts, escaped)
	}
}

func (e *eliding) sortParts() {
	slices.SortStableFunc(e.parts, func(a, b part) int { return len(b.form) - len(a.form) })
}

// index returns where a text contains the part; -1: it does not.
func (p part) index(text string) int {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], p.form)
		if i < 0 {
			return -1
		}
		from += i
		end := from + len(p.form)
		if !p.lines || (from == 0 || text[from-1] == '\n') && (end == len(text) || text[end] == '\n') {
			return from
		}
	}
}

// findProse returns what is to be elided in the text.
func (e *eliding) findProse(text string, least int) []span {
	if len(e.runs(text, least)) == 0 {
		return nil
	}
	if least == proseWords {
		for _, p := range e.parts {
			if len(p.form) > len(text) || p.text == text {
				continue
			}
			i := p.index(text)
			if i < 0 {
				continue
			}
			out := e.findProse(text[:i], least)
			out = append(out, shifted(e.proseOf(p), i)...)
			i += len(p.form)
			return append(out, shifted(e.findProse(text[i:], least), i)...)
		}
	}
	return e.runs(text, least)
}

// proseOf returns what is to be elided in the form of a part.
func (e *eliding) proseOf(p part) []span {
	spans := e.findProse(p.text, proseWords)
	if p.form != p.text {
		for i := range spans {
			spans[i].start, spans[i].end = len(inString(p.text[:spans[i].start])), len(inString(p.text[:spans[i].end]))
		}
	}
	return spans
}

// inString returns a text as JSON inside a string.
func inString(text string) string {
	b, _ := jsontext.AppendQuote(nil, text) // its only error is invalid UTF-8, which it replaces
	return string(b[1 : len(b)-1])
}

func shifted(spans []span, by int) []span {
	for i := range spans {
		spans[i].start += by
		spans[i].end += by
	}
	return spans
}

// runs finds runs of at least so many words that are not known. A word is a text
// between white space that holds a letter; a path is one word.
func (e *eliding) runs(text string, least int) []span {
	if at := nameList.FindStringIndex(text); at != nil {
		out := append(e.runs(text[:at[0]], least), span{at[0], at[1], fmt.Sprintf("<elided:%d>", at[1]-at[0])})
		return append(out, shifted(e.runs(text[at[1]:], least), at[1])...)
	}
	words := fields(text)
	if len(words) < least {
		return nil
	}
	toks := splitWords(text)
	covered := e.corpus.covered(text, toks)
	mark := func(start, end int) {
		for i, t := range toks {
			if t.start < end && start < t.end {
				covered[i] = true
			}
		}
	}
	for _, m := range e.stops.FindAllStringIndex(text, -1) {
		mark(m[0], m[1])
	}
	for _, ph := range phrases {
		eachIndex(text, ph, func(at int) { mark(at, at+len(ph)) })
	}
	var out []span
	var n, from, to int
	flush := func() {
		if n >= least {
			out = append(out, span{from, to, fmt.Sprintf("<elided:%d>", to-from)})
		}
		n = 0
	}
	ti := 0
	for _, f := range words {
		var letters, known bool
		last := -1
		for ; ti < len(toks) && toks[ti].start < f.end; ti++ {
			if !toks[ti].letter {
				continue
			}
			letters, last = true, ti
			known = known || covered[ti]
		}
		switch {
		case known, isLetterAlone(text, f):
			flush()
		case letters:
			if n == 0 {
				from = f.start + lead(text[f.start:toks[last].start])
			}
			n++
			to = toks[last].end
			for to < f.end && strings.IndexByte(".,;:!?)>", text[to]) >= 0 {
				to++
			}
		}
	}
	flush()
	return out
}

// isLetterAlone reports whether a word is one letter, alone on its line. No prose is,
// but the output of a command may be.
func isLetterAlone(text string, f wordPos) bool {
	return utf8.RuneCountInString(text[f.start:f.end]) == 1 &&
		f.start > 0 && text[f.start-1] == '\n' && (f.end == len(text) || text[f.end] == '\n')
}

// lead is the length of the punctuation before a word, or of everything up to a
// quote, so that JSON inside a string stays JSON.
func lead(s string) int {
	if i := strings.LastIndexAny(s, "\"`"); i >= 0 {
		return i + 1
	}
	n := 0
	for n < len(s) && strings.IndexByte("([{'*#-", s[n]) >= 0 {
		n++
	}
	return n
}

type wordPos struct {
	start, end int
	letter     bool
}

// fields splits a text at white space.
func fields(text string) []wordPos {
	var out []wordPos
	start := -1
	for i, r := range text {
		if unicode.IsSpace(r) {
			if start >= 0 {
				out = append(out, wordPos{start: start, end: i})
				start = -1
			}
		} else if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		out = append(out, wordPos{start: start, end: len(text)})
	}
	return out
}

// splitWords splits a text at each rune that is no letter, digit or underscore.
func splitWords(text string) []wordPos {
	var out []wordPos
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			i += n
			continue
		}
		t := wordPos{start: i}
		for i < len(text) {
			r, n = utf8.DecodeRuneInString(text[i:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
				break
			}
			t.letter = t.letter || unicode.IsLetter(r)
			i += n
		}
		t.end = i
		out = append(out, t)
	}
	return out
}
