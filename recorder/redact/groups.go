package redact

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
)

// groups joins the deltas of a stream into one unit: what is to be hidden may
// be cut anywhere.
type groups struct {
	p      *pass
	open   map[string]*unit
	blocks int // content blocks that have begun: Claude's index begins anew with each message
}

// deltaLine is what places a delta in its stream.
type deltaLine struct {
	Method string `json:"method"`
	Params struct {
		ThreadID       string `json:"threadId"`
		ConversationID string `json:"conversationId"`
		ItemID         string `json:"itemId"`
		SummaryIndex   int    `json:"summaryIndex"`
		ContentIndex   int    `json:"contentIndex"`
		Msg            struct {
			Type   string `json:"type"`
			ItemID string `json:"item_id"`
		} `json:"msg"`
	} `json:"params"`
	Type   string `json:"type"`
	Parent string `json:"parent_tool_use_id"`
	Event  struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	} `json:"event"`
}

// outputMethods bring what a tool wrote, piece by piece.
var outputMethods = map[string]bool{"item/commandExecution/outputDelta": true, "item/fileChange/outputDelta": true}

// deltaPaths are the places of deltas.
var deltaPaths = map[string]bool{
	"params.delta": true, "params.msg.delta": true,
	"event.delta.text": true, "event.delta.thinking": true, "event.delta.partial_json": true,
}

// join moves the deltas of a line, whose units begin at first, to their groups.
func (g *groups) join(w *fixtures.WireLine, first int) {
	if !bytes.Contains(w.Bytes, []byte(`"delta"`)) && !bytes.Contains(w.Bytes, []byte(`"content_block_start"`)) {
		return
	}
	var l deltaLine
	if json.Unmarshal(w.Bytes, &l, json.JoinOptions(asItCame...)) != nil {
		return // an odd line: its strings are looked at alone
	}
	if l.Event.Type == "content_block_start" {
		g.blocks++
	}
	alone := g.p.units[:first]
	for _, u := range g.p.units[first:] {
		t := u.pieces[0].tok
		if u.name || !deltaPaths[t.path] {
			alone = append(alone, u)
			continue
		}
		q := &l.Params
		key := fmt.Sprintln(w.Process, t.path, l.Method, q.ThreadID, q.ConversationID, q.ItemID, q.SummaryIndex, q.ContentIndex,
			q.Msg.Type, q.Msg.ItemID, l.Parent, l.Event.Index, g.blocks)
		into := g.open[key]
		if into == nil {
			g.open[key] = u
			u.len = len(u.text)
			u.output = outputMethods[l.Method]
			alone = append(alone, u)
			continue
		}
		into.pieces = append(into.pieces, piece{u.pieces[0].doc, t, into.len})
		into.more = append(into.more, t.text)
		into.len += len(t.text)
	}
	g.p.units = alone
}

// done gives each group its whole text.
func (g *groups) done() {
	for _, u := range g.open {
		u.text = strings.Join(append([]string{u.text}, u.more...), "")
	}
}
