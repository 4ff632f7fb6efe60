package jsonl_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

var update = flag.Bool("update", false, "write the types of the plugs from the schemas")

// node is a schema, as far as the two schemas use it.
type node struct {
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Type        string           `json:"type"`
	Ref         string           `json:"$ref"`
	Enum        []string         `json:"enum"`
	Const       string           `json:"const"`
	Items       *node            `json:"items"`
	Properties  members          `json:"properties"`
	Required    []string         `json:"required"`
	Defs        map[string]*node `json:"$defs"`
	OneOf       []*node          `json:"oneOf"`
	Deprecated  bool             `json:"deprecated"`

	AdditionalProperties jsontext.Value `json:"additionalProperties"`
}

// members are the properties of a schema in their order.
type members []member

type member struct {
	Name string
	*node
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *members) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		one := member{name.String(), new(node)}
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		if v.Kind() == '{' {
			if err := json.Unmarshal(v, one.node); err != nil {
				return err
			}
		}
		*m = append(*m, one)
	}
	_, err := d.ReadToken()
	return err
}

func parseSchema(t *testing.T, text []byte) *node {
	t.Helper()
	var n node
	// Of the consts only names are of use for the types.
	v := jsontext.Value(bytes.ReplaceAll(text, []byte(`"const": 1`), []byte(`"const": "1"`)))
	if err := json.Unmarshal(v, &n); err != nil {
		t.Fatal(err)
	}
	return &n
}

// language is how a schema becomes the types of a language.
type language struct {
	file    string
	head    string
	write   func(b *strings.Builder, name, description string, n *node)
	mapping func(b *strings.Builder, events, commands []member)
	runtime func(names []string) string // the type of a runtime's name
}

// TestTypes compares the types of the plugs with the schemas of events and lines, and with the
// list of runtimes.
func TestTypes(t *testing.T) {
	events, lines := parseSchema(t, event.Schema), parseSchema(t, jsonl.Schema)
	for _, l := range []language{typescript, python} {
		g := gomega.NewWithT(t)
		var b strings.Builder
		b.WriteString(l.head)
		for _, name := range slices.Sorted(maps.Keys(events.Defs)) {
			l.write(&b, name, events.Defs[name].Description, events.Defs[name])
		}
		var types, commands []member
		for _, e := range events.OneOf {
			types = append(types, member{e.Properties[0].Const, &node{Ref: e.Properties[1].Ref}})
		}
		for _, c := range lines.Defs["command"].OneOf {
			c.Properties = slices.DeleteFunc(c.Properties, func(m member) bool { return m.Name == "id" || m.Name == "do" })
			name := camel(c.Title) + "Command"
			l.write(&b, name, "The command "+c.Title+".", c)
			commands = append(commands, member{c.Title, &node{Ref: name}})
		}
		l.mapping(&b, types, commands)
		b.WriteString(l.runtime(runtimes.Kinds()))
		if *update {
			g.Expect(os.WriteFile(l.file, []byte(b.String()), 0o644)).To(gomega.Succeed())
		}
		have, err := os.ReadFile(l.file)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(string(have)).To(gomega.Equal(b.String()), "%s: go test ./conformance/plug/jsonl -run TestTypes -update", l.file)
	}
}

// TestPlugsDeclareAllAbilities checks that an adapter can declare each ability with each
// plug, as a method or in `can`.
func TestPlugsDeclareAllAbilities(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(schemaAbilities(t)).To(gomega.ConsistOf(jsonl.Abilities()))
	for file, forms := range map[string][]string{
		"../typescript/index.js":                   {"%s", `"%s"`},
		"../typescript/index.d.ts":                 {"%s?: Method", `"%s"`},
		"../python/src/turnspec_plug/__init__.py":  {"%s"},
		"../python/src/turnspec_plug/__init__.pyi": {"%s"},
	} {
		b, err := os.ReadFile(file)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for _, ability := range jsonl.Abilities() {
			if strings.HasSuffix(file, ".js") || strings.HasSuffix(file, ".py") {
				if !isCommand(t, ability) {
					continue // what is in can is passed on
				}
			}
			g.Expect(slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(string(b), fmt.Sprintf(form, ability)) })).
				To(gomega.BeTrue(), "%s: %s", file, ability)
		}
	}
}

func schemaAbilities(t *testing.T) []string {
	t.Helper()
	for _, p := range parseSchema(t, jsonl.Schema).Defs["message"].Properties {
		if p.Name == "hello" {
			for _, q := range p.Properties {
				if q.Name == "can" {
					return q.Items.Enum
				}
			}
		}
	}
	t.Fatal("the schema has no abilities")
	return nil
}

func isCommand(t *testing.T, name string) bool {
	t.Helper()
	return slices.ContainsFunc(parseSchema(t, jsonl.Schema).Defs["command"].OneOf, func(n *node) bool { return n.Title == name })
}

func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

