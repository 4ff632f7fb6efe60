// Package schema holds what the vendor of a runtime publishes about its wire: the names
// of messages, types, fields and values, without prose. It is not part of the stable
// interface. The text of a schema can be compared line by line. Walk reports which names
// a recorded message has.
//
// The text has one declaration a line, sorted:
//
//	notification item/started ItemStartedNotification
//	request turn/start TurnStartParams
//	server-request item/tool/call DynamicToolCallParams
//	message stdout StdoutMessage
//	ItemStartedNotification {item: ThreadItem, threadId: string, turnId?: string}
//	ThreadItem = ThreadItem.agentMessage | ThreadItem.plan
//	TurnStatus = "completed" | "failed"
//
// A type is a name, a "literal", string, number, boolean, null, any, T[], a map of
// T, which is written {T}, or a union of them.
package schema

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Schema is the schema of one version of a wire.
type Schema struct {
	Roots []Root
	Types map[string]Type
}

// Root is a message.
type Root struct {
	Kind string // one of the Kinds
	Name string // its method; for a wire without methods: stdout or stdin
	Type string // of its params; "" if it has none
}

// Kinds of roots.
const (
	Notification  = "notification"   // from the runtime
	ServerRequest = "server-request" // from the runtime, which waits for the answer
	Request       = "request"        // from the client
	Message       = "message"        // a wire without methods: a whole line
)

// Type is an object or an expression.
type Type struct {
	Fields []Field
	Expr   string // if it is not an object
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

// Parse reads the text that Format writes.
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
			return nil, fmt.Errorf("%s:%d: %q is not a declaration", file, n, line)
		}
	}
	return s, nil
}

// splitTop splits at sep, but not inside quotes or brackets. An empty string has no
// parts.
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

// Alternatives returns the members of a union.
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
