package replay

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// handleAside shows an event that the reducer has no case for: a block whose kind is the type of
// the event and whose text is its data. If the event has a key or is transient, its block replaces
// the one before. A block of a tool is nested in the tool. A transient one is shown until its tool,
// sub-agent or turn ends.
func (r *Reducer) handleAside(e event.Event) {
	row, id := event.RowOf(e.Type()), e.Data.EventKey()
	k := key{e.SubagentID, Kind(e.Type()), id}
	n := r.blockByKey[k]
	if n == nil {
		var list *blocks
		tool, ofTool := r.toolOf(e)
		switch {
		case ofTool && row.Transient && (tool == nil || !tool.running()), row.Transient && r.lateStatus(e) != "":
			return // what it is about has ended, or has not begun
		case ofTool && tool != nil:
			list = &tool.kids
		default:
			list = r.targetList(e)
		}
		n = r.newNode(Block{Kind: k.Kind, ID: id}, e.Turn)
		if row.Transient && (e.Turn > 0 || e.SubagentID != "") {
			n.block.Status = Running
		}
		n.moveTo(list)
		if id != "" || row.Transient {
			r.indexBlock(n, k)
		}
	}
	n.replaceText(dataText(e.Data))
}

// toolOf returns the block of the tool that the event is of; nil if the tool has none. It returns
// false if the event is not of a tool.
func (r *Reducer) toolOf(e event.Event) (tool *node, ok bool) {
	id, ok := event.ToolID(e.Data)
	if !ok {
		return nil, false
	}
	return r.findBlock(e, KindTool, id), true
}

// isTransient reports whether the node is the block of a transient event, which goes when what
// it is about ends.
func (n *node) isTransient() bool {
	return n.running() && event.RowOf(event.Type(n.block.Kind)).Transient
}

// dataText returns data as JSON, in the form that it has in a stored event.
func dataText(d event.Data) string {
	b, err := json.Marshal(d, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if err != nil {
		return "" // it holds invalid JSON
	}
	return string(b)
}
