package mapping

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// Mapping is a vocabulary.
type Mapping struct {
	Schema      string   `json:"$schema,omitempty"` // for editors: the address of schema.json
	Name        string   `json:"name"`
	Extends     string   `json:"extends,omitempty"` // a built-in vocabulary, whose rules follow these
	Rules       []Rule   `json:"rules,omitempty"`
	Ignore      []string `json:"ignore,omitempty"`
	Without     []string `json:"without,omitempty"`
	IfSeen      []string `json:"if_seen,omitempty"` // what only some servers send: it is expected of one once it was seen, or if the server declares its events
	OneTurn     bool     `json:"one_turn,omitzero"` // a stream is a turn: what happens after it is not sent
	EndOfStream string   `json:"end_of_stream,omitempty"`
	Post        *Request `json:"post,omitempty"` // the POST of a message whose reply is the stream; nil: the routes of package sse
	Stop        *Request `json:"stop,omitempty"` // with Post: stops the turn; nil: it cannot be stopped

	// Of a program that takes no commands over stdio. At most one is set; if neither is, the
	// program takes the commands of package jsonl.
	Stdin jsontext.Value `json:"stdin,omitempty"` // the line of a message: a text as it is, or JSON
	Args  []string       `json:"args,omitempty"`  // the program is started for each message, with these arguments too

	Notes []string `json:"notes,omitempty"` // for readers

	// NewChecker returns the state machine of the vocabulary, which judges the stream; nil:
	// the stream is read and not judged. See Strict of package conformance/backend.
	NewChecker func() Checker `json:"-"`

	vocabulary string
}

// Rule says what a message becomes.
type Rule struct {
	Note   string                    `json:"note,omitempty"` // for readers
	Each   string                    `json:"each,omitempty"` // a list in the message, whose elements the rule matches one after the other
	When   map[string]jsontext.Value `json:"when,omitempty"`
	Has    []string                  `json:"has,omitempty"` // members that must not be missing
	Key    string                    `json:"key,omitempty"`
	Keep   map[string]string         `json:"keep,omitempty"`
	Append map[string]string         `json:"append,omitempty"`
	Emit   event.Type                `json:"emit,omitempty"` // a type of event, or Star: the one that the message names
	Of     []event.Type              `json:"of,omitempty"`   // with Star: the types; Star is each that no other rule emits
	Data   map[string]string         `json:"data,omitempty"` // by member; Star: each member that an object has
	Next   bool                      `json:"next,omitzero"`  // a later rule may match too
}

// Star stands for what a rule does not name: the name of an event, types of events, members.
const Star = "*"

// withoutForm are the types of events that the plain form does not have, so that no rule emits them.
var withoutForm = []event.Type{event.TypeSessionEnd, event.TypeTurnStart, event.TypeUserMessage, event.TypeQueue, event.TypeToolInput}

// emitted returns the types of events that a mapping may emit.
func emitted() []event.Type {
	return slices.DeleteFunc(event.Types(), func(t event.Type) bool { return slices.Contains(withoutForm, t) })
}

// Parse reads a mapping. An error names the place in the file.
func Parse(file string, b []byte) (*Mapping, error) {
	m := &Mapping{}
	if err := json.Unmarshal(b, m, json.RejectUnknownMembers(true)); err != nil {
		line := 1
		if at, ok := errors.AsType[*json.SemanticError](err); ok {
			line += bytes.Count(b[:min(int(at.ByteOffset), len(b))], []byte("\n"))
		} else if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			line += bytes.Count(b[:min(int(at.ByteOffset), len(b))], []byte("\n"))
		}
		return nil, fmt.Errorf("%s:%d: %w", file, line, err)
	}
	if m.Name == "" {
		return nil, fmt.Errorf("%s: name is missing", file)
	}
	for i, r := range m.Rules {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("%s: rules[%d]%w", file, i, err)
		}
	}
	if err := m.checkProgram(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if m.Stop != nil && m.Post == nil {
		return nil, fmt.Errorf("%s: stop without post", file)
	}
	for name, r := range map[string]*Request{"post": m.Post, "stop": m.Stop} {
		if r == nil {
			continue
		}
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("%s: %s%w", file, name, err)
		}
	}
	if m.Extends != "" {
		if err := m.extend(); err != nil {
			return nil, fmt.Errorf("%s: extends: %w", file, err)
		}
	}
	if !slices.Contains(m.Types(), event.TypeDone) {
		return nil, fmt.Errorf("%s: rules: none emits done, so that no turn would end", file)
	}
	return m, nil
}

// checkProgram returns what is wrong with how a program takes a message.
func (m *Mapping) checkProgram() error {
	named := false
	for _, arg := range m.Args {
		named = named || strings.Contains(arg, "{message}")
	}
	switch {
	case m.Stdin != nil && m.Args != nil:
		return errors.New("stdin and args: a message is either a line or an argument")
	case (m.Stdin != nil || m.Args != nil) && m.Post != nil:
		return errors.New("post is for servers, stdin and args for programs")
	case m.Stdin != nil && !strings.Contains(string(m.Stdin), "{message}"):
		return errors.New("stdin: want a text or JSON that contains {message}, such as \"{message}\"")
	case m.Args != nil && !named:
		return errors.New("args: want one that contains {message}")
	}
	return nil
}

// TakesCommands reports whether a program of the vocabulary takes the commands of package jsonl.
func (m *Mapping) TakesCommands() bool { return m.Stdin == nil && m.Args == nil }

