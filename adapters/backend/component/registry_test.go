package component_test

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/component"
	"github.com/turnspec/turnspec/adapters/event"
)

// kit is a registry with one of each kind.
const kit = `{
	"surfaces": ["chat", "panel"],
	"components": [
		{"name": "card", "description": "A card.", "surfaces": ["chat", "panel"],
		 "props": {"type":"object","properties":{"title":{"type":"string"},"n":{"type":"integer"}},"required":["title"],"additionalProperties":false},
		 "actions": {"pick": {"type":"object","required":["which"]}, "close": {}}},
		{"name": "weather", "surfaces": ["chat"]},
		{"name": "board", "surfaces": ["panel"], "props": {"type":"object","properties":{"steps":{"type":"array"}}}}
	],
	"tools": [{"tool":"weather","component":"weather"}, {"tool":"plan","component":"board","surface":"panel"}],
	"projections": [{"id":"plan","component":"board","surface":"panel","path":"/plan","props":{"steps":"/plan/steps","first":"/plan/steps/0"}}],
	"state": {"type":"object","properties":{"count":{"type":"integer"}}}
}`

func registry(t *testing.T) *component.Registry {
	t.Helper()
	r, err := component.Parse([]byte(kit))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCheck(t *testing.T) {
	r := registry(t)
	for _, c := range []struct{ name, surface, props, err string }{
		{"card", "chat", `{"title":"a"}`, ""},
		{"card", "panel", `{"title":"a","n":1}`, ""},
		{"weather", "chat", `{"any":[1]}`, ""},
		{"map", "chat", `{}`, `no component "map" is registered; there are: board, card, weather`},
		{"card", "canvas", `{"title":"a"}`, `no surface "canvas" is registered; there are: chat, panel`},
		{"weather", "panel", `{}`, `no surface of weather "panel" is registered; there are: chat`},
		{"card", "chat", `{"n":1}`, `the props of card do not match its schema: validating root: required: missing properties: ["title"]`},
		{"card", "chat", `{"title":1,"n":2}`, `/title`},
		{"card", "chat", `{"title":"a","more":1}`, `more`},
		{"card", "chat", `[]`, `must be an object`},
		{"card", "chat", ``, `must be an object`},
		{"card", "chat", `{"title":`, `not valid JSON`},
		{"state", "chat", `{}`, `no component "state"`},
	} {
		t.Run(c.name+" "+c.surface+" "+c.props, func(t *testing.T) {
			g := NewWithT(t)
			err := r.Check(c.name, c.surface, event.Raw(c.props))
			if c.err == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(c.err)))
			}
		})
	}
}

func TestLinked(t *testing.T) {
	g := NewWithT(t)
	r := registry(t)
	for _, tool := range []string{"weather", "mcp__client__weather"} {
		name, surface, ok := r.Linked(tool)
		g.Expect([]any{name, surface, ok}).To(Equal([]any{"weather", "chat", true}), tool)
	}
	_, surface, ok := r.Linked("plan")
	g.Expect([]any{surface, ok}).To(Equal([]any{"panel", true}))
	for _, tool := range []string{"Bash", "", "mcp__other__weather", "mcp__client__"} {
		_, _, ok := r.Linked(tool)
		g.Expect(ok).To(BeFalse(), tool)
	}
}

func TestActions(t *testing.T) {
	g := NewWithT(t)
	r := registry(t)
	g.Expect(r.CheckAction("card", "pick", event.Raw(`{"which":1}`))).To(Succeed())
	g.Expect(r.CheckAction("card", "close", nil)).To(Succeed())
	g.Expect(r.CheckAction("card", "pick", event.Raw(`{}`))).To(MatchError(ContainSubstring("which")))
	g.Expect(r.CheckAction("card", "pick", nil)).NotTo(Succeed())
	var unknown *component.UnknownError
	g.Expect(errors.As(r.CheckAction("card", "burn", nil), &unknown)).To(BeTrue())
	g.Expect(unknown.Have).To(Equal([]string{"close", "pick"}))
	g.Expect(r.CheckAction("map", "pick", nil)).NotTo(Succeed())
}

