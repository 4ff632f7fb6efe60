// Package schema answers one question: what does a runtime itself say that its
// wire may hold?
//
// Codex generates a JSON schema of its protocol; of Claude Code there are the
// published types of its SDK. Both become one small text of names: messages,
// types, fields, values. It holds no prose, reads like a list of declarations
// and can be compared line by line. Walk says which of it a recorded message
// shows.
//
// The text, one declaration a line, sorted:
//
//	notification item/started ItemStartedNotification
//	request turn/start TurnStartParams
//	server-request item/tool/call DynamicToolCallParams
//	message stdout StdoutMessage
//	ItemStartedNotification {item: ThreadItem, threadId: string, turnId?: string}
//	ThreadItem = ThreadItem.agentMessage | ThreadItem.plan
//	TurnStatus = "completed" | "failed"
//
// Types are a name, a "literal", string, number, boolean, null, any, T[], map
// of T written {T}, and unions of them.
package schema

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Schema is what a runtime says of its wire.
type Schema struct {
	Roots []Root
	Types map[string]Type
}

// Root is a message.
type Root struct {
	Kind string // one of the Kinds
	Name string // its method; for a wire without methods: stdout or stdin
	Type string // of its params; "": it has none
}

// Kinds of roots.
const (
	Notification  = "notification"   // from the runtime
	ServerRequest = "server-request" // from the runtime, wants an answer
	Request       = "request"        // from the client
	Message       = "message"        // a wire without methods: a whole line
)

// Type is an object, or else another type.
type Type struct {
	Fields []Field
	Expr   string // where it is no object
}

// Field is a member of an object.
type Field struct {
	Name     string
	Optional bool
	Type     string
}

// Format writes the schema as text.
func (s *Schema) Format() []byte {
	var b bytes.Buffer
	roots := slices.Clone(s.Roots)
	slices.SortFunc(roots, func(x, y Root) int { return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Name, y.Name)) })
	for _, r := range roots {
		fmt.Fprintln(&b, strings.TrimSpace(r.Kind+" "+r.Name+" "+r.Type))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Types)) {
		fmt.Fprintln(&b, name+s.Types[name].declaration())
	}
	return b.Bytes()
}

func (t Type) declaration() string {
	if t.Expr != "" {
		return " = " + t.Expr
	}
	fields := make([]string, 0, len(t.Fields))
	for _, f := range t.Fields {
		mark := ""
		if f.Optional {
			mark = "?"
		}
		fields = append(fields, f.Name+mark+": "+f.Type)
	}
	slices.Sort(fields)
	return " {" + strings.Join(fields, ", ") + "}"
}

// Parse reads what Format wrote.
func Parse(file string, b []byte) (*Schema, error) {
	s := &Schema{Types: map[string]Type{}}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		switch {
		case slices.Contains([]string{Notification, ServerRequest, Request, Message}, name):
			method, typ, _ := strings.Cut(rest, " ")
			s.Roots = append(s.Roots, Root{name, method, typ})
		case strings.HasPrefix(rest, "= "):
			s.Types[name] = Type{Expr: rest[2:]}
		case strings.HasPrefix(rest, "{") && strings.HasSuffix(rest, "}"):
			t := Type{Fields: []Field{}}
			for _, f := range splitTop(rest[1:len(rest)-1], ", ") {
				key, typ, ok := strings.Cut(f, ": ")
				if !ok {
					return nil, fmt.Errorf("%s:%d: field %q has no type", file, n, f)
				}
				key, optional := strings.CutSuffix(key, "?")
				t.Fields = append(t.Fields, Field{key, optional, typ})
			}
			s.Types[name] = t
		default:
			return nil, fmt.Errorf("%s:%d: %q is no declaration", file, n, line)
		}
	}
	return s, nil
}

// splitTop splits at sep outside of quotes and brackets; nothing gives no parts.
func splitTop(s, sep string) []string {
	var out []string
	start, depth, quoted := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(' || c == '{':
			depth++
		case c == ')' || c == '}':
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], sep):
			out = append(out, s[start:i])
			start = i + len(sep)
			i = start - 1
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// Alternatives splits a union.
func Alternatives(expr string) []string { return splitTop(expr, " | ") }

// union joins alternatives, each once.
func union(alts []string) string {
	var out []string
	for _, a := range alts {
		for _, one := range splitTop(a, " | ") {
			if !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	if slices.Contains(out, "any") || len(out) == 0 {
		return "any"
	}
	slices.Sort(out)
	return strings.Join(out, " | ")
}
