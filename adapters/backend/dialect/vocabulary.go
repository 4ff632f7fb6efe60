package dialect

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Vocabulary is a list of message types, each with its members.
type Vocabulary struct {
	types  map[string][]member // of messages and, by {NAME} or {NAME}VALUE, of objects in them
	closed bool
}

type member struct {
	name     string
	kinds    []string // one of which the value must be
	optional bool
}

// NewVocabulary returns the vocabulary that a table describes. A key is the type of a message; if it ends
// in *, it stands for all types that begin with the rest. A value lists the members that readers
// need or know, as NAME:KIND or NAME?:KIND if the member may be missing. KIND is one of
//
//	id        a text that is not empty
//	text
//	flag      true or false
//	number
//	int       a number that is whole, and exact in JavaScript
//	count     such a number that is not negative
//	pointer   a JSON Pointer
//	object
//	objects   an object of objects
//	list
//	value     any value but null
//	any
//	=A|B|C    one of these texts
//	{NAME}    an object with the members of the key {NAME}
//	{NAME.M}  an object with the members of the key {NAME}VALUE, where VALUE is its member M
//	[]KIND    a list
//	KIND,KIND one of them
//
// Members that are not listed are accepted. NewVocabulary panics if the table is malformed.
func NewVocabulary(table map[string]string) Vocabulary {
	v := Vocabulary{types: map[string][]member{}}
	for name, list := range table {
		v.types[name] = []member{}
		for one := range strings.FieldsSeq(list) {
			m, kind, ok := strings.Cut(one, ":")
			if !ok {
				panic("vocabulary: " + name + ": " + one)
			}
			var f member
			f.name, f.optional = strings.CutSuffix(m, "?")
			f.kinds = strings.Split(kind, ",")
			v.types[name] = append(v.types[name], f)
		}
	}
	return v
}

// Closed returns the vocabulary without the members that are not listed. In an object whose key lists
// the member *, others are accepted.
func (v Vocabulary) Closed() Vocabulary {
	v.closed = true
	return v
}

// Types returns the types of messages, sorted.
func (v Vocabulary) Types() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(v.types)), func(name string) bool { return name[0] == '{' })
}

func (v Vocabulary) membersOf(name string) ([]member, bool) {
	if m, ok := v.types[name]; ok {
		return m, !strings.HasPrefix(name, "{")
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
	v.checkMembers(m.Type, "type", m.members, members, &problems)
	return m, problems
}

// checkMembers checks the members of an object. where names it, and key is the member that chose its type, or "".
func (v Vocabulary) checkMembers(where, key string, got map[string]jsontext.Value, want []member, problems *[]Problem) {
	listed := 0
	for _, f := range want {
		value := got[f.name]
		switch {
		case f.name == "*":
			listed = len(got)
		case value != nil:
			listed++
			v.checkValue(where+": "+f.name, value, f, problems)
		case !f.optional:
			*problems = append(*problems, Problem{Rule: "missing-member", Text: where + " without " + f.name})
		}
	}
	if got[key] != nil {
		listed++
	}
	if !v.closed || listed >= len(got) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if name != key && !slices.ContainsFunc(want, func(f member) bool { return f.name == name }) {
			*problems = append(*problems, Problem{Rule: "unknown-member", Text: where + " has no member " + name})
		}
	}
}

func (v Vocabulary) checkValue(where string, value jsontext.Value, f member, problems *[]Problem) {
	var refused string
	for _, kind := range f.kinds {
		why := refuses(kind, value)
		if why == "" {
			v.checkWithin(where, kind, value, problems)
			refused = ""
			break
		}
		refused = why
	}
	if refused != "" {
		*problems = append(*problems, Problem{Rule: "wrong-member", Text: where + ": " + refused})
	}
}

// checkWithin checks the elements of a list, and the members of an object whose type is known.
func (v Vocabulary) checkWithin(where, kind string, value jsontext.Value, problems *[]Problem) {
	if of, ok := strings.CutPrefix(kind, "[]"); ok {
		var all []jsontext.Value
		_ = json.Unmarshal(value, &all, lenient)
		for i, one := range all {
			v.checkValue(where+" "+strconv.Itoa(i+1), one, member{kinds: []string{of}}, problems)
		}
		return
	}
	if kind[0] != '{' {
		return
	}
	var got map[string]jsontext.Value
	_ = json.Unmarshal(value, &got, lenient)
	name, key, chosen := strings.Cut(strings.Trim(kind, "{}"), ".")
	name = "{" + name + "}"
	if chosen {
		switch {
		case got[key] == nil:
			*problems = append(*problems, Problem{Rule: "missing-member", Text: where + " without " + key})
			return
		case v.types[name+textOf(got[key])] == nil:
			*problems = append(*problems, Problem{Rule: "unknown-value", Text: where + ": " + key + " " + string(got[key])})
			return
		}
		name += textOf(got[key])
	}
	v.checkMembers(where, key, got, v.types[name], problems)
}

var kinds = map[string][]jsontext.Kind{
	"id": {jsontext.KindString}, "text": {jsontext.KindString}, "pointer": {jsontext.KindString}, "flag": {jsontext.KindTrue, jsontext.KindFalse},
	"number": {jsontext.KindNumber}, "int": {jsontext.KindNumber}, "count": {jsontext.KindNumber},
	"object": {jsontext.KindBeginObject}, "objects": {jsontext.KindBeginObject}, "list": {jsontext.KindBeginArray},
}

var pointer = regexp.MustCompile(`^(/([^/~]|~[01])*)*$`)

// refuses returns why a value is not of a kind, or "".
func refuses(kind string, value jsontext.Value) string {
	want := kinds[kind]
	switch kind[0] {
	case '{':
		want = kinds["object"]
	case '[':
		want = kinds["list"]
	case '=':
		if text := textOf(value); value.Kind() != jsontext.KindString || !slices.Contains(strings.Split(kind[1:], "|"), text) {
			return "want one of " + kind[1:] + ", got " + string(value)
		}
	}
	switch {
	case want != nil && !slices.Contains(want, value.Kind()):
		return "want " + kind + ", got " + string(value)
	case kind == "value" && value.Kind() == jsontext.KindNull:
		return "it is null; leave it out"
	case kind == "id" && textOf(value) == "":
		return "it is empty"
	case kind == "pointer" && !pointer.MatchString(textOf(value)):
		return "it is no JSON Pointer: " + string(value)
	case kind == "objects":
		var all map[string]map[string]jsontext.Value
		if json.Unmarshal(value, &all, lenient) != nil {
			return "want an object of objects, got " + string(value)
		}
	case kind == "int" || kind == "count":
		n, err := strconv.ParseFloat(string(value), 64)
		if err != nil || n != math.Trunc(n) || math.Abs(n) > 1<<53-1 || kind == "count" && n < 0 {
			return "want a whole number, got " + string(value)
		}
	}
	return ""
}

func textOf(value jsontext.Value) string {
	var s string
	if json.Unmarshal(value, &s, lenient) != nil {
		return ""
	}
	return s
}
