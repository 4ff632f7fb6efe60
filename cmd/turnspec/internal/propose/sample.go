package propose

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// message is a message of the sample.
type message struct {
	line  []byte
	at    int                       // in the sample, from 0
	paths map[string]jsontext.Value // the members at all paths
}

// Kind distinguishes the messages of a type from others: the values of members such as
// type and event, by path. It is empty if there are none.
type Kind map[string]string

// String returns the kind as a text: type "chunk", data.kind "text".
func (k Kind) String() string {
	var out []string
	for _, path := range k.order() {
		out = append(out, fmt.Sprintf("%s %q", path, k[path]))
	}
	if out == nil {
		return "no member that names a type"
	}
	return strings.Join(out, ", ")
}

// order returns the paths, the shallow ones first.
func (k Kind) order() []string {
	return slices.SortedFunc(maps.Keys(k), func(a, b string) int {
		return cmp.Or(strings.Count(a, ".")-strings.Count(b, "."), strings.Compare(a, b))
	})
}

// when returns the condition of a rule for the kind.
func (k Kind) when() map[string]jsontext.Value {
	if len(k) == 0 {
		return nil
	}
	out := map[string]jsontext.Value{}
	for path, value := range k {
		out[path] = constant(value)
	}
	return out
}

// typeMembers are the names of members that name the type of a message.
var typeMembers = []string{"type", "event", "kind", "eventtype", "messagetype", "sessionupdate", "method", "subtype", "op", "object", "msgtype", "tag"}

// stateMembers are the names of members that tell messages of one type apart if they vary.
var stateMembers = []string{"status", "state", "phase", "stage"}

// payloads are the names of members that hold what a tool takes or returns, in which no type is
// looked for.
var payloads = []string{"input", "args", "arguments", "parameters", "rawinput", "toolinput", "output", "result", "rawoutput", "tooloutput", "props", "schema"}

var identifier = regexp.MustCompile(`^[A-Za-z][\w.:/-]{0,47}$`)

// depth is how deep members are looked for.
const depth = 5

// plainName returns a name of a member without the differences between ways to write it.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// lastName returns the plain name of the member at a path.
func lastName(path string) string { return plainName(path[strings.LastIndex(path, ".")+1:]) }

// parseSample reads the messages of a sample. It skips the lines of the protocol of package jsonl, and
// takes the messages of server-sent events from their data: lines.
func parseSample(sample []byte) (out []*message, skipped []string) {
	for i, line := range bytes.Split(sample, []byte("\n")) {
		line = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data:")))
		if len(line) == 0 || isFraming(line) {
			continue
		}
		m := parseMessage(line)
		switch {
		case m == nil:
			skipped = append(skipped, fmt.Sprintf("line %d is no JSON object: %s", i+1, clip(string(line))))
		case len(m.paths) > 0 && !isProtocol(m):
			m.at = len(out)
			out = append(out, m)
		}
	}
	return out, skipped
}

// isFraming reports whether a line belongs to the form of server-sent events.
func isFraming(line []byte) bool {
	return line[0] == ':' || string(line) == "[DONE]" || bytes.HasPrefix(line, []byte("event:")) || bytes.HasPrefix(line, []byte("id:")) || bytes.HasPrefix(line, []byte("retry:"))
}

// isProtocol reports whether a message is a hello, a reply or a call of the protocol of package jsonl.
func isProtocol(m *message) bool {
	for _, name := range []string{"hello", "reply", "call", "cancel"} {
		if v := m.paths[name]; v != nil && v.Kind() == '{' && isOnlyMember(m, name) {
			return true
		}
	}
	return false
}

func isOnlyMember(m *message, name string) bool {
	for path := range m.paths {
		if first, _, _ := strings.Cut(path, "."); first != name {
			return false
		}
	}
	return true
}

func parseMessage(line []byte) *message {
	if jsontext.Value(line).Kind() != '{' || !jsontext.Value(line).IsValid() {
		return nil
	}
	m := &message{line: bytes.Clone(line), paths: map[string]jsontext.Value{}}
	m.flatten("", m.line, depth)
	return m
}

// flatten adds the members of an object below a path.
func (m *message) flatten(below string, object jsontext.Value, levels int) {
	var members map[string]jsontext.Value
	if levels == 0 || json.Unmarshal(object, &members, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return
	}
	for name, v := range members {
		path := below + name
		m.paths[path] = v
		if v.Kind() == '{' && !strings.Contains(name, ".") {
			m.flatten(path+".", v, levels-1)
		}
	}
}

// text returns the text at a path, and whether it is one.
func (m *message) text(path string) (s string, is bool) {
	v := m.paths[path]
	if v == nil || v.Kind() != '"' {
		return "", false
	}
	return s, json.Unmarshal(v, &s, jsontext.AllowInvalidUTF8(true)) == nil
}

// inPayload reports whether a path leads into what a tool takes or returns.
func inPayload(path string) bool {
	parts := strings.Split(path, ".")
	for _, part := range parts[:len(parts)-1] {
		if slices.Contains(payloads, plainName(part)) {
			return true
		}
	}
	return false
}

