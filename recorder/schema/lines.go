package schema

import (
	"slices"
	"strings"
)

// Lines are the names of the lines of a wire without methods. A line is named by
// its tags type and subtype, a control request by its inner subtype, and an event
// of the stream by its inner type.
type Lines struct {
	Names       []string // message system/init, request set_model …
	ClientTypes []string // types that only a client sends
}

// fromRuntime are the control requests that the runtime sends. The client sends
// the others. The published types of Claude Code do not tell them apart.
var fromRuntime = []string{"can_use_tool", "elicitation", "hook_callback", "mcp_message", "request_user_dialog"}

// Lines returns the names of lines. A wire with methods has none.
func (s *Schema) Lines() Lines {
	var out Lines
	for _, r := range s.Roots {
		if r.Kind != Message {
			continue
		}
		for _, alt := range s.alternatives(r.Type) {
			switch r.Name {
			case "stdout":
				out.Names = append(out.Names, s.lineNames(alt)...)
			case "control":
				for _, sub := range s.tags(alt, "subtype") {
					if slices.Contains(fromRuntime, sub) {
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

// lineNames returns the names of the lines of a type.
func (s *Schema) lineNames(typ string) []string {
	var out []string
	for _, tag := range s.tags(typ, "type") {
		var inside []string
		switch tag {
		case "control_request":
			continue // named by its inner subtype
		case "stream_event":
			for _, alt := range s.alternatives(s.fieldType(typ, "event")) {
				inside = append(inside, s.tags(alt, "type")...)
			}
		default:
			inside = s.tags(typ, "subtype")
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
