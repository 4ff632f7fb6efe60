package dialect_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/agui"
	"github.com/turnspec/turnspec/adapters/event"
)

var aguiVocabularies = []vocabulary{{
	name:       "agui",
	translator: func() func(event.Event) [][]byte { return encoded(new(agui.Translator).Translate) },
	check:      func(lines [][]byte) []string { return problemsIn(new(agui.Checker), lines) },
	read:       readAGUI, leftOut: agui.LeftOut(),
}}

// aguiEvent is an event as a front end reads it. It shares nothing with the package under test.
type aguiEvent struct {
	Type, RunID, MessageID, ToolCallID, ToolCallName, Content, Name, SubagentRunID string
	Delta                                                                          json.RawMessage
	Outcome                                                                        struct{ Type string }
	Metadata                                                                       struct {
		Turnspec struct {
			Status  string
			BlockID string `json:"block_id"`
		}
	}
	Value struct {
		RequestID   string   `json:"request_id"`
		InterruptID string   `json:"interrupt_id"`
		ToolUseID   string   `json:"tool_use_id"`
		Dropped     bool     `json:"dropped"`
		MessageIDs  []string `json:"message_ids"`
		Text        string
		Allowed     bool
		By          string
		Decision    string
	}
}

// statuses are the statuses of tools in a chat.
var statuses = map[string]string{"ok": "ok", "error": "failed", "denied": "denied", "interrupted": "interrupted", "backgrounded": "backgrounded"}

// answerStatus returns the status of a request in a chat.
func answerStatus(question, allowed bool, by, decision string) string {
	switch {
	case by == "withdrawn":
		return "withdrawn"
	case question:
		return "answered"
	case allowed:
		return "allowed"
	case decision == "cancel":
		return "cancelled"
	}
	return "denied"
}

func readAGUI(lines [][]byte) (map[int]*shown, []string) {
	out := map[int]*shown{}
	turn := 0
	var parts []*uiPart
	requests := map[string]string{}
	find := func(kind, id string) *uiPart {
		for _, p := range parts {
			if p.kind == kind && p.id == id {
				return p
			}
		}
		return &uiPart{} // of a sub-agent
	}
	for _, line := range lines {
		var m aguiEvent
		_ = json.Unmarshal(line, &m) // values of other CUSTOM events have other forms
		switch m.Type {
		case "RUN_STARTED":
			_, n, _ := strings.Cut(m.RunID, "/")
			turn, _ = strconv.Atoi(n)
			parts, requests = nil, map[string]string{}
			out[turn] = &shown{end: "complete"}
		case "TEXT_MESSAGE_START", "REASONING_MESSAGE_START":
			if m.SubagentRunID == "" {
				kind := map[bool]string{true: "text", false: "reasoning"}[m.Type == "TEXT_MESSAGE_START"]
				block := m.Metadata.Turnspec.BlockID
				if block == "" {
					block = m.MessageID
				}
				parts = append(parts, &uiPart{kind: kind, id: m.MessageID, block: block})
			}
		case "TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT":
			var delta string
			if err := json.Unmarshal(m.Delta, &delta); err != nil {
				return out, []string{err.Error()}
			}
			kind := map[bool]string{true: "text", false: "reasoning"}[m.Type == "TEXT_MESSAGE_CONTENT"]
			find(kind, m.MessageID).text += delta
		case "TOOL_CALL_START":
			if m.SubagentRunID == "" {
				parts = append(parts, &uiPart{kind: "tool", id: m.ToolCallID, name: m.ToolCallName, status: "running"})
			}
		case "TOOL_CALL_RESULT":
			if m.SubagentRunID == "" {
				p := find("tool", m.ToolCallID)
				p.text, p.status = m.Content, statuses[m.Metadata.Turnspec.Status]
			}
		case "CUSTOM":
			v := m.Value
			switch m.Name {
			case "retracted", "replaced":
				s := v.Text
				for _, p := range parts {
					if p.kind != "tool" && slices.Contains(v.MessageIDs, p.id) {
						p.text, s = s, ""
					}
				}
			case "tool_input":
				parts = slices.DeleteFunc(parts, func(p *uiPart) bool { return p.kind == "tool" && p.id == v.ToolUseID && v.Dropped })
			case "permission_request":
				requests[v.RequestID] = "pending"
			case "interrupt":
				requests[v.InterruptID] = "pending"
			case "permission_resolved":
				requests[v.RequestID] = answerStatus(false, v.Allowed, v.By, v.Decision)
			case "interrupt_resolved":
				requests[v.InterruptID] = answerStatus(true, false, v.By, "")
			}
		case "RUN_FINISHED", "RUN_ERROR":
			s := out[turn]
			switch {
			case m.Type == "RUN_ERROR":
				s.end = "failed"
			case m.Outcome.Type == "cancelled":
				s.end = "stopped"
			}
			s.take(parts, requests)
			turn = 0
		}
	}
	if turn != 0 {
		return out, []string{fmt.Sprintf("the run of turn %d has no end", turn)}
	}
	return out, nil
}

// take sets what the parts and the requests of a turn show.
func (s *shown) take(parts []*uiPart, requests map[string]string) {
	s.texts, s.reasoning = blocksOf(parts, "text"), blocksOf(parts, "reasoning")
	for _, p := range parts {
		if p.kind == "tool" {
			s.tools = append(s.tools, strings.Join([]string{p.name, p.id, p.status, p.text}, " "))
		}
	}
	for id, status := range requests {
		s.requests = append(s.requests, id+" "+status)
	}
	slices.Sort(s.requests)
}

// problemsIn returns what a checker reports.
func problemsIn(c checker, lines [][]byte) (out []string) {
	for _, line := range lines {
		for _, p := range c.Add(line) {
			out = append(out, p.String()+" in "+string(line))
		}
	}
	for _, p := range c.End() {
		out = append(out, p.String())
	}
	return out
}
