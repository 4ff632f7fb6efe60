package schema

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Seen counts what recorded messages hold of one schema.
type Seen struct {
	Messages map[string]int // kind and name, or the tags of a line: notification turn/started, system/init
	Fields   map[string]int // Type.field
	Values   map[string]int // Type.field=literal, or Type=literal of a named list of values
	Unknown  map[string]int // members that are not in the schema: Type.field

	resolved map[string]resolved // by type: resolving one for each value takes most of the time
}

// resolved is a type without names.
type resolved struct {
	alternatives []string
	literals     []string // see Schema.literals
}

// resolve resolves a type of the schema, once.
func (seen *Seen) resolve(s *Schema, expr string) resolved {
	r, have := seen.resolved[expr]
	if !have {
		r = resolved{s.alternatives(expr), s.literals(expr)}
		seen.resolved[expr] = r
	}
	return r
}

// NewSeen returns an empty Seen.
func NewSeen() *Seen {
	return &Seen{map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]resolved{}}
}

// Walk counts what a message holds. A method that is not in the schema is counted
// as a message too.
func (s *Schema) Walk(seen *Seen, kind, name string, value jsontext.Value) {
	seen.Messages[kind+" "+name]++
	for _, r := range s.Roots {
		if r.Kind == kind && r.Name == name && r.Type != "" {
			s.walk(seen, r.Type, "", value)
			return
		}
	}
}

// walk follows a value along its type. place is the field that holds a list of
// values.
func (s *Schema) walk(seen *Seen, expr, place string, v jsontext.Value) {
	switch v.Kind() {
	case '{':
		s.object(seen, expr, place, v)
	case '[':
		var list []jsontext.Value
		if json.Unmarshal(v, &list) != nil {
			return
		}
		for _, alt := range seen.resolve(s, expr).alternatives {
			if of, ok := strings.CutSuffix(alt, "[]"); ok {
				for _, one := range list {
					s.walk(seen, unwrap(of), place, one)
				}
				return
			}
		}
	case '"', '0', 't', 'f':
		s.scalar(seen, expr, place, v.String())
	}
}

func unwrap(of string) string {
	if strings.HasPrefix(of, "(") && strings.HasSuffix(of, ")") {
		return of[1 : len(of)-1]
	}
	return of
}

// scalar counts a literal that the type lists.
func (s *Schema) scalar(seen *Seen, expr, place, text string) {
	for _, alt := range splitTop(expr, " | ") {
		if alt == text {
			seen.Values[place+"="+text]++
			return
		}
		if t, ok := s.Types[alt]; ok && t.Expr != "" {
			s.scalar(seen, t.Expr, alt, text)
		}
	}
}

func (s *Schema) object(seen *Seen, expr, place string, v jsontext.Value) {
	var members map[string]jsontext.Value
	if json.Unmarshal(v, &members, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return
	}
	name, of := s.choose(seen, expr, members)
	if of != "" {
		for _, one := range members {
			s.walk(seen, unwrap(of), place, one)
		}
	}
	if name == "" {
		return
	}
	fields := s.Types[name].Fields
	for key, one := range members {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == key })
		if i < 0 {
			seen.Unknown[name+"."+key]++
			continue
		}
		seen.Fields[name+"."+key]++
		s.walk(seen, fields[i].Type, name+"."+key, one)
	}
}

// choose returns the alternative whose literals an object has, and among those the
// one that has most of its members. If the object may be a map, of is the type of
// its values.
func (s *Schema) choose(seen *Seen, expr string, members map[string]jsontext.Value) (name, of string) {
	best := -1
	for _, alt := range seen.resolve(s, expr).alternatives {
		if strings.HasPrefix(alt, "{") && best < 0 {
			of = alt[1 : len(alt)-1]
			continue
		}
		t, ok := s.Types[alt]
		if !ok {
			continue
		}
		score := 0
		for _, f := range t.Fields {
			v, has := members[f.Name]
			lits := seen.resolve(s, f.Type).literals
			switch {
			case !has && !f.Optional:
				score--
			case has && lits == nil:
				score++
			case has && slices.Contains(lits, v.String()):
				score += 20
			case has:
				score -= 100
			}
		}
		if score > best || name == "" {
			best, name = score, alt
		}
	}
	if best <= -50 {
		name = ""
	}
	return name, of
}

// literals returns the values of a type that has nothing else.
func (s *Schema) literals(expr string) []string {
	alts := s.alternatives(expr)
	for _, a := range alts {
		if !isLiteral(a) {
			return nil
		}
	}
	return alts
}

func isLiteral(a string) bool { return a[0] == '"' || a[0] >= '0' && a[0] <= '9' || a[0] == '-' }

// alternatives resolves the names of a type until only objects, maps, lists,
// literals and basic types are left.
func (s *Schema) alternatives(expr string) []string { return s.resolve(expr, nil) }

func (s *Schema) resolve(expr string, path []string) []string {
	var out []string
	for _, alt := range splitTop(expr, " | ") {
		t, ok := s.Types[alt]
		if ok && t.Expr != "" && !slices.Contains(path, alt) {
			out = append(out, s.resolve(t.Expr, append(path, alt))...)
			continue
		}
		out = append(out, alt)
	}
	return out
}
