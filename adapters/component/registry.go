package component

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/replay"
)

// Definition is what a registry is made of. Its JSON form leaves out what is
// empty.
type Definition struct {
	Surfaces    []string     `json:"surfaces"` // chat is one only if it is named
	Components  []Component  `json:"components"`
	Tools       []Link       `json:"tools,omitempty"`
	Projections []Projection `json:"projections,omitempty"`
	State       event.Raw    `json:"state,omitzero"` // a JSON schema that the shared state must fit
}

// Component is a component that an agent may show.
type Component struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"` // told to the model
	Surfaces    []string  `json:"surfaces"`              // where it may be shown
	Props       event.Raw `json:"props,omitzero"`        // a JSON schema; any object without
	// Actions are what a user can do in it, by name, each with the JSON schema of
	// its payload ({}: anything).
	Actions map[string]event.Raw `json:"actions,omitempty"`
}

// Link lets a component show the calls of a tool. Tool is the tool's canonical
// name, as in tool_start; a tool of the client's (adapters.Options.Tools) goes by
// its own name on every runtime.
type Link struct {
	Tool      string `json:"tool"`
	Component string `json:"component"`
	Surface   string `json:"surface,omitempty"` // chat when empty
}

// Projection shows a part of the shared state: as long as the state has a value
// at Path, a JSON pointer (RFC 6901, "" is all of it), the component is there,
// and its props follow the state.
type Projection struct {
	ID        string            `json:"id"` // of the component
	Component string            `json:"component"`
	Surface   string            `json:"surface"`
	Path      string            `json:"path"`
	Props     map[string]string `json:"props,omitempty"` // member → JSON pointer; without, the value at Path is the props
}

// The component that carries the shared state in the stream of events: its props
// are {"version","state","by"}. No registry may have one of this name, surface or
// id.
const (
	StateName    = "state"
	StateSurface = "state"
	StateID      = "state"
)

// Registry answers what an agent may show. It never changes, so any goroutine may
// ask it, and it is a replay.Registry.
type Registry struct {
	def      Definition
	byName   map[string]*entry
	links    map[string]Link
	state    *jsonschema.Schema // or nil
	surfaces map[string]bool
}

type entry struct {
	Component
	props   *jsonschema.Schema // or nil
	actions map[string]*jsonschema.Schema
}

var _ replay.Registry = (*Registry)(nil)

// Parse reads a Definition strictly from JSON and makes its registry.
func Parse(b []byte) (*Registry, error) {
	var d Definition
	if err := json.Unmarshal(b, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("components: %w", err)
	}
	return New(d)
}

// New makes a registry. An error names the path of what is wrong, such as
// components.1.props.
func New(d Definition) (*Registry, error) {
	b, err := json.Marshal(d, json.Deterministic(true)) // a copy of its own
	if err != nil {
		return nil, fmt.Errorf("components: %w", err)
	}
	r := &Registry{byName: map[string]*entry{}, links: map[string]Link{}, surfaces: map[string]bool{}}
	if err := json.Unmarshal(b, &r.def); err != nil {
		return nil, fmt.Errorf("components: %w", err)
	}
	for i, s := range r.def.Surfaces {
		if s == "" || s == StateSurface || r.surfaces[s] {
			return nil, fmt.Errorf("surfaces.%d: %q is empty, reserved or named twice", i, s)
		}
		r.surfaces[s] = true
	}
	for i, c := range r.def.Components {
		if err := r.add(c); err != nil {
			return nil, fmt.Errorf("components.%d%w", i, err)
		}
	}
	for i, l := range r.def.Tools {
		if l.Surface == "" {
			l.Surface = replay.SurfaceChat
		}
		if _, twice := r.links[l.Tool]; l.Tool == "" || twice {
			return nil, fmt.Errorf("tools.%d.tool: %q is empty or linked twice", i, l.Tool)
		}
		if err := r.Check(l.Component, l.Surface, nil); isUnknown(err) {
			return nil, fmt.Errorf("tools.%d: %w", i, err)
		}
		r.links[l.Tool] = l
	}
	ids := map[string]bool{StateID: true}
	for i, p := range r.def.Projections {
		if p.ID == "" || ids[p.ID] {
			return nil, fmt.Errorf("projections.%d.id: %q is empty, reserved or named twice", i, p.ID)
		}
		ids[p.ID] = true
		if err := r.Check(p.Component, p.Surface, nil); isUnknown(err) {
			return nil, fmt.Errorf("projections.%d: %w", i, err)
		}
		for _, ptr := range append(slices.Collect(maps.Values(p.Props)), p.Path) {
			if !jsontext.Pointer(ptr).IsValid() {
				return nil, fmt.Errorf("projections.%d: %q is no JSON pointer", i, ptr)
			}
		}
	}
	if r.state, err = compile(r.def.State); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	return r, nil
}

