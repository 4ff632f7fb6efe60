package schema

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures/wire"
)

// Lines are the names of the lines of a wire without methods.
type Lines struct {
	Names       []string // message system/init, request set_model …
	ClientTypes []string // types that only a client sends
}

// Lines returns the names of lines by their tags; nil are those of a wire with methods, whose
// lines it does not name.
func (s *Schema) Lines(tags *wire.Tags) Lines {
	var out Lines
	if tags == nil {
		return out
	}
	for _, r := range s.Roots {
		if r.Kind != Message {
			continue
		}
		for _, alt := range s.alternatives(r.Type) {
			switch r.Name {
			case "stdout":
				out.Names = append(out.Names, s.lineNames(tags, alt)...)
			case "control":
				for _, sub := range s.tags(alt, "subtype") {
					if slices.Contains(tags.Asked, sub) {
						out.Names = append(out.Names, Message+" "+tags.Request+"/"+sub)
						continue
					}
					out.Names = append(out.Names, Request+" "+sub)
					out.ClientTypes = append(out.ClientTypes, alt)
				}
			}
		}
	}
	slices.Sort(out.Names)
	out.Names = slices.Compact(out.Names)
	return out
}

// lineNames returns the names of the lines of a type.
func (s *Schema) lineNames(tags *wire.Tags, typ string) []string {
	var out []string
	for _, tag := range s.tags(typ, "type") {
		if tag == tags.Request {
			continue // named by what is requested
		}
		inside := s.tags(typ, "subtype")
		if path, ok := tags.Inner[tag]; ok {
			inside = nil
			for _, alt := range s.alternatives(s.fieldType(typ, path[0])) {
				inside = append(inside, s.tags(alt, path[1])...)
			}
		}
		if len(inside) == 0 {
			out = append(out, Message+" "+tag)
		}
		for _, sub := range inside {
			out = append(out, Message+" "+tag+"/"+sub)
		}
	}
	return out
}

// Tags returns the literals that a field may have in the alternatives of a type,
// sorted.
func (s *Schema) Tags(typ, field string) []string {
	var out []string
	for _, alt := range s.alternatives(typ) {
		out = append(out, s.tags(alt, field)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// tags returns the literals of a field, without quotes.
func (s *Schema) tags(typ, field string) []string {
	var out []string
	for _, lit := range s.literals(s.fieldType(typ, field)) {
		out = append(out, strings.Trim(lit, `"`))
	}
	return out
}

func (s *Schema) fieldType(typ, name string) string {
	for _, f := range s.Types[typ].Fields {
		if f.Name == name {
			return f.Type
		}
	}
	return ""
}
