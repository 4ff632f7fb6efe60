// Package dialect reads messages of the vocabularies that package dialects lists.
//
// Each vocabulary has a package in internal, with a Translator, which makes its messages from
// the events of a session, and a Checker, which reads a stream of messages of any server and
// reports each rule that the stream breaks.
//
//	agentui     the event classes of Agent UI
//	agui        the events of AG-UI
//	wsmessages  messages over a WebSocket, with one text per response
//	uistream    the UI message stream of Vercel's AI SDK
package dialect

import (
	"fmt"

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
	Rule   string // its name, such as text-not-open
	At     int    // the number of the message, from 1; at the end of the stream, that of the last one
	Text   string // what is wrong
	Advice bool   // the vocabulary allows it; the rule is ours, or one that it recommends
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

// Advise adds a problem of the message that was read last, with what the vocabulary allows.
func (f *Findings) Advise(rule, format string, args ...any) {
	f.problems = append(f.problems, Problem{Rule: rule, Text: fmt.Sprintf(format, args...), Advice: true})
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
func (m Message) String(name string) string { return textOf(m.members[name]) }

// True reports whether a member is true.
func (m Message) True(name string) bool { return m.members[name].Kind() == jsontext.KindTrue }
