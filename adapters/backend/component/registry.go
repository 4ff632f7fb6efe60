package component

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// Definition defines a registry. Its JSON form omits empty members.
type Definition struct {
	Surfaces    []string     `json:"surfaces"` // chat is included only if it is listed
	Components  []Component  `json:"components"`
	Tools       []Link       `json:"tools,omitempty"`
	Projections []Projection `json:"projections,omitempty"`
	State       event.Raw    `json:"state,omitzero"` // a JSON schema of the shared state
}

// Component defines a component that an agent may show.
type Component struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"` // for the model
	Surfaces    []string  `json:"surfaces"`              // where it may be shown
	Props       event.Raw `json:"props,omitzero"`        // a JSON schema; any object if empty
	// Actions are the actions of a user in it, by name, each with the JSON schema
	// of its payload ({} accepts anything).
	Actions map[string]event.Raw `json:"actions,omitempty"`
}

// Link lets a component show the calls of a tool. Tool is the tool's canonical name,
// as in tool_start. A client's tool (adapters.Options.Tools) has the same name on
// every runtime.
type Link struct {
	Tool      string `json:"tool"`
	Component string `json:"component"`
	Surface   string `json:"surface,omitempty"` // chat if empty
}

// Projection shows a part of the shared state in a component. The component is shown
// while the state has a value at Path, a JSON pointer (RFC 6901; "" is the whole
// state), and its props follow the state.
type Projection struct {
	ID        string            `json:"id"` // of the component
	Component string            `json:"component"`
	Surface   string            `json:"surface"`
	Path      string            `json:"path"`
	Props     map[string]string `json:"props,omitempty"` // member → JSON pointer; if empty, the value at Path is the props
}

// The name and surface of the component that holds the shared state in the stream of
// events. A registry must not use them, nor the id adapters.StateComponentID.
const (
	StateName    = "state"
	StateSurface = "state"
)

// Registry holds the components that an agent may show. It is immutable, so it is safe
// for concurrent use. It implements replay.Registry.
type Registry struct {
	def      Definition
	byName   map[string]*entry
	links    map[string]Link
	state    *jsonschema.Resolved // or nil
	surfaces map[string]bool
}

type entry struct {
	Component
	props   *jsonschema.Resolved // or nil
	actions map[string]*jsonschema.Resolved
}

var _ replay.Registry = (*Registry)(nil)

// Parse reads a Definition strictly from JSON and returns its registry.
func Parse(b []byte) (*Registry, error) {
	var d Definition
	if err := json.Unmarshal(b, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("components: %w", err)
	}
	return New(d)
}

// New returns a registry. An error names the path of the bad value, such as
// components.1.props.
func New(d Definition) (*Registry, error) {
	b, err := json.Marshal(d, json.Deterministic(true)) // a private copy
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
		if err := r.addComponent(c); err != nil {
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
	ids := map[string]bool{adapters.StateComponentID: true}
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
				return nil, fmt.Errorf("projections.%d: %q is not a JSON pointer", i, ptr)
			}
		}
	}
	if r.state, err = compileSchema(r.def.State); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	return r, nil
}

func (r *Registry) addComponent(c Component) error {
	if c.Name == "" || c.Name == StateName || r.byName[c.Name] != nil {
		return fmt.Errorf(".name: %q is empty, reserved or named twice", c.Name)
	}
	if len(c.Surfaces) == 0 {
		return errors.New(".surfaces: want at least one")
	}
	for i, s := range c.Surfaces {
		if !r.surfaces[s] {
			return fmt.Errorf(".surfaces.%d: %w", i, r.noSurface(s))
		}
	}
	e := &entry{Component: c, actions: map[string]*jsonschema.Resolved{}}
	var err error
	if e.props, err = compileSchema(c.Props); err != nil {
		return fmt.Errorf(".props: %w", err)
	}
	for name, schema := range c.Actions {
		if e.actions[name], err = compileSchema(schema); err != nil {
			return fmt.Errorf(".actions.%s: %w", name, err)
		}
	}
	r.byName[c.Name] = e
	return nil
}

// UnknownError is returned for a name, a surface or an action that is not registered.
type UnknownError struct {
	What, Name string
	Have       []string // what is registered
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

// Check implements replay.Registry. It returns an *UnknownError if the name or the
// surface is not registered. props must be an object that matches the component's
// schema.
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
		return fmt.Errorf("the props of %s must be an object", name)
	}
	if err := validateJSON(e.props, props); err != nil {
		return fmt.Errorf("the props of %s do not match its schema: %w", name, err)
	}
	return nil
}

// clientTool is the prefix of a client tool's name on Claude Code.
const clientTool = "mcp__client__"

// Linked implements replay.Registry.
func (r *Registry) Linked(tool string) (name, surface string, ok bool) {
	l, ok := r.links[tool]
	if !ok {
		l, ok = r.links[strings.TrimPrefix(tool, clientTool)]
	}
	return l.Component, l.Surface, ok
}

// CheckAction returns an error if a component has no such action with this payload.
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
	if err := validateJSON(schema, payload); err != nil {
		return fmt.Errorf("the payload of %s does not match its schema: %w", action, err)
	}
	return nil
}

// Definition returns the definition of the registry. The caller must not change it.
func (r *Registry) Definition() Definition { return r.def }
