package compare

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// tree is a JSON value.
type tree struct {
	kind  jsontext.Kind
	text  string // of a string: decoded; of a scalar: as it stands
	names []string
	kids  []*tree
}

// parseTree returns nil if b is not a JSON object or array.
func parseTree(b []byte) *tree {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || b[0] != '{' && b[0] != '[' {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(b), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	t, err := readTree(dec)
	if err != nil {
		return nil
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil
	}
	return t
}

func readTree(dec *jsontext.Decoder) (*tree, error) {
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	t := &tree{kind: tok.Kind(), text: tok.String()}
	if t.kind != '{' && t.kind != '[' {
		return t, nil
	}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if t.kind == '{' {
			tok, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			t.names = append(t.names, tok.String())
		}
		kid, err := readTree(dec)
		if err != nil {
			return nil, err
		}
		t.kids = append(t.kids, kid)
	}
	_, err = dec.ReadToken()
	return t, err
}

// at follows names, and takes the first element of an array. It may return nil.
func (t *tree) at(names ...string) *tree {
	for _, name := range names {
		for t != nil && t.kind == '[' {
			if len(t.kids) == 0 {
				return nil
			}
			t = t.kids[0]
		}
		if t == nil || t.kind != '{' {
			return nil
		}
		i := slices.Index(t.names, name)
		if i < 0 {
			return nil
		}
		t = t.kids[i]
	}
	return t
}

// mask replaces each number and each string in the value.
func (t *tree) mask() {
	if t.kind == '0' || t.kind == '"' {
		t.kind, t.text = '"', "<chance>"
	}
	for _, kid := range t.kids {
		kid.mask()
	}
}

// str returns the text of the scalar there, or "".
func (t *tree) str(names ...string) string {
	t = t.at(names...)
	if t == nil || t.kind == '{' || t.kind == '[' || t.kind == 'n' {
		return ""
	}
	return t.text
}

// eachMember calls f with the value of each member of that name, at any depth.
func (t *tree) eachMember(name string, f func(*tree)) {
	for i, kid := range t.kids {
		if t.kind == '{' && t.names[i] == name {
			f(kid)
		}
		kid.eachMember(name, f)
	}
}

// sortObject sorts the members of an object that is the whole of a text, because a
// runtime may write the answers to several questions in any order.
func (t *tree) sortObject() {
	v := jsontext.Value(t.text)
	if t.kind != '"' || !strings.HasPrefix(t.text, "{") || v.Canonicalize() != nil {
		return
	}
	t.text = string(v)
}

// dropMember removes a member of the value itself.
func (t *tree) dropMember(name string) {
	if i := slices.Index(t.names, name); i >= 0 {
		t.names, t.kids = slices.Delete(t.names, i, i+1), slices.Delete(t.kids, i, i+1)
	}
}

// eachString calls f with each string value and the name of the member that holds
// it.
func (t *tree) eachString(key string, f func(key, s string)) {
	if t.kind == '"' {
		f(key, t.text)
	}
	for i, kid := range t.kids {
		k := key
		if t.kind == '{' {
			k = t.names[i]
		}
		kid.eachString(k, f)
	}
}

// render writes the value without noise. Members are sorted, because their order
// may change from run to run.
func (t *tree) render(rename func(string) string) string {
	var b strings.Builder
	t.renderTo(&b, rename)
	return b.String()
}

func (t *tree) renderTo(b *strings.Builder, rename func(string) string) {
	switch t.kind {
	case '{':
		order := make([]int, 0, len(t.names))
		for i, name := range t.names {
			if _, noise := noiseMembers[name]; !noise && !noiseSuffix(name) {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(i, j int) int { return strings.Compare(t.names[i], t.names[j]) })
		b.WriteByte('{')
		for n, i := range order {
			if n > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoteText(rename(t.names[i])))
			b.WriteByte(':')
			t.kids[i].renderTo(b, rename)
		}
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		for i, kid := range t.kids {
			if i > 0 {
				b.WriteByte(',')
			}
			kid.renderTo(b, rename)
		}
		b.WriteByte(']')
	case '"':
		b.WriteString(quoteText(rename(t.text)))
	default:
		b.WriteString(t.text)
	}
}

func quoteText(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // invalid UTF-8
		return strconv.QuoteToASCII(s)
	}
	return string(b)
}

// flatten writes one line a scalar.
func (t *tree) flatten(path string, f func(string)) {
	switch {
	case t.kind == '{' && len(t.kids) > 0:
		for i, kid := range t.kids {
			kid.flatten(path+"."+t.names[i], f)
		}
	case t.kind == '[' && len(t.kids) > 0:
		for i, kid := range t.kids {
			kid.flatten(path+"["+strconv.Itoa(i)+"]", f)
		}
	default:
		f(path + ": " + t.render(func(s string) string { return s }))
	}
}
