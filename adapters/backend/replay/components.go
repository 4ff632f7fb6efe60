package replay

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// SurfaceChat is the surface whose components are blocks of messages. Components
// of all other surfaces are in Chat.Components.
const SurfaceChat = "chat"

// Component is a component on a surface. If it is in a message, the block holds its
// id and status.
type Component struct {
	ID        string    `json:"id,omitempty"`
	Name      string    `json:"name"`
	Surface   string    `json:"surface"`
	Status    Status    `json:"status,omitempty"` // loading, ready, error
	Props     event.Raw `json:"props,omitzero"`
	ToolUseID string    `json:"tool_use_id,omitempty"` // of the tool call that it shows
	Error     string    `json:"error,omitempty"`       // why the registry rejects a tool's output
}

// Registry defines which components exist. Package component implements it.
type Registry interface {
	// Check returns an error if the component is not valid on the surface with
	// these props.
	Check(name, surface string, props event.Raw) error
	// Linked returns the component for the calls of a tool, given its canonical
	// name.
	Linked(tool string) (name, surface string, ok bool)
}

// Option configures a reducer.
type Option func(*Reducer)

// WithRegistry validates components with a registry: a component_update that it
// rejects becomes a notice and changes nothing, and the calls of a linked tool get
// a component. Without a registry every component is accepted, and no tool is
// linked.
func WithRegistry(reg Registry) Option { return func(r *Reducer) { r.registry = reg } }

// liveComponent is a component that may still change.
type liveComponent struct {
	c    Component
	node *node // its block, if it is in a message
	// Of a tool call:
	reg   Registry
	input event.Raw
}

// Surface returns the components of a surface in the order of their first event,
// and after them its open questions, with the id prefix "interrupt-". It returns
// none for SurfaceChat, whose components are blocks of messages.
func (c *Chat) Surface(name string) []Component {
	if name == SurfaceChat {
		return nil
	}
	var out []Component
	for _, p := range c.Components {
		if p.Surface == name {
			out = append(out, p)
		}
	}
	for i := range c.Messages {
		out = appendQuestions(out, c.Messages[i].Blocks, name)
	}
	return out
}

func appendQuestions(out []Component, blocks []Block, surface string) []Component {
	for i := range blocks {
		if b := &blocks[i]; b.Kind == KindInterrupt && b.Status == Pending && b.Interrupt.Surface == surface {
			out = append(out, Component{ID: "interrupt-" + b.ID, Name: b.Interrupt.Component, Surface: surface, Status: Ready, Props: b.Interrupt.Props})
		}
		out = appendQuestions(out, blocks[i].Blocks, surface)
	}
	return out
}

func (r *Reducer) handleComponentUpdate(e event.Event, d event.ComponentUpdate) {
	p := r.componentByID[d.ComponentID]
	next := Component{ID: d.ComponentID, Name: validText(d.ComponentName), Surface: validText(d.Surface), Status: Ready, Props: compactRaw(d.Props)}
	if d.Merge && p != nil {
		next.Props = MergeProps(p.c.Props, d.Props)
	}
	if r.registry != nil {
		if err := r.registry.Check(next.Name, next.Surface, next.Props); err != nil {
			r.newBlock(e, Block{Kind: KindNotice, Notice: &Notice{event.LevelWarning, event.NoticeRefused}}).
				appendText(fmt.Sprintf("component %s: %v", d.ComponentID, err))
			return
		}
	}
	if p == nil {
		p = &liveComponent{}
		r.componentByID[d.ComponentID] = p
		r.components = append(r.components, p)
	}
	r.placeComponent(e, p, next)
}

// placeComponent sets a component. On SurfaceChat it keeps its block or gets one in
// the event's target list; on other surfaces it has none.
func (r *Reducer) placeComponent(e event.Event, p *liveComponent, next Component) {
	p.c = next
	if next.Surface != SurfaceChat {
		if p.node != nil {
			p.node.remove()
			p.node = nil
		}
		return
	}
	if p.node == nil {
		p.node = r.newBlock(e, Block{Kind: KindComponent})
		p.node.block.ID = next.ID // set here, not indexed: tools and components may have equal ids
	}
	p.updateBlock()
}

func (p *liveComponent) updateBlock() {
	c := p.c
	p.node.block.Status = c.Status
	c.ID, c.Status = "", ""
	p.node.block.Component = &c // a new one each time, because views share the old one
	p.node.markStale()
}

func (r *Reducer) handleComponentRemove(d event.ComponentRemove) {
	p := r.componentByID[d.ComponentID]
	if p == nil {
		return
	}
	delete(r.componentByID, d.ComponentID)
	r.components = slices.DeleteFunc(r.components, func(x *liveComponent) bool { return x == p })
	if p.node != nil {
		p.node.remove()
	}
}

// linkComponent creates the component of a linked tool's call: before the tool's
// block, or after it if that exists already.
func (r *Reducer) linkComponent(e event.Event, d event.ToolStart) *liveComponent {
	if r.registry == nil {
		return nil
	}
	if n := r.findBlock(e, KindTool, d.ToolUseID); n != nil && n.linked != nil {
		return n.linked
	}
	name, surface, ok := r.registry.Linked(validText(d.Tool))
	if !ok {
		return nil
	}
	p := &liveComponent{reg: r.registry}
	c := Component{ID: d.ToolUseID, Name: name, Surface: surface, Status: Loading, ToolUseID: d.ToolUseID}
	if surface != SurfaceChat {
		r.components = append(r.components, p)
	}
	r.placeComponent(e, p, c)
	return p
}

// followTool updates the component of a call to the state of its tool.
func (p *liveComponent) followTool(tool *node) {
	t := tool.block.Tool
	if t.Input != nil {
		p.input = t.Input
	}
	p.c.Props = p.input
	switch s := tool.block.Status; s {
	case Running, Backgrounded:
		p.c.Status = Loading
	default:
		p.finishTool(tool, s == OK && !t.IsError)
		return
	}
	if p.node != nil {
		p.updateBlock()
	}
}

// finishTool merges the output of a call into its component if it is an object.
func (p *liveComponent) finishTool(tool *node, ok bool) {
	p.c.Status, p.c.Error, p.c.Props = Ready, "", p.input
	if out := event.Raw(tool.text.String()); out.Kind() == '{' && out.IsValid() {
		if p.input == nil {
			p.c.Props = compactRaw(out)
		} else {
			p.c.Props = MergeProps(p.input, out)
		}
	}
	if !ok {
		p.c.Status = Errored
	} else if err := p.reg.Check(p.c.Name, p.c.Surface, p.c.Props); err != nil {
		p.c.Status, p.c.Error = Errored, validText(err.Error())
	}
	if p.node != nil {
		p.updateBlock()
	}
}

// MergeProps returns base with the members of add set, if both are objects, and
// else add. A component_update with merge changes props in this way.
func MergeProps(base, add event.Raw) event.Raw {
	lenient := json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	var under, over map[string]jsontext.Value
	if json.Unmarshal(base, &under, lenient) != nil || json.Unmarshal(add, &over, lenient) != nil || under == nil {
		return compactRaw(add)
	}
	maps.Copy(under, over)
	out, err := json.Marshal(under, lenient, json.Deterministic(true))
	if err != nil {
		return compactRaw(add)
	}
	return out
}
