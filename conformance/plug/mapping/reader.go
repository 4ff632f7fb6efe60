package mapping

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug"
)

// Reader reads a stream of messages.
type Reader struct {
	m     *Mapping
	types [][]event.Type                       // that each rule emits
	kept  map[string]map[string]jsontext.Value // by key
}

// NewReader returns a reader of a stream.
func (m *Mapping) NewReader() *Reader {
	r := &Reader{m: m, kept: map[string]map[string]jsontext.Value{}}
	for i := range m.Rules {
		r.types = append(r.types, m.typesOf(&m.Rules[i]))
	}
	return r
}

// Event is what a message becomes.
type Event struct {
	Type event.Type
	Data map[string]jsontext.Value
}

// ErrUnknown is the error of a message that no rule matches.
var ErrUnknown = errors.New("no rule matches the message")

// members are the members of a message.
type members map[string]jsontext.Value

// Read returns the events that a message becomes, in order.
func (r *Reader) Read(line []byte) ([]Event, error) {
	var message members
	if jsontext.Value(line).Kind() != '{' || json.Unmarshal(line, &message, plug.Lenient) != nil {
		return nil, errors.New("want a JSON object")
	}
	var out []Event
	known, done := false, false
	for rules, types := r.m.Rules, r.types; len(rules) > 0 && !done; {
		each := rules[0].Each
		n := 1
		for each != "" && n < len(rules) && rules[n].Each == each {
			n++
		}
		for _, one := range message.each(each) {
			for i := range rules[:n] {
				rule := &rules[i]
				t, ok := r.matches(rule, one, types[i])
				if !ok {
					continue
				}
				known = true
				if e := r.apply(rule, one, t); e != nil {
					out = append(out, *e)
				}
				if !rule.Next {
					done = true
					break
				}
			}
		}
		rules, types = rules[n:], types[n:]
	}
	if known {
		return out, nil
	}
	name := text(message["type"])
	for _, ignored := range r.m.Ignore {
		prefix, all := strings.CutSuffix(ignored, "*")
		if name == ignored || all && strings.HasPrefix(name, prefix) {
			return nil, nil
		}
	}
	return nil, ErrUnknown
}

// eventName makes the name of an event of one that is written with dashes or dots.
var eventName = strings.NewReplacer("-", "_", ".", "_")

// matches reports whether a rule matches, and returns the type of event that it emits, one of types.
func (r *Reader) matches(rule *Rule, message members, types []event.Type) (t event.Type, ok bool) {
	for _, path := range rule.Has {
		if v := r.value(rule, message, path); v == nil || v.Kind() == 'n' {
			return "", false
		}
	}
	t = rule.Emit
	for path, want := range rule.When {
		got := r.value(rule, message, path)
		if got == nil {
			got = jsontext.Value("null")
		}
		if rule.Emit == Star && strings.HasSuffix(text(want), Star) {
			name, begins := strings.CutPrefix(text(got), strings.TrimSuffix(text(want), Star))
			t = event.Type(eventName.Replace(name))
			if !begins || t == Star || !slices.Contains(types, t) {
				return "", false
			}
		} else if !equal(got, want) {
			return "", false
		}
	}
	return t, true
}

// each returns the message for each element of a list in it, which has the element as the member *.
// It returns the message alone if path is "".
func (m members) each(path string) (out []members) {
	if path == "" {
		return []members{m}
	}
	var list []jsontext.Value
	if json.Unmarshal(m.at(path), &list, plug.Lenient) != nil {
		return nil
	}
	for _, element := range list {
		one := maps.Clone(m)
		one["*"] = element
		out = append(out, one)
	}
	return out
}

func equal(a, b jsontext.Value) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := a.Clone(), b.Clone()
	return x.Canonicalize() == nil && y.Canonicalize() == nil && bytes.Equal(x, y)
}

// apply does what a rule says, and returns the event of type t that it emits, if it does.
func (r *Reader) apply(rule *Rule, message members, t event.Type) *Event {
	if len(rule.Keep)+len(rule.Append) > 0 {
		key := r.key(rule, message)
		if r.kept[key] == nil {
			r.kept[key] = map[string]jsontext.Value{}
		}
		for name, from := range rule.Keep {
			r.kept[key][name] = r.value(rule, message, from)
		}
		for name, from := range rule.Append {
			b, err := json.Marshal(text(r.kept[key][name])+text(r.value(rule, message, from)), plug.Lenient)
			if err == nil {
				r.kept[key][name] = b
			}
		}
	}
	if rule.Emit == "" {
		return nil
	}
	e := &Event{t, map[string]jsontext.Value{}}
	if from := rule.Data[Star]; from != "" {
		var all members
		_ = json.Unmarshal(message.at(from), &all, plug.Lenient) // what is no object has no members
		for _, name := range event.Members(t) {
			if v := all[name]; v != nil && v.Kind() != 'n' && rule.Data[name] == "" {
				e.Data[name] = v
			}
		}
	}
	for name, from := range rule.Data {
		if name == Star {
			continue
		}
		if v := r.value(rule, message, from); v != nil && v.Kind() != 'n' {
			e.Data[name] = v
		}
	}
	return e
}

func (r *Reader) key(rule *Rule, message members) string {
	if constant, is := strings.CutPrefix(rule.Key, "="); is {
		return constant
	}
	var key strings.Builder
	for path := range strings.FieldsSeq(rule.Key) {
		name, of, named := strings.Cut(path, ":")
		if !named {
			of = path
		}
		key.WriteString(name)
		key.WriteByte(' ')
		key.Write(message.at(of))
		key.WriteByte(' ')
	}
	return key.String()
}

// value returns the value that an expression has, or nil.
func (r *Reader) value(rule *Rule, message members, from string) jsontext.Value {
	if constant, is := strings.CutPrefix(from, "="); is {
		return jsontext.Value(constant)
	}
	if inner, is := strings.CutPrefix(from, "json:"); is {
		v := jsontext.Value(text(r.value(rule, message, inner)))
		if !v.IsValid() {
			return nil
		}
		return v
	}
	if name, is := strings.CutPrefix(from, "@"); is {
		return r.kept[r.key(rule, message)][name]
	}
	return message.at(from)
}

// at returns the value at a path of members and of indexes of lists, or nil.
func (m members) at(path string) jsontext.Value {
	name, rest, nested := strings.Cut(path, ".")
	return valueAt(m[name], rest, nested)
}

// valueAt returns the value at a path in a value, if there is a path.
func valueAt(v jsontext.Value, path string, nested bool) jsontext.Value {
	for nested && v != nil {
		var name string
		name, path, nested = strings.Cut(path, ".")
		var inner members
		var list []jsontext.Value
		switch v.Kind() {
		case '{':
			if json.Unmarshal(v, &inner, plug.Lenient) != nil {
				return nil
			}
			v = inner[name]
		case '[':
			i, err := strconv.Atoi(name)
			if err != nil || json.Unmarshal(v, &list, plug.Lenient) != nil || i < 0 || i >= len(list) {
				return nil
			}
			v = list[i]
		default:
			return nil
		}
	}
	return v
}

// text returns the text that a value is, or "".
func text(v jsontext.Value) (s string) {
	_ = json.Unmarshal(v, &s, plug.Lenient)
	return s
}