func (m *message) kind() Kind {
	out := Kind{}
	for path := range m.paths {
		value, is := m.text(path)
		if is && slices.Contains(typeMembers, lastName(path)) && identifier.MatchString(value) && !inPayload(path) {
			out[path] = value
		}
	}
	return out
}

// group is the messages of a kind.
type group struct {
	kind     Kind
	messages []*message
	words    []string // of the kind, or of the names of members if there is none
}

// groupSample groups messages by kind, in the order of their first ones. Messages of a kind whose state
// varies are grouped by the state too.
func groupSample(all []*message) []*group {
	out := groupBy(all, (*message).kind)
	for i := 0; i < len(out); i++ {
		if path := out[i].variesBy(); path != "" {
			split := groupBy(out[i].messages, func(m *message) Kind {
				k := m.kind()
				if state, is := m.text(path); is {
					k[path] = state
				}
				return k
			})
			out = slices.Replace(out, i, i+1, split...)
			i += len(split) - 1
		}
	}
	for _, g := range out {
		for _, path := range g.kind.order() {
			g.words = append(g.words, wordsOf(g.kind[path])...)
		}
	}
	for _, g := range out {
		g.shorten(out)
	}
	return out
}

// shorten removes the members of the kind, the deep ones first, without which no other group is of the
// kind: {"type":"end","why":{"type":"limit"}} is an end, if all ends of the sample are such.
func (g *group) shorten(all []*group) {
	for i, path := range slices.Backward(g.kind.order()) {
		if i == 0 {
			return // the member that distinguishes types of messages
		}
		less := maps.Clone(g.kind)
		delete(less, path)
		if !slices.ContainsFunc(all, func(other *group) bool { return other != g && other.kind.includes(less) }) {
			g.kind = less
		}
	}
}

// includes reports whether all messages of the kind k are of the kind less.
func (k Kind) includes(less Kind) bool {
	for path, value := range less {
		if k[path] != value {
			return false
		}
	}
	return true
}

func groupBy(all []*message, kind func(*message) Kind) (out []*group) {
	byKind := map[string]*group{}
	for _, m := range all {
		k := kind(m)
		name := k.String()
		if len(k) == 0 { // only the members tell messages apart
			name = strings.Join(slices.Sorted(maps.Keys(m.paths)), " ")
		}
		if byKind[name] == nil {
			byKind[name] = &group{kind: k}
			out = append(out, byKind[name])
		}
		byKind[name].messages = append(byKind[name].messages, m)
	}
	return out
}

// variesBy returns the path of a state that has a few values in the messages, or "".
func (g *group) variesBy() string {
	names := stateMembers
	if g.carries() {
		names = append([]string{"name"}, names...) // of what a carrier holds
	}
	for _, path := range g.pathsNamed(names) {
		values := map[string]bool{}
		named := true
		for _, m := range g.messages {
			if v, is := m.text(path); is {
				values[v] = true
				named = named && identifier.MatchString(v)
			}
		}
		if named && len(values) > 1 && len(values) <= 6 {
			return path
		}
	}
	return ""
}

// carries reports whether a kind says nothing of what its messages hold.
func (g *group) carries() bool {
	for _, value := range g.kind {
		for _, word := range wordsOf(value) {
			if len(word) > 1 && !slices.Contains([]string{"custom", "event", "notification", "data", "update"}, word) {
				return false
			}
		}
	}
	return len(g.kind) > 0
}

// wordsOf splits a name into its words: onToolStart, tool-start and TOOL_START are tool and start.
func wordsOf(name string) (out []string) {
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			out = append(out, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	before := ' '
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && unicode.IsLower(before):
			flush()
			word.WriteRune(r)
		default:
			word.WriteRune(r)
		}
		before = r
	}
	flush()
	return out
}

// has reports whether one of the words is in the kind. Names holds them, with spaces between.
func (g *group) has(names string) bool {
	return slices.ContainsFunc(strings.Fields(names), func(w string) bool { return slices.Contains(g.words, w) })
}

// pathsNamed returns the paths of the members with one of the plain names, in the order of the names;
// of one name the shallow ones first.
func (g *group) pathsNamed(names []string) (out []string) {
	paths := map[string]bool{}
	for _, m := range g.messages {
		for path := range m.paths {
			if !inPayload(path) {
				paths[path] = true
			}
		}
	}
	rank := func(path string) int {
		parts := strings.Split(path, ".")
		if len(parts) > 1 { // tool.id is named as toolid is
			if i := slices.Index(names, plainName(strings.Join(parts[len(parts)-2:], ""))); i >= 0 {
				return i
			}
		}
		return slices.Index(names, lastName(path))
	}
	for path := range paths {
		if rank(path) >= 0 {
			out = append(out, path)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(rank(a)-rank(b), strings.Count(a, ".")-strings.Count(b, "."), strings.Compare(a, b))
	})
	return out
}

// clip shortens a text for a message.
func clip(s string) string {
	const longest = 160
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return s
}

// constant returns a text as JSON.
func constant(s string) jsontext.Value {
	b, err := json.Marshal(s, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err) // s is a text
	}
	return b
}