func (r *Registry) add(c Component) error {
	if c.Name == "" || c.Name == StateName || r.byName[c.Name] != nil {
		return fmt.Errorf(".name: %q is empty, reserved or named twice", c.Name)
	}
	if len(c.Surfaces) == 0 {
		return errors.New(".surfaces: it must have one")
	}
	for i, s := range c.Surfaces {
		if !r.surfaces[s] {
			return fmt.Errorf(".surfaces.%d: %w", i, r.noSurface(s))
		}
	}
	e := &entry{Component: c, actions: map[string]*jsonschema.Schema{}}
	var err error
	if e.props, err = compile(c.Props); err != nil {
		return fmt.Errorf(".props: %w", err)
	}
	for name, schema := range c.Actions {
		if e.actions[name], err = compile(schema); err != nil {
			return fmt.Errorf(".actions.%s: %w", name, err)
		}
	}
	r.byName[c.Name] = e
	return nil
}

// UnknownError says that a name, a surface or an action is not registered.
type UnknownError struct {
	What, Name string
	Have       []string // what is
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("no %s %q is registered; there are: %s", e.What, e.Name, strings.Join(e.Have, ", "))
}

func isUnknown(err error) bool {
	_, is := errors.AsType[*UnknownError](err)
	return is
}

func (r *Registry) noSurface(name string) error {
	return &UnknownError{"surface", name, slices.Clone(r.def.Surfaces)}
}

// Check implements replay.Registry. What is not registered is an *UnknownError;
// props must be an object that fits the component's schema.
func (r *Registry) Check(name, surface string, props event.Raw) error {
	if name == StateName && surface == StateSurface {
		return nil
	}
	e := r.byName[name]
	if e == nil {
		return &UnknownError{"component", name, slices.Sorted(maps.Keys(r.byName))}
	}
	if !r.surfaces[surface] {
		return r.noSurface(surface)
	}
	if !slices.Contains(e.Surfaces, surface) {
		return &UnknownError{"surface of " + name, surface, slices.Clone(e.Surfaces)}
	}
	if props.Kind() != '{' {
		return fmt.Errorf("the props of %s are no object", name)
	}
	if err := validate(e.props, props); err != nil {
		return fmt.Errorf("the props of %s do not fit: %w", name, err)
	}
	return nil
}

// clientTool stands in front of the name of a client's tool on Claude Code.
const clientTool = "mcp__client__"

// Linked implements replay.Registry.
func (r *Registry) Linked(tool string) (name, surface string, ok bool) {
	l, ok := r.links[tool]
	if !ok {
		l, ok = r.links[strings.TrimPrefix(tool, clientTool)]
	}
	return l.Component, l.Surface, ok
}

// CheckAction returns why a component has no such action with this payload, or
// nil.
func (r *Registry) CheckAction(name, action string, payload event.Raw) error {
	e := r.byName[name]
	if e == nil {
		return &UnknownError{"component", name, slices.Sorted(maps.Keys(r.byName))}
	}
	schema, ok := e.actions[action]
	if !ok {
		return &UnknownError{"action of " + name, action, slices.Sorted(maps.Keys(e.actions))}
	}
	if len(payload) == 0 {
		payload = event.Raw("null")
	}
	if err := validate(schema, payload); err != nil {
		return fmt.Errorf("the payload of %s does not fit: %w", action, err)
	}
	return nil
}

// Definition is what the registry was made of. It must not be written to.
func (r *Registry) Definition() Definition { return r.def }

// compile reads a schema; nothing outside of it is ever loaded. An empty one is
// nil.
func compile(schema event.Raw) (*jsonschema.Schema, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(closed{})
	if err := c.AddResource("component:schema", doc); err != nil {
		return nil, err
	}
	return c.Compile("component:schema")
}

type closed struct{}

func (closed) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: a schema must stand on its own", url)
}

func validate(schema *jsonschema.Schema, v event.Raw) error {
	if !v.IsValid() {
		return errors.New("it is no valid JSON")
	}
	if schema == nil {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(v))
	if err != nil {
		return err
	}
	err = schema.Validate(doc)
	if ve, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		_, leaves, _ := strings.Cut(ve.Error(), "\n") // the first line names the schema
		lines := strings.Split(leaves, "\n")
		for i := range lines {
			lines[i] = strings.TrimPrefix(strings.TrimSpace(lines[i]), "- ")
		}
		return errors.New(strings.Join(lines, "; "))
	}
	return err
}
