package event

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "rewrite types.go and schema.json")

// node is one JSON Schema, its members in the order in which they are written.
type node struct {
	Schema               string   `json:"$schema,omitempty"`
	ID                   string   `json:"$id,omitempty"`
	Ref                  string   `json:"$ref,omitempty"`
	Title                string   `json:"title,omitempty"`
	Description          string   `json:"description,omitempty"`
	Deprecated           bool     `json:"deprecated,omitzero"`
	Type                 string   `json:"type,omitempty"`
	Const                string   `json:"const,omitempty"`
	Enum                 []string `json:"enum,omitempty"`
	Format               string   `json:"format,omitempty"`
	Pattern              string   `json:"pattern,omitempty"`
	Minimum              *int64   `json:"minimum,omitempty"`
	Maximum              *int64   `json:"maximum,omitempty"`
	MinLength            int      `json:"minLength,omitzero"`
	Items                *node    `json:"items,omitempty"`
	Properties           members  `json:"properties,omitempty"`
	Required             []string `json:"required,omitempty"`
	AdditionalProperties *bool    `json:"additionalProperties,omitempty"`
	OneOf                []*node  `json:"oneOf,omitempty"`
	Defs                 members  `json:"$defs,omitempty"`
}

// members are named schemas in a fixed order.
type members []member

type member struct {
	name string
	node *node
}

func (m members) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, x := range m {
		if err := enc.WriteToken(jsontext.String(x.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, x.node); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// generator makes schemas from shapes. It writes named ones once, under $defs.
type generator struct {
	docs map[string]string
	defs members
	seen map[string]bool
}

func (g *generator) of(s *shape, least int) *node {
	n := &node{}
	switch s.kind {
	case kindString:
		n.Type, n.MinLength = "string", least
		if s.enum != nil {
			return g.define(s.name, &node{Type: "string", Enum: s.enum})
		}
	case kindInteger:
		low, high := int64(-maxInteger), int64(maxInteger)
		if least > 0 {
			low = int64(least)
		}
		n.Type, n.Minimum, n.Maximum = "integer", &low, &high
	case kindNumber:
		n.Type = "number"
	case kindBool:
		n.Type = "boolean"
	case kindTime:
		n.Type, n.Format, n.Pattern = "string", "date-time", "^[1-9]"
	case kindArray:
		n.Type, n.Items = "array", g.of(s.elem, 0)
	case kindObject:
		return g.define(s.name, g.object(s, false))
	}
	return n
}

func (g *generator) object(s *shape, legacy bool) *node {
	closed := false
	n := &node{Type: "object", AdditionalProperties: &closed}
	for _, f := range s.fields {
		property := g.of(f.shape, f.min)
		property.Description = g.docs[s.name+"."+f.goName]
		n.Properties = append(n.Properties, member{f.name, property})
		if f.required {
			n.Required = append(n.Required, f.name)
		}
	}
	if legacy {
		n.Properties = append(n.Properties, member{legacyMember, &node{Type: "string", Deprecated: true}})
	}
	return n
}

func (g *generator) define(name string, n *node) *node {
	if !g.seen[name] {
		g.seen[name] = true
		n.Description = g.docs[name]
		g.defs = append(g.defs, member{name, n})
	}
	return &node{Ref: "#/$defs/" + name}
}

func (g *generator) whole() *node {
	root := g.object(envelopeShape, false)
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.ID = "https://github.com/turnspec/turnspec/adapters/event/schema.json"
	root.Title = "Turnspec event"
	root.Description = "One normalized event of an agent runtime. subagent_id within data is accepted where older senders put it."
	for _, t := range Types() {
		s := rowByType[t].form.shape
		root.OneOf = append(root.OneOf, &node{Properties: members{
			{"type", &node{Const: string(t)}},
			{"data", g.define(s.name, g.object(s, true))},
		}})
	}
	root.Defs = g.defs
	return root
}

// declarations returns the declarations of the files that define the events.
func declarations(t *testing.T) []ast.Decl {
	t.Helper()
	var out []ast.Decl
	for _, file := range []string{"data.go", "tooldata.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f.Decls...)
	}
	return out
}

// docs reads the comments of this package's types, and of their fields as Type.Field.
func docs(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, d := range declarations(t) {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			spec := g.Specs[0].(*ast.TypeSpec)
			found[spec.Name.Name] = strings.Join(strings.Fields(g.Doc.Text()), " ")
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, n := range f.Names {
						found[spec.Name.Name+"."+n.Name] = strings.TrimSpace(f.Comment.Text())
					}
				}
			}
		}
	}
	return found
}

func TestGeneratedSchema(t *testing.T) {
	g := NewWithT(t)
	gen := &generator{docs: docs(t), seen: map[string]bool{}}
	want, err := json.Marshal(gen.whole(), jsontext.WithIndent("  "))
	g.Expect(err).NotTo(HaveOccurred())
	want = append(want, '\n')
	if *update {
		g.Expect(os.WriteFile("schema.json", want, 0o644)).To(Succeed())
		return
	}
	if !bytes.Equal(want, Schema) {
		t.Error("schema.json is stale: run go generate ./adapters/event")
	}
}

// schema compiles the published file, with formats asserted.
func schema(tb testing.TB) *jsonschema.Schema {
	tb.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		tb.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		tb.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func validate(s *jsonschema.Schema, line []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// TestEnumsListEveryConstant: strict decoding rejects a constant that is missing in
// the list of its type.
func TestEnumsListEveryConstant(t *testing.T) {
	g := NewWithT(t)
	declared := map[string][]string{}
	for _, d := range declarations(t) {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, s := range gen.Specs {
			v := s.(*ast.ValueSpec)
			name := v.Type.(*ast.Ident).Name
			declared[name] = append(declared[name], strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`))
		}
	}
	listed := map[string][]string{}
	for typ, values := range enums {
		listed[typ.Name()] = values
	}
	g.Expect(listed).To(Equal(declared))
}
