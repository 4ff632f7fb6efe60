// Package dialect reads messages of the vocabularies that its sub-packages write.
//
// Each sub-package is one vocabulary: a Translator, which makes its messages from the events of
// a session, and a Checker, which reads a stream of messages, anybody's, and reports each rule
// that the stream breaks.
//
//	agentui     the event classes of Agent UI
//	agui        the events of AG-UI
//	wsmessages  messages over a WebSocket, with one text per response
//	uistream    the UI message stream of Vercel's AI SDK
package dialect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// lenient accepts text as events hold it: invalid UTF-8 becomes U+FFFD, and of duplicate
// members the last one counts.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Marshal returns a value as JSON on one line. It fails only if an event holds invalid JSON,
// which then becomes null.
func Marshal(v any) event.Raw {
	b, err := json.Marshal(v, lenient, json.Deterministic(true))
	if err != nil {
		return event.Raw("null")
	}
	return b
}

// Problem is a rule that a stream breaks.
type Problem struct {
	Rule string // its name, such as text-not-open
	At   int    // the number of the message, from 1; at the end of the stream, that of the last one
	Text string // what is wrong
}

func (p Problem) String() string { return fmt.Sprintf("message %d: %s: %s", p.At, p.Rule, p.Text) }

// Findings collects the problems of a stream, message by message.
type Findings struct {
	at       int
	problems []Problem
}

// Read counts and reads the next message. It returns false if the message cannot be used.
func (f *Findings) Read(v Vocabulary, line []byte) (Message, bool) {
	f.at++
	m, problems := v.Read(line)
	f.problems = problems
	usable := len(problems) == 0 || problems[0].Rule != "not-json" && problems[0].Rule != "unknown-type"
	return m, usable
}

// Empty reports whether no message was read.
func (f *Findings) Empty() bool { return f.at == 0 }

// Fail adds a problem of the message that was read last.
func (f *Findings) Fail(rule, format string, args ...any) {
	f.problems = append(f.problems, Problem{Rule: rule, Text: fmt.Sprintf(format, args...)})
}

// Take returns the problems since the last call.
func (f *Findings) Take() []Problem {
	out := f.problems
	for i := range out {
		out[i].At = f.at
	}
	f.problems = nil
	return out
}

// Message is a message of a vocabulary.
type Message struct {
	Type    string
	members map[string]jsontext.Value
}

// Has reports whether the message has a member.
func (m Message) Has(name string) bool { return m.members[name] != nil }

// Raw returns the value of a member, or nil.
func (m Message) Raw(name string) event.Raw { return m.members[name] }

// String returns the text of a member; "" if there is none.
func (m Message) String(name string) string {
	var s string
	if json.Unmarshal(m.members[name], &s, lenient) != nil {
		return ""
	}
	return s
}

// True reports whether a member is true.
func (m Message) True(name string) bool { return m.members[name].Kind() == jsontext.KindTrue }

// Vocabulary is a list of message types, each with its members.
type Vocabulary struct{ types map[string][]member }

type member struct {
	name     string
	kind     string   // id, text, flag, number, object, list, any
	values   []string // the closed list of its values
	optional bool
}

// NewVocabulary returns the vocabulary that a table describes. A key is the type of a message; if it ends
// in *, it stands for all types that begin with the rest. A value lists the members that readers
// need or know, as NAME:KIND or NAME?:KIND if the member may be missing. KIND is id (a text that
// is not empty), text, flag, number, object, list, any, or the values of a closed list, joined
// by |. Members that are not listed are accepted. NewVocabulary panics if the table is malformed.
func NewVocabulary(table map[string]string) Vocabulary {
	v := Vocabulary{map[string][]member{}}
	for name, list := range table {
		v.types[name] = []member{}
		for one := range strings.FieldsSeq(list) {
			m, kind, ok := strings.Cut(one, ":")
			if !ok {
				panic("vocabulary: " + name + ": " + one)
			}
			var f member
			f.name, f.optional = strings.CutSuffix(m, "?")
			if f.kind = kind; strings.Contains(kind, "|") {
				f.kind, f.values = "text", strings.Split(kind, "|")
			}
			v.types[name] = append(v.types[name], f)
		}
	}
	return v
}

// Types returns the keys of the table, sorted.
func (v Vocabulary) Types() []string {
	var out []string
	for name := range v.types {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (v Vocabulary) membersOf(name string) ([]member, bool) {
	if m, ok := v.types[name]; ok {
		return m, true
	}
	for key, m := range v.types {
		if prefix, ok := strings.CutSuffix(key, "*"); ok && strings.HasPrefix(name, prefix) {
			return m, true
		}
	}
	return nil, false
}

// Read reads a message. The problems have no At. A message with problems of the rules not-json
// and unknown-type is not to be used.
func (v Vocabulary) Read(line []byte) (Message, []Problem) {
	m := Message{}
	if err := json.Unmarshal(line, &m.members, lenient); err != nil || m.members == nil {
		return m, []Problem{{Rule: "not-json", Text: "want a JSON object"}}
	}
	m.Type = m.String("type")
	members, ok := v.membersOf(m.Type)
	if !ok {
		return m, []Problem{{Rule: "unknown-type", Text: "type " + strconv.Quote(m.Type)}}
	}
	var problems []Problem
	for _, f := range members {
		value := m.members[f.name]
		if value == nil {
			if !f.optional {
				problems = append(problems, Problem{Rule: "missing-member", Text: m.Type + " without " + f.name})
			}
			continue
		}
		if why := f.refuses(value, m.String(f.name)); why != "" {
			problems = append(problems, Problem{Rule: "wrong-member", Text: m.Type + ": " + f.name + ": " + why})
		}
	}
	return m, problems
}

// refuses returns why a value is not allowed, or "".
func (f member) refuses(value jsontext.Value, text string) string {
	want := map[string][]jsontext.Kind{
		"id": {jsontext.KindString}, "text": {jsontext.KindString}, "flag": {jsontext.KindTrue, jsontext.KindFalse},
		"number": {jsontext.KindNumber}, "object": {jsontext.KindBeginObject}, "list": {jsontext.KindBeginArray},
	}[f.kind]
	switch {
	case want != nil && !slices.Contains(want, value.Kind()):
		return "want " + f.kind + ", got " + string(value)
	case f.kind == "id" && text == "":
		return "it is empty"
	case f.values != nil && !slices.Contains(f.values, text):
		return "want one of " + strings.Join(f.values, ", ") + ", got " + strconv.Quote(text)
	}
	return ""
}
