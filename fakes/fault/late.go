package fault

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// What comes again when its turn is over, or while the next one runs. An id
// proves that it is of the old turn. Stream events of older versions of Claude
// Code have none, and there a late delta may as well be the first of a turn that
// the runtime begins by itself.

// lateDelta repeats the last delta of a turn behind its end.
func lateDelta() Operator {
	return late("late-delta", "After the end of a turn, or of Claude Code when the next one has begun, comes the last delta of its text again.", ofDelta)
}

// lateItem repeats the last item of a turn behind its end.
func lateItem() Operator {
	return late("late-item", "After the end of a turn, or of Claude Code when the next one has begun, comes its last item again.", ofItem)
}

// late repeats a line of a turn that is over behind its end. Turns of Claude Code
// are those that another one follows in their process, and there it comes behind
// the first line of that one too; for Codex see stale-line.
func late(name, doc string, part turnPart) Operator {
	return Operator{
		Name: name, Kind: Transparent, Doc: doc,
		Places: func(c *fixtures.Case) []int {
			places, _ := overdue(c, part)
			return places
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			_, from := overdue(c, part)
			return at(c, place, Fault{Operator: name, Kind: Transparent, NoticeAllowed: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, c.Wire[from[place]].Bytes)
			})
		},
	}
}

// overdue are the places at which a line of a turn comes late, and that line of
// each.
func overdue(c *fixtures.Case, part turnPart) (places []int, from map[int]int) {
	from = map[int]int{}
	type thread struct {
		process int
		id      string
	}
	type turn struct {
		end, line int
		of        string
	}
	over, last := map[thread]turn{}, map[thread]turn{}
	for _, i := range outputs(c) {
		m := markOf(c.Wire[i].Bytes)
		k := thread{c.Wire[i].Process, m.thread}
		switch m.part {
		case ofEnd:
			t, ok := last[k]
			delete(last, k)
			delete(over, k)
			if !ok || m.of != "" && m.of != t.of {
				continue
			}
			over[k] = turn{i, t.line, t.of}
			if m.of != "" {
				places, from[i] = append(places, i), t.line
			}
		case ofBegin:
			if t, ok := over[k]; ok && m.of == "" {
				delete(over, k)
				places = append(places, t.end, i)
				from[t.end], from[i] = t.line, t.line
			}
		case part:
			last[k] = turn{line: i, of: m.of}
			if over[k].of == m.of {
				delete(over, k) // it goes on
			}
		}
	}
	slices.Sort(places)
	return slices.Compact(places), from
}

// turnPart is what a line is of a turn of the session's own agent.
type turnPart int

const (
	ofNone turnPart = iota
	ofBegin
	ofDelta
	ofItem
	ofEnd
)

// mark is what tells the lines of one turn from those of another: the thread or
// session, and of: the turn, or, of a delta and an item of Claude Code, the message.
type mark struct {
	part       turnPart
	thread, of string
}

func markOf(line []byte) (m mark) {
	if !slices.ContainsFunc(marks, func(s []byte) bool { return bytes.Contains(line, s) }) {
		return mark{}
	}
	f := frameOf(line)
	m.thread = f.Params.ThreadID
	switch f.Method {
	case "turn/started", "turn/completed":
		m.part, m.of = ofBegin, f.Params.Turn.ID
		if f.Method == "turn/completed" {
			m.part = ofEnd
		}
		return m
	case "item/agentMessage/delta":
		return mark{ofDelta, m.thread, f.Params.TurnID}
	case "item/completed":
		return mark{ofItem, m.thread, f.Params.TurnID}
	}
	var v struct {
		Subtype   string         `json:"subtype"`
		SessionID string         `json:"session_id"`
		Parent    string         `json:"parent_tool_use_id"`
		MessageID string         `json:"api_message_id"`
		Message   jsontext.Value `json:"message"`
		Event     struct {
			Delta struct {
				Type string `json:"type"`
			} `json:"delta"`
		} `json:"event"`
	}
	if json.Unmarshal(line, &v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil || v.Parent != "" {
		return mark{}
	}
	m.thread = v.SessionID
	switch {
	case f.Type == "result":
		m.part = ofEnd
	case f.Type == "system" && v.Subtype == "init":
		m.part = ofBegin
	case f.Type == "stream_event" && v.Event.Delta.Type == "text_delta" && v.MessageID != "":
		m.part, m.of = ofDelta, v.MessageID
	case f.Type == "assistant":
		var of struct {
			ID    string `json:"id"`
			Model string `json:"model"`
		}
		if json.Unmarshal(v.Message, &of) == nil && of.ID != "" && of.Model != "<synthetic>" {
			m.part, m.of = ofItem, of.ID
		}
	}
	return m
}

// marks are the words of which a line that has a mark holds one.
var marks = [][]byte{[]byte(`"turn/`), []byte(`"item/completed"`), []byte(`"item/agentMessage/delta"`), []byte(`"type":"result"`),
	[]byte(`"init"`), []byte(`"type":"assistant"`), []byte(`"text_delta"`)}

// duplicateEnd says the end of a turn twice: its id, or that of the message,
// proves that it is the same end.
func duplicateEnd() Operator {
	const name = "duplicate-end"
	return Operator{
		Name: name, Kind: Transparent, Doc: "The end of a turn comes twice, with the same id.",
		Places: func(c *fixtures.Case) []int {
			return slices.DeleteFunc(outputs(c), func(i int) bool {
				f := frameOf(c.Wire[i].Bytes)
				return f.Method != "turn/completed" && (f.Type != "result" || f.UUID == "")
			})
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Transparent, NoticeAllowed: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				return insert(lines, i, lines[i].Bytes)
			})
		},
	}
}
