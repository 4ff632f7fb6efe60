package uistream

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// agentKey names a block or a tool of a sub-agent.
type agentKey struct{ agent, id string }

// agentBlock is a block of a sub-agent without an end.
type agentBlock struct {
	key       agentKey
	reasoning bool
	text      strings.Builder
}

// agentText is the data of data-subagent-text and data-subagent-reasoning.
type agentText struct {
	BlockID string            `json:"block_id,omitempty"`
	Status  event.BlockStatus `json:"status,omitempty"`
	Text    string            `json:"text"`
}

// agentTool is the data of data-subagent-tool.
type agentTool struct {
	Start  *event.ToolStart  `json:"start,omitzero"`
	Result *event.ToolResult `json:"result,omitzero"`
}

// ofAgent translates an event of a sub-agent. It returns false for those that are translated
// as an event of the main agent is.
func (u *turn) ofAgent(e event.Event) ([]Chunk, bool) {
	switch d := e.Data.(type) {
	case event.Delta:
		u.addAgentText(agentKey{e.SubagentID, d.BlockID}, false, d.Text)
	case event.Thinking:
		k := agentKey{e.SubagentID, d.BlockID}
		u.addAgentText(k, true, d.Text)
		if d.Done {
			return u.endAgentBlock(k, true, "", ""), true
		}
	case event.BlockEnd:
		return u.endAgentBlock(agentKey{e.SubagentID, d.BlockID}, false, d.Status, d.Text), true
	case event.ToolStart:
		t := u.agentTool(e, d.ToolUseID)
		t.Start = &d
		return []Chunk{data("subagent-tool", e.SubagentID+"/"+d.ToolUseID, e, *t)}, true
	case event.ToolResult:
		t := u.agentTool(e, d.ToolUseID)
		t.Result = &d
		return []Chunk{data("subagent-tool", e.SubagentID+"/"+d.ToolUseID, e, *t)}, true
	case event.Usage:
		return []Chunk{data("subagent-usage", e.SubagentID, e, d)}, true
	case event.Error:
		return []Chunk{data("subagent-error", e.SubagentID, e, d)}, true
	case event.TurnStart, event.Done, event.Result: // its task says how it goes
	default:
		_, ofTool := event.ToolID(d)
		return nil, ofTool // the start and the result of a tool hold what stays
	}
	return nil, true
}

func (u *turn) agentTool(e event.Event, id string) *agentTool {
	k := agentKey{e.SubagentID, id}
	if u.agentTools[k] == nil {
		u.agentTools[k] = &agentTool{}
	}
	return u.agentTools[k]
}

func (u *turn) addAgentText(k agentKey, reasoning bool, text string) {
	if text == "" {
		return
	}
	b := u.agentBlock(k, reasoning)
	if b == nil {
		b = &agentBlock{key: k, reasoning: reasoning}
		u.agentBlocks = append(u.agentBlocks, b)
	}
	b.text.WriteString(text)
}

func (u *turn) agentBlock(k agentKey, reasoning bool) *agentBlock {
	for _, b := range u.agentBlocks {
		if b.key == k && b.reasoning == reasoning {
			return b
		}
	}
	return nil
}

func (u *turn) endAgentBlock(k agentKey, reasoning bool, status event.BlockStatus, text string) []Chunk {
	b := u.agentBlock(k, reasoning)
	if b == nil && !reasoning {
		b = u.agentBlock(k, true)
	}
	if b == nil {
		b = &agentBlock{key: k, reasoning: reasoning}
	}
	u.agentBlocks = slices.DeleteFunc(u.agentBlocks, func(x *agentBlock) bool { return x == b })
	if status == event.BlockReplaced {
		b.text.Reset()
		b.text.WriteString(text)
	}
	if status == event.BlockReplaced || status == event.BlockComplete {
		status = ""
	}
	if b.text.Len() == 0 && status != event.BlockRetracted {
		return nil
	}
	return []Chunk{b.chunk(status)}
}

func (b *agentBlock) chunk(status event.BlockStatus) Chunk {
	name, text := "subagent-text", b.text.String()
	if b.reasoning {
		name = "subagent-reasoning"
	}
	if status == event.BlockRetracted {
		text = ""
	}
	return data(name, b.key.agent+"/"+b.key.id, event.Event{SubagentID: b.key.agent}, agentText{b.key.id, status, text})
}

// endAgentBlocks adds what sub-agents that outlive the turn have said.
func (u *turn) endAgentBlocks() []Chunk {
	var out []Chunk
	for _, b := range u.agentBlocks {
		out = append(out, b.chunk(event.BlockInterrupted))
	}
	u.agentBlocks = nil
	return out
}
