// Package census answers one question: what has the wire of these cases shown?
//
// It counts, without any schema: each kind of message, each member of it with
// its types, and the values of members that hold one of a few words. Two
// censuses of the same scenarios on two versions say what changed.
package census

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// Message is a line of the wire by its name.
type Message struct {
	Line  int // index into the case's wire
	In    bool
	Kind  string // turn/started, item/started(plan), answer to thread/start, system/init …
	Item  string // the id of the item or tool call that it is about
	Value jsontext.Value
}

// lenient reads what a runtime wrote, whatever it is.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Messages names the lines of a case; what is no JSON object is left out.
func Messages(c *fixtures.Case) []Message {
	asked := map[string]string{} // process, direction and id → what was asked
	var out []Message
	for i, w := range c.Wire {
		if w.Dir != fixtures.In && w.Dir != fixtures.Out || len(w.Bytes) == 0 || w.Bytes[0] != '{' {
			continue
		}
		m := Message{Line: i, In: w.Dir == fixtures.In, Value: w.Bytes}
		var ok bool
		if c.Runtime == "codex" {
			ok = m.codex(asked, w.Process)
		} else {
			ok = m.tagged(asked, w.Process)
		}
		if ok {
			out = append(out, m)
		}
	}
	return out
}

// rpc is the part of a line of JSON-RPC that names it.
type rpc struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Error  jsontext.Value `json:"error"`
	Params struct {
		ItemID string `json:"itemId"`
		Item   struct {
			ID   string `json:"id"`
			Type string `json:"type"`
		} `json:"item"`
	} `json:"params"`
}

func direction(in bool) string {
	if in {
		return "in "
	}
	return "out "
}

func (m *Message) codex(asked map[string]string, process int) bool {
	var l rpc
	// a member of another type than usual leaves the rest as it is
	_ = json.Unmarshal(m.Value, &l, lenient)
	key := string(rune('0'+process)) + l.ID.String()
	switch {
	case l.Method != "":
		m.Kind = l.Method
		if l.Params.Item.Type != "" {
			m.Kind += "(" + l.Params.Item.Type + ")"
		}
		m.Item = l.Params.ItemID + l.Params.Item.ID
		if len(l.ID) > 0 {
			asked[direction(m.In)+key] = l.Method
		}
	case len(l.ID) > 0:
		m.Kind = "answer to " + asked[direction(!m.In)+key]
		if len(l.Error) > 0 {
			m.Kind = "error to " + asked[direction(!m.In)+key]
		}
	default:
		return false
	}
	return true
}

// tagged is the part of a line that is told apart by its tags.
type tagged struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Request   struct {
		Subtype string `json:"subtype"`
	} `json:"request"`
	Response struct {
		Subtype   string `json:"subtype"`
		RequestID string `json:"request_id"`
	} `json:"response"`
	Event struct {
		Type  string `json:"type"`
		Delta struct {
			Type string `json:"type"`
		} `json:"delta"`
		Block struct {
			Type string `json:"type"`
		} `json:"content_block"`
	} `json:"event"`
	Item struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	} `json:"item"`
	Message struct {
		Content jsontext.Value `json:"content"`
	} `json:"message"`
	ToolUseID string `json:"tool_use_id"`
}

func (m *Message) tagged(asked map[string]string, process int) bool {
	var l tagged
	_ = json.Unmarshal(m.Value, &l, lenient)
	if l.Type == "" {
		return false
	}
	p := string(rune('0' + process))
	m.Kind, m.Item = l.Type, l.Item.ID+l.ToolUseID
	switch l.Type {
	case "control_request":
		m.Kind += "/" + l.Request.Subtype
		asked[direction(m.In)+p+l.RequestID] = l.Request.Subtype
	case "control_response":
		m.Kind = "answer to " + asked[direction(!m.In)+p+l.Response.RequestID]
		if l.Response.Subtype == "error" {
			m.Kind = "error to " + asked[direction(!m.In)+p+l.Response.RequestID]
		}
	case "stream_event":
		m.Kind = strings.TrimRight(strings.Join([]string{l.Type, l.Event.Type, l.Event.Delta.Type + l.Event.Block.Type}, "/"), "/")
	case "assistant", "user":
		var blocks []struct {
			Type      string `json:"type"`
			ID        string `json:"id"`
			ToolUseID string `json:"tool_use_id"`
		}
		if json.Unmarshal(l.Message.Content, &blocks, lenient) == nil && len(blocks) > 0 {
			m.Kind += "(" + blocks[0].Type + ")"
			m.Item = blocks[0].ID + blocks[0].ToolUseID
		}
	default:
		if l.Item.Type != "" {
			m.Kind += "(" + l.Item.Type + ")"
		}
		if l.Subtype != "" {
			m.Kind += "/" + l.Subtype
		}
	}
	return true
}
