package schema

import (
	"slices"
	"strings"
)

// Lines are the names of a wire without methods: a line is told apart by its
// tags type and subtype, a control request by the subtype inside, an event of
// the stream by the type inside.
type Lines struct {
	Names       []string // message system/init, request set_model …
	ClientTypes []string // types of what only a client sends
}

// asks are the control requests that Claude Code sends; all others are the
// client's. The published types do not say which is whose.
var asks = []string{"can_use_tool", "elicitation", "hook_callback", "mcp_message", "request_user_dialog"}

// Lines lists them; a wire with methods has none.
func (s *Schema) Lines() Lines {
	var out Lines
	for _, r := range s.Roots {
		if r.Kind != Message {
			continue
		}
		for _, alt := range s.alternatives(r.Type) {
			switch r.Name {
			case "stdout":
				out.Names = append(out.Names, s.names(alt)...)
			case "control":
				for _, sub := range s.tag(alt, "subtype") {
					if slices.Contains(asks, sub) {
						out.Names = append(out.Names, Message+" control_request/"+sub)
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

// names are the names of the lines of one type.
func (s *Schema) names(typ string) []string {
	var out []string
	for _, tag := range s.tag(typ, "type") {
		var inside []string
		switch tag {
		case "control_request":
			continue // named by what it asks
		case "stream_event":
			for _, alt := range s.alternatives(s.field(typ, "event")) {
				inside = append(inside, s.tag(alt, "type")...)
			}
		default:
			inside = s.tag(typ, "subtype")
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

// Tags are the words by which the alternatives of a type are told apart: the
// literals that a field may be in any of them, sorted.
func (s *Schema) Tags(typ, field string) []string {
	var out []string
	for _, alt := range s.alternatives(typ) {
		out = append(out, s.tag(alt, field)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// tag are the literals of a field, without quotes.
func (s *Schema) tag(typ, field string) []string {
	var out []string
	for _, lit := range s.literals(s.field(typ, field)) {
		out = append(out, strings.Trim(lit, `"`))
	}
	return out
}

func (s *Schema) field(typ, name string) string {
	for _, f := range s.Types[typ].Fields {
		if f.Name == name {
			return f.Type
		}
	}
	return ""
}
