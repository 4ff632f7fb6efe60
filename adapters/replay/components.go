package replay

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// SurfaceChat is the surface whose components are blocks of messages; those of
// every other are in Chat.Components.
const SurfaceChat = "chat"

// Component is a component that a surface shows. One of a message has its id and
// its status in the block.
type Component struct {
	ID        string    `json:"id,omitempty"`
	Name      string    `json:"name"`
	Surface   string    `json:"surface"`
	Status    Status    `json:"status,omitempty"` // loading, ready, error
	Props     event.Raw `json:"props,omitzero"`
	ToolUseID string    `json:"tool_use_id,omitempty"` // of the call that it shows
	Error     string    `json:"error,omitempty"`       // why a tool's output does not fit it
}

// Registry says which components there are; package component makes one.
type Registry interface {
	// Check returns why a component may not be shown so, or nil.
	Check(name, surface string, props event.Raw) error
	// Linked is what shows the calls of a tool, by the tool's canonical name.
	Linked(tool string) (name, surface string, ok bool)
}

// Option changes what a reducer does.
type Option func(*Reducer)

// WithRegistry lets a registry decide: a component_update that it refuses changes
// nothing and becomes a notice, and the calls of a linked tool get a component.
// Without it every component is taken as it is told, and no tool is linked.
func WithRegistry(reg Registry) Option { return func(r *Reducer) { r.registry = reg } }

// liveComponent is a component that still changes.
type liveComponent struct {
	c    Component // in a message without id and status
	node *node     // its block, if it stands in a message
	// Of a tool's call:
	reg   Registry
	input event.Raw
}

// Surface are the components that a surface shows, in the order in which they
// came, and behind them the questions that are open on it (their id has
// "interrupt-" in front). The surface chat has none: they are blocks of messages.
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
	next := Component{ID: d.ComponentID, Name: validUTF8(d.ComponentName), Surface: validUTF8(d.Surface), Status: Ready, Props: compactRaw(d.Props)}
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

// placeComponent puts a component where it belongs: into a message, where it was or where
// the event's blocks go, or beside the messages.
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
		p.node.block.ID = next.ID // not by add: tools and components may have equal ids
	}
	p.updateBlock()
}

// updateBlock brings the block of a component up to date.
func (p *liveComponent) updateBlock() {
	c := p.c
	p.node.block.Status = c.Status
	c.ID, c.Status = "", ""
	p.node.block.Component = &c // another one each time: a snapshot keeps its own
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

// linkComponent shows the call of a tool that has a component: before the tool, or
// where the tool came first, behind it.
func (r *Reducer) linkComponent(e event.Event, d event.ToolStart) *liveComponent {
	if r.registry == nil {
		return nil
	}
	if n := r.findBlock(e, KindTool, d.ToolUseID); n != nil && n.linked != nil {
		return n.linked
	}
	name, surface, ok := r.registry.Linked(validUTF8(d.Tool))
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

// followTool brings the component of a call to what its tool has come to.
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

// finishTool merges the output of a call into what shows it, if that is an object.
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
		p.c.Status, p.c.Error = Errored, validUTF8(err.Error())
	}
	if p.node != nil {
		p.updateBlock()
	}
}

// endLinkedComponent ends the component of a call that went on in the background, of
// whichever agent that is.
func (r *Reducer) endLinkedComponent(e event.Event, t *Task) {
	if t.Status == event.TaskRunning || t.ToolUseID == "" {
		return
	}
	for _, agent := range []string{t.ParentID, e.SubagentID, ""} {
		n := r.blockByKey[key{agent, KindTool, t.ToolUseID}]
		if n != nil && n.linked != nil && n.block.Status == Backgrounded {
			n.linked.finishTool(n, t.Status == event.TaskCompleted)
			return
		}
	}
}

// MergeProps lays the members of add over those of base, if both are objects;
// else it is add. It is how a component_update with merge changes props.
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