// extend adds what the built-in vocabulary has that m extends.
func (m *Mapping) extend() error {
	base, err := Builtin(m.Extends)
	if err != nil {
		return err
	}
	m.Rules, m.Ignore, m.Without = slices.Concat(m.Rules, base.Rules), slices.Concat(m.Ignore, base.Ignore), slices.Concat(m.Without, base.Without)
	m.IfSeen, m.OneTurn = slices.Concat(m.IfSeen, base.IfSeen), m.OneTurn || base.OneTurn
	m.EndOfStream, m.vocabulary = cmp.Or(m.EndOfStream, base.EndOfStream), base.vocabulary
	if m.Post == nil {
		m.Post, m.Stop = base.Post, base.Stop
	}
	return nil
}

// check returns what is wrong with a rule, with the member.
func (r *Rule) check() error {
	if len(r.When)+len(r.Has) == 0 {
		return errors.New(".when is missing: name the type of the messages, such as {\"type\":\"chunk\"}")
	}
	if err := r.checkTypes(); err != nil {
		return err
	}
	if r.Emit == "" && len(r.Data) > 0 {
		return errors.New(".data without emit")
	}
	for place, values := range map[string]map[string]string{".keep": r.Keep, ".append": r.Append, ".data": r.Data} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			v := values[name]
			kept := strings.HasPrefix(strings.TrimPrefix(v, "json:"), "@")
			switch {
			case v == "":
				return fmt.Errorf("%s.%s is empty", place, name)
			case strings.HasPrefix(v, "=") && !jsontext.Value(v[1:]).IsValid():
				return fmt.Errorf("%s.%s: %q is no JSON", place, name, v[1:])
			case place == ".data" && name == Star && (kept || strings.ContainsAny(v[:1], "=@") || strings.HasPrefix(v, "json:")):
				return fmt.Errorf(".data.%s: want the path of an object, got %q", name, v)
			case r.Key == "" && (kept || place != ".data"):
				return fmt.Errorf("%s.%s needs a key, which says what belongs together", place, name)
			}
		}
	}
	return nil
}

// checkTypes returns what is wrong with the types that a rule emits.
func (r *Rule) checkTypes() error {
	types := append([]event.Type{r.Emit}, r.Of...)
	if r.Emit == "" {
		types = r.Of
	}
	for i, t := range types {
		place := ".of"
		if i == 0 && r.Emit != "" {
			place = ".emit"
		}
		if t != Star && !slices.Contains(emitted(), t) {
			return fmt.Errorf("%s: no event %q: want one of %v", place, t, emitted())
		}
	}
	stars := 0
	for _, want := range r.When {
		if strings.HasSuffix(text(want), Star) {
			stars++
		}
	}
	switch {
	case r.Emit != Star && len(r.Of) > 0:
		return errors.New(".of without \"emit\": \"*\"")
	case r.Emit == Star && len(r.Of) == 0:
		return errors.New(".of is missing: name the types of events, or \"*\"")
	case r.Emit == Star && stars != 1:
		return errors.New(".when: want one text that ends in *, which stands for the name of the event")
	}
	return nil
}

// Types returns the types of events that the mapping emits.
func (m *Mapping) Types() []event.Type {
	out := m.named()
	for _, r := range m.Rules {
		if slices.Contains(r.Of, Star) {
			out = append(out, m.others()...)
			break
		}
	}
	if m.Args != nil && !slices.Contains(out, event.TypeDone) {
		out = append(out, event.TypeDone) // the exit of the program
	}
	return out
}

// named returns the types of events that rules emit by name.
func (m *Mapping) named() []event.Type {
	var out []event.Type
	for _, r := range m.Rules {
		for _, t := range append([]event.Type{r.Emit}, r.Of...) {
			if t != "" && t != Star && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// others returns the types of events that Star in Rule.Of means: those that no rule names
// and that the vocabulary does not lack. The name of a session_ready would not say more than that
// the stream began.
func (m *Mapping) others() []event.Type {
	named := m.named()
	return slices.DeleteFunc(emitted(), func(t event.Type) bool {
		return t == event.TypeSessionReady || slices.Contains(named, t) || slices.Contains(m.Without, string(t))
	})
}

// typesOf returns the types of events that a rule emits.
func (m *Mapping) typesOf(r *Rule) []event.Type {
	switch {
	case r.Emit == "":
		return nil
	case r.Emit != Star:
		return []event.Type{r.Emit}
	case slices.Contains(r.Of, Star):
		return append(slices.Clone(r.Of), m.others()...)
	}
	return r.Of
}

// OnlyIfSeen reports whether an event, or a member of one, is expected only of servers that have sent
// it, as each type is for which Star stands.
func (m *Mapping) OnlyIfSeen(what string) bool {
	t, _, _ := strings.Cut(what, ".")
	return slices.Contains(m.IfSeen, what) || slices.Contains(m.IfSeen, t) ||
		slices.ContainsFunc(m.Rules, func(r Rule) bool { return slices.Contains(r.Of, Star) }) && slices.Contains(m.others(), event.Type(t))
}

// Names reports whether a rule that emits the event sets the member of its data.
func (m *Mapping) Names(t event.Type, member string) bool {
	return slices.ContainsFunc(m.Rules, func(r Rule) bool {
		sets := r.Data[member] != "" || r.Data[Star] != "" && slices.Contains(event.Members(t), member)
		return sets && slices.Contains(m.typesOf(&r), t)
	})
}
