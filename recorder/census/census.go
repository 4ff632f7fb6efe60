package census

import (
	"bytes"
	"hash/maphash"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Census is what was counted.
type Census struct {
	Kinds map[string]*Kind // by direction and kind: out turn/started
}

// Kind counts one kind of message.
type Kind struct {
	Count  int
	Cases  map[string]bool // scenarios that have it
	Fields map[string]*Field
}

// Field counts a member of a message. Its key in Kind.Fields is the path from the
// top, with [] for the elements of a list and * for a member that is named after
// data.
type Field struct {
	Count  int
	Cases  map[string]bool // scenarios that have it
	Forms  map[string]int  // number, boolean, null, object, list, and of strings: uuid, path, word …
	Values map[string]int  // of the form word, true and false; at most MaxValues
	// ValueCases has, for each of Values, the scenarios that have it.
	ValueCases map[string]map[string]bool
	// Different has the hashes of its values as they are written; at most MaxValues.
	Different map[uint64]bool
	First     string // the first of its values as it is written
}

// MaxValues bounds how many values of a member are kept. A member with more values
// does not hold one of a few words.
const MaxValues = 40

// Take takes the census of the cases.
func Take(cases []*fixtures.Case) *Census {
	c := &Census{map[string]*Kind{}}
	for _, one := range cases {
		c.AddCase(one)
	}
	return c
}

// AddCase counts the messages of a case.
func (c *Census) AddCase(one *fixtures.Case) {
	for _, m := range Messages(one) {
		c.Add(direction(m.In)+m.Kind, one.Scenario, m.Value)
	}
}

// Add counts a message of a kind.
func (c *Census) Add(kind, scenario string, v jsontext.Value) {
	k := c.Kinds[kind]
	if k == nil {
		k = &Kind{Cases: map[string]bool{}, Fields: map[string]*Field{}}
		c.Kinds[kind] = k
	}
	k.Count++
	k.Cases[scenario] = true
	k.countMessage(scenario, v)
}

// Shown returns how many messages of the runtime have that name, as their kind or
// as a part of it. A name may end in *.
func Shown(kinds map[string]*Kind, name string) int {
	prefix, many := strings.CutSuffix(name, "*")
	n := 0
	for key, k := range kinds {
		kind, out := strings.CutPrefix(key, "out ")
		parts := append(strings.FieldsFunc(kind, func(r rune) bool { return strings.ContainsRune("/()", r) }), kind)
		if bare, _, typed := strings.Cut(kind, "("); typed {
			parts = append(parts, bare)
		}
		if out && (slices.Contains(parts, name) || many && strings.HasPrefix(kind, prefix)) {
			n += k.Count
		}
	}
	return n
}

func (k *Kind) countMessage(scenario string, v jsontext.Value) {
	dec := jsontext.NewDecoder(bytes.NewReader(v), wire.AsWritten)
	_ = k.countValue(scenario, v, dec, "") // what is not JSON is counted up to there
}

func (k *Kind) countValue(scenario string, all jsontext.Value, dec *jsontext.Decoder, path string) error {
	from := dec.InputOffset()
	if err := k.countParts(scenario, all, dec, path); err != nil {
		return err
	}
	if f := k.Fields[path]; f != nil {
		f.addDifferent(bytes.TrimLeft(all[from:dec.InputOffset()], " \t\r\n,:"))
	}
	return nil
}

// addDifferent adds a value to those that are different.
func (f *Field) addDifferent(value []byte) {
	if len(f.Different) == 0 {
		f.First = string(value)
	}
	if len(f.Different) < MaxValues {
		f.Different[maphash.Bytes(seed, value)] = true
	}
}

var seed = maphash.MakeSeed()

func (k *Kind) countParts(scenario string, all jsontext.Value, dec *jsontext.Decoder, path string) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch tok.Kind() {
	case '{':
		k.countField(scenario, path, "object", "")
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return err
			}
			if err := k.countValue(scenario, all, dec, strings.TrimPrefix(path+"."+memberName(name.String()), ".")); err != nil {
				return err
			}
		}
		_, err = dec.ReadToken()
		return err
	case '[':
		k.countField(scenario, path, "list", "")
		for dec.PeekKind() != ']' {
			if err := k.countValue(scenario, all, dec, path+"[]"); err != nil {
				return err
			}
		}
		_, err = dec.ReadToken()
		return err
	case '"':
		form := Form(tok.String())
		word := ""
		if form == "word" {
			word = tok.String()
		}
		k.countField(scenario, path, form, word)
	case 'n':
		k.countField(scenario, path, "null", "")
	case 't', 'f':
		k.countField(scenario, path, "boolean", tok.String())
	default:
		k.countField(scenario, path, "number", "")
	}
	return nil
}

func (k *Kind) countField(scenario, path, form, value string) {
	if path == "" {
		return
	}
	f := k.Fields[path]
	if f == nil {
		f = &Field{Cases: map[string]bool{}, Forms: map[string]int{}, Values: map[string]int{}, ValueCases: map[string]map[string]bool{}, Different: map[uint64]bool{}}
		k.Fields[path] = f
	}
	f.Count++
	f.Cases[scenario] = true
	f.Forms[form]++
	if _, have := f.Values[value]; value != "" && (have || len(f.Values) <= MaxValues) {
		f.Values[value]++
		if f.ValueCases[value] == nil {
			f.ValueCases[value] = map[string]bool{}
		}
		f.ValueCases[value][scenario] = true
	}
}

var (
	identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)
	uuid       = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	number     = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	date       = regexp.MustCompile(`^\d{4}-\d\d-\d\dT`)
	// a word of a closed list, such as a method, a state or a kind: without digits
	// at its end.
	word = regexp.MustCompile(`^[A-Za-z][A-Za-z]*([_/:-]?[A-Za-z]+)*$`)
)

// memberName returns the name of a member, or * if it is named after data.
func memberName(name string) string {
	if identifier.MatchString(name) && len(name) <= 40 {
		return name
	}
	return "*"
}

// Form returns the kind of a string: empty, uuid, digits, time, path, word or text.
func Form(s string) string {
	switch {
	case s == "":
		return "empty"
	case uuid.MatchString(s):
		return "uuid"
	case number.MatchString(s):
		return "digits"
	case date.MatchString(s):
		return "time"
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "<work>"), strings.HasPrefix(s, "<home>"):
		return "path"
	case len(s) <= 40 && word.MatchString(s):
		return "word"
	}
	return "text"
}

// Paths returns the sorted paths of the members of a message, in the form of
// Kind.Fields.
func Paths(v jsontext.Value) []string {
	k := &Kind{Fields: map[string]*Field{}}
	k.countMessage("", v)
	return slices.Sorted(maps.Keys(k.Fields))
}
