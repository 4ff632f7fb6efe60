package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// node is the supported part of JSON Schema.
type node struct {
	Ref        string              `json:"$ref"`
	Type       typeNames           `json:"type"`
	Enum       []jsontext.Value    `json:"enum"`
	Const      jsontext.Value      `json:"const"`
	Properties map[string]anyNode  `json:"properties"`
	Required   []string            `json:"required"`
	Additional anyNode             `json:"additionalProperties"`
	Items      anyNode             `json:"items"`
	OneOf      []anyNode           `json:"oneOf"`
	AnyOf      []anyNode           `json:"anyOf"`
	AllOf      []anyNode           `json:"allOf"`
	Defs       map[string]*anyNode `json:"definitions"`
}

// anyNode is a schema, or true or false.
type anyNode struct{ *node }

func (a *anyNode) UnmarshalJSON(b []byte) error {
	if k := jsontext.Value(b).Kind(); k != '{' {
		return nil // true: anything
	}
	a.node = new(node)
	return json.Unmarshal(b, a.node)
}

// typeNames is one name or several.
type typeNames []string

func (t *typeNames) UnmarshalJSON(b []byte) error {
	if jsontext.Value(b).Kind() == '"' {
		var s string
		err := json.Unmarshal(b, &s)
		*t = typeNames{s}
		return err
	}
	var list []string
	err := json.Unmarshal(b, &list)
	*t = list
	return err
}

// AddJSONSchema adds a file of JSON schema: a union of messages of a kind, each of
// which is an object with a method and its params. A type that the schema has
// already stays as it is.
func (s *Schema) AddJSONSchema(kind string, b []byte) error {
	var doc node
	if err := json.Unmarshal(b, &doc); err != nil {
		return err
	}
	for name, d := range doc.Defs {
		if _, ok := s.Types[name]; !ok && d != nil {
			s.define(name, d.node)
		}
	}
	for i, one := range doc.OneOf {
		if one.node == nil || one.Properties["method"].node == nil || len(one.Properties["method"].Enum) != 1 {
			return fmt.Errorf("alternative %d is not a message with a method", i)
		}
		var method string
		if err := json.Unmarshal(one.Properties["method"].Enum[0], &method); err != nil {
			return err
		}
		r := Root{Kind: kind, Name: method}
		if p, ok := one.Properties["params"]; ok {
			r.Type = s.expr(method+".params", p.node)
		}
		s.Roots = append(s.Roots, r)
	}
	return nil
}

// define adds a type.
func (s *Schema) define(name string, n *node) {
	if n != nil && len(n.Properties) > 0 && n.Ref == "" && len(n.OneOf)+len(n.AnyOf)+len(n.AllOf) == 0 {
		s.Types[name] = Type{Fields: s.fields(name, n)}
		return
	}
	s.Types[name] = Type{Expr: s.expr(name, n)}
}

func (s *Schema) fields(name string, n *node) []Field {
	out := []Field{}
	for _, key := range slices.Sorted(maps.Keys(n.Properties)) {
		out = append(out, Field{key, !slices.Contains(n.Required, key), s.expr(name+"."+key, n.Properties[key].node)})
	}
	return out
}

// expr returns a type. An object inside it is named after its place.
func (s *Schema) expr(place string, n *node) string {
	if n == nil {
		return "any"
	}
	switch {
	case n.Ref != "":
		return n.Ref[strings.LastIndex(n.Ref, "/")+1:]
	case len(n.Const) > 0:
		return n.Const.String()
	case len(n.Enum) > 0:
		var alts []string
		for _, e := range n.Enum {
			alts = append(alts, e.String())
		}
		return union(alts)
	}
	if all := slices.Concat(n.OneOf, n.AnyOf, n.AllOf); len(all) > 0 {
		var alts []string
		for i, one := range all {
			alts = append(alts, s.expr(place+"."+tagOf(one.node, i), one.node))
		}
		return union(alts)
	}
	if len(n.Properties) > 0 {
		s.Types[place] = Type{Fields: s.fields(place, n)}
		return place
	}
	var alts []string
	for _, t := range n.Type {
		switch t {
		case "integer":
			t = "number"
		case "array":
			t = array(s.expr(place, n.Items.node))
		case "object":
			t = "{" + s.expr(place, n.Additional.node) + "}"
		}
		alts = append(alts, t)
	}
	return union(alts)
}

func array(t string) string {
	if strings.Contains(t, " | ") {
		t = "(" + t + ")"
	}
	return t + "[]"
}

// tagOf names an alternative by the literal of its tag, by its only member, or by
// its number.
func tagOf(n *node, i int) string {
	if n != nil {
		for _, key := range []string{"type", "kind", "mode", "status"} {
			if p := n.Properties[key].node; p != nil && len(p.Enum) == 1 {
				return strings.Trim(p.Enum[0].String(), `"`)
			}
		}
		if len(n.Properties) == 1 {
			for key := range n.Properties {
				return key
			}
		}
	}
	return strconv.Itoa(i + 1)
}