func refName(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

var typescript = language{
	file: "../typescript/types.d.ts",
	head: "// Written by `go test ./conformance/plug/jsonl -run TestTypes -update` from the schemas of events and lines.\n",
	write: func(b *strings.Builder, name, description string, n *node) {
		if description != "" {
			fmt.Fprintf(b, "\n/** %s */\n", strings.ReplaceAll(description, "\n", " "))
		} else {
			b.WriteString("\n")
		}
		if n.Type == "object" && len(n.Properties) > 0 {
			fmt.Fprintf(b, "export interface %s %s\n", name, tsType(n, ""))
			return
		}
		fmt.Fprintf(b, "export type %s = %s;\n", name, tsType(n, ""))
	},
	mapping: func(b *strings.Builder, events, commands []member) {
		for _, m := range []struct {
			name, doc string
			members   []member
		}{{"Events", "The data of each type of event.", events}, {"Command", "What each command holds.", commands}} {
			fmt.Fprintf(b, "\n/** %s */\nexport interface %s {\n", m.doc, m.name)
			for _, e := range m.members {
				fmt.Fprintf(b, "  %s: %s;\n", e.Name, refName(e.Ref))
			}
			b.WriteString("}\n")
		}
	},
	runtime: func(names []string) string {
		return "\n/** A runtime that an adapter may wrap. */\nexport type Runtime = " + quoted(names, " | ") + ";\n"
	},
}

func tsType(n *node, indent string) string {
	switch {
	case n.Ref != "":
		return refName(n.Ref)
	case len(n.Enum) > 0:
		return quoted(n.Enum, " | ")
	case n.Type == "object" && len(n.Properties) > 0:
		var b strings.Builder
		b.WriteString("{\n")
		for _, p := range n.Properties {
			if p.Deprecated {
				continue
			}
			if p.Description != "" {
				fmt.Fprintf(&b, "%s  /** %s */\n", indent, p.Description)
			}
			optional := "?"
			if slices.Contains(n.Required, p.Name) {
				optional = ""
			}
			fmt.Fprintf(&b, "%s  %s%s: %s;\n", indent, p.Name, optional, tsType(p.node, indent+"  "))
		}
		return b.String() + indent + "}"
	case n.Type == "object":
		return "Record<string, " + elementType(n, tsType) + ">"
	case n.Type == "array" && strings.Contains(tsType(n.Items, indent), " | "):
		return "(" + tsType(n.Items, indent) + ")[]"
	case n.Type == "array":
		return tsType(n.Items, indent) + "[]"
	}
	return cmp.Or(map[string]string{"integer": "number", "number": "number", "string": "string", "boolean": "boolean"}[n.Type], "unknown")
}

// quoted returns the values as literals, joined.
func quoted(values []string, separator string) string {
	var out []string
	for _, v := range values {
		out = append(out, strconv.Quote(v))
	}
	return strings.Join(out, separator)
}

// elementType returns the type of the members of an object that may have any.
func elementType(n *node, write func(*node, string) string) string {
	element := new(node)
	if n.AdditionalProperties.Kind() == '{' {
		if err := json.Unmarshal(n.AdditionalProperties, element); err != nil {
			panic(err)
		}
	}
	return write(element, "")
}

// Python's types are those of a stub file. An object within an object gets a name of
// its own.
var python = language{
	file: "../python/src/turnspec_plug/_types.pyi",
	head: "# Written by `go test ./conformance/plug/jsonl -run TestTypes -update` from the schemas of events and lines.\n" +
		"from typing import Any, Dict, List, Literal, TypedDict\nfrom typing_extensions import Required\n",
	write: func(b *strings.Builder, name, description string, n *node) {
		if n.Type != "object" || len(n.Properties) == 0 {
			fmt.Fprintf(b, "\n%s = %s\n", name, pyType(n, name))
			return
		}
		writeTypedDict(b, name, description, n)
	},
	mapping: func(b *strings.Builder, events, _ []member) {
		b.WriteString("\nEventType = Literal[\n")
		for _, e := range events {
			fmt.Fprintf(b, "    %q,\n", e.Name)
		}
		b.WriteString("]\n")
	},
	runtime: func(names []string) string { return "\nRuntime = Literal[" + quoted(names, ", ") + "]\n" },
}

func writeTypedDict(b *strings.Builder, name, description string, n *node) {
	for _, p := range n.Properties {
		inner := p.node
		if inner.Type == "array" {
			inner = inner.Items
		}
		if inner.Type == "object" && len(inner.Properties) > 0 {
			writeTypedDict(b, name+camel(p.Name), inner.Description, inner)
		}
	}
	fmt.Fprintf(b, "\nclass %s(TypedDict, total=False):\n", name)
	if description != "" {
		fmt.Fprintf(b, "    \"\"\"%s\"\"\"\n", strings.ReplaceAll(description, "\n", " "))
	}
	empty := true
	for _, p := range n.Properties {
		if p.Deprecated {
			continue
		}
		empty = false
		typ := pyType(p.node, name+camel(p.Name))
		if slices.Contains(n.Required, p.Name) {
			typ = "Required[" + typ + "]"
		}
		fmt.Fprintf(b, "    %s: %s\n", p.Name, typ)
	}
	if empty {
		b.WriteString("    pass\n")
	}
}

func pyType(n *node, name string) string {
	switch {
	case n.Ref != "":
		return refName(n.Ref)
	case len(n.Enum) > 0:
		return "Literal[" + quoted(n.Enum, ", ") + "]"
	case n.Type == "object" && len(n.Properties) > 0:
		return name
	case n.Type == "object":
		return "Dict[str, " + elementType(n, pyType) + "]"
	case n.Type == "array":
		return "List[" + pyType(n.Items, name) + "]"
	}
	return cmp.Or(map[string]string{"integer": "int", "number": "float", "string": "str", "boolean": "bool"}[n.Type], "Any")
}
