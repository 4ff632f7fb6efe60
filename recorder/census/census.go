package census

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// Census is what cases have shown.
type Census struct {
	Kinds map[string]*Kind // by direction and kind: out turn/started
}

// Kind is what is known of one kind of message.
type Kind struct {
	Count  int
	Cases  map[string]bool // scenarios that show it
	Fields map[string]*Field
}

// Field is what is known of a member: its path from the top, [] for the
// elements of a list, * for a member that is named after data.
type Field struct {
	Count  int
	Forms  map[string]int // number, boolean, null, object, list, and of strings: uuid, path, word …
	Values map[string]int // of the form word, true and false; at most MaxValues
}

// MaxValues bounds how many values of a member are kept: with more it is no list
// of words.
const MaxValues = 40

// Take counts.
func Take(cases []*fixtures.Case) *Census {
	c := &Census{map[string]*Kind{}}
	for _, one := range cases {
		for _, m := range Messages(one) {
			key := direction(m.In) + m.Kind
			k := c.Kinds[key]
			if k == nil {
				k = &Kind{Cases: map[string]bool{}, Fields: map[string]*Field{}}
				c.Kinds[key] = k
			}
			k.Count++
			k.Cases[one.Scenario] = true
			k.take(m.Value)
		}
	}
	return c
}

// Shown is how many messages from the runtime have that name, whole or as one
// part of their kind; a name may end in *.
func Shown(kinds map[string]*Kind, name string) int {
	prefix, many := strings.CutSuffix(name, "*")
	n := 0
	for key, k := range kinds {
		kind, ours := strings.CutPrefix(key, "out ")
		parts := append(strings.FieldsFunc(kind, func(r rune) bool { return strings.ContainsRune("/()", r) }), kind)
		if plain, _, held := strings.Cut(kind, "("); held {
			parts = append(parts, plain)
		}
		if ours && (slices.Contains(parts, name) || many && strings.HasPrefix(kind, prefix)) {
			n += k.Count
		}
	}
	return n
}

func (k *Kind) take(v jsontext.Value) {
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_ = k.value(dec, "")
}

func (k *Kind) value(dec *jsontext.Decoder, path string) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch tok.Kind() {
	case '{':
		k.note(path, "object", "")
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return err
			}
			if err := k.value(dec, strings.TrimPrefix(path+"."+member(name.String()), ".")); err != nil {
				return err
			}
		}
		_, err = dec.ReadToken()
		return err
	case '[':
		k.note(path, "list", "")
		for dec.PeekKind() != ']' {
			if err := k.value(dec, path+"[]"); err != nil {
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
		k.note(path, form, word)
	case 'n':
		k.note(path, "null", "")
	case 't', 'f':
		k.note(path, "boolean", tok.String())
	default:
		k.note(path, "number", "")
	}
	return nil
}

func (k *Kind) note(path, form, value string) {
	if path == "" {
		return
	}
	f := k.Fields[path]
	if f == nil {
		f = &Field{Forms: map[string]int{}, Values: map[string]int{}}
		k.Fields[path] = f
	}
	f.Count++
	f.Forms[form]++
	if _, have := f.Values[value]; value != "" && (have || len(f.Values) <= MaxValues) {
		f.Values[value]++
	}
}

var (
	identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)
	uuid       = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	number     = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	date       = regexp.MustCompile(`^\d{4}-\d\d-\d\dT`)
	// a word of a closed list: a name without digits at its end, as methods,
	// states and kinds have it.
	word = regexp.MustCompile(`^[A-Za-z][A-Za-z]*([_/:-]?[A-Za-z]+)*$`)
)

// member names a member; one that is named after data has no name of its own.
func member(name string) string {
	if identifier.MatchString(name) && len(name) <= 40 {
		return name
	}
	return "*"
}

// Form is what a string looks like.
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