func TestBadDefinitions(t *testing.T) {
	for name, c := range map[string]struct{ json, err string }{
		"no JSON":                  {`{`, "components:"},
		"unknown member":           {`{"surfaces":[],"colour":1}`, "colour"},
		"surface twice":            {`{"surfaces":["a","a"]}`, "surfaces.1"},
		"surface reserved":         {`{"surfaces":["state"]}`, "surfaces.0"},
		"component twice":          {`{"surfaces":["a"],"components":[{"name":"x","surfaces":["a"]},{"name":"x","surfaces":["a"]}]}`, "components.1.name"},
		"component reserved":       {`{"surfaces":["a"],"components":[{"name":"state","surfaces":["a"]}]}`, "components.0.name"},
		"component on no surface":  {`{"surfaces":["a"],"components":[{"name":"x","surfaces":[]}]}`, "components.0.surfaces"},
		"surface not named":        {`{"surfaces":["a"],"components":[{"name":"x","surfaces":["b"]}]}`, `components.0.surfaces.0: no surface "b"`},
		"schema that is none":      {`{"surfaces":["a"],"components":[{"name":"x","surfaces":["a"],"props":{"type":"wrong"}}]}`, "components.0.props"},
		"schema of another draft":  {`{"surfaces":["a"],"components":[{"name":"x","surfaces":["a"],"props":{"$schema":"http://json-schema.org/draft-04/schema#"}}]}`, "draft-04"},
		"schema with a bad member": {`{"surfaces":["a"],"components":[{"name":"x","surfaces":["a"],"props":{"properties":{"a":{"anyOf":[{"type":["null","wrong"]}]}}}}]}`, `"wrong"`},
		"schema with a bad regexp": {`{"surfaces":["a"],"components":[{"name":"x","surfaces":["a"],"props":{"pattern":"("}}]}`, "components.0.props"},
		"schema of a loose number": {`{"surfaces":["a"],"components":[{"name":"x","surfaces":["a"],"props":{"minLength":"1"}}]}`, "components.0.props"},
		"schema from elsewhere":    {`{"surfaces":["a"],"components":[{"name":"x","surfaces":["a"],"props":{"$ref":"file:///etc/passwd"}}]}`, "must not refer to other documents"},
		"action that is wrong":     {`{"surfaces":["a"],"components":[{"name":"x","surfaces":["a"],"actions":{"go":{"type":1}}}]}`, "components.0.actions.go"},
		"tool to nothing":          {`{"surfaces":["chat"],"components":[],"tools":[{"tool":"t","component":"x"}]}`, `tools.0: no component "x"`},
		"tool to another surface":  {`{"surfaces":["chat","a"],"components":[{"name":"x","surfaces":["a"]}],"tools":[{"tool":"t","component":"x"}]}`, `tools.0: no surface of x "chat"`},
		"tool twice":               {`{"surfaces":["chat"],"components":[{"name":"x","surfaces":["chat"]}],"tools":[{"tool":"t","component":"x"},{"tool":"t","component":"x"}]}`, "tools.1.tool"},
		"projection without an id": {`{"surfaces":["a"],"components":[{"name":"x","surfaces":["a"]}],"projections":[{"id":"","component":"x","surface":"a","path":""}]}`, "projections.0.id"},
		"projection of nothing":    {`{"surfaces":["a"],"components":[],"projections":[{"id":"p","component":"x","surface":"a","path":""}]}`, "projections.0: no component"},
		"pointer that is none":     {`{"surfaces":["a"],"components":[{"name":"x","surfaces":["a"]}],"projections":[{"id":"p","component":"x","surface":"a","path":"plan"}]}`, `"plan" is not a JSON pointer`},
		"state schema":             {`{"surfaces":[],"components":[],"state":{"type":"wrong"}}`, "state:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := component.Parse([]byte(c.json))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.err)))
		})
	}
}

func TestRegistryCopiesDefinition(t *testing.T) {
	g := NewWithT(t)
	d := registry(t).Definition()
	r, err := component.New(d)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Definition()).To(Equal(d))
	d.Components[0].Name, d.Surfaces[0] = "changed", "changed"
	g.Expect(r.Check("card", "chat", event.Raw(`{"title":"a"}`))).To(Succeed())
	g.Expect(r.Definition().Components[0].Name).To(Equal("card"))
}
