package dialect_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/agentui"
	"github.com/turnspec/turnspec/adapters/event"
)

var agentuiVocabularies = []vocabulary{{
	name:       "agentui",
	translator: func() func(event.Event) [][]byte { return encoded(new(agentui.Translator).Translate) },
	check:      func(lines [][]byte) []string { return problemsIn(new(agentui.Checker), lines) },
	read:       readAgentUI, leftOut: agentui.LeftOut(), late: true,
}}

// agentuiEvent is an event as a front end reads it. It shares nothing with the package under test.
type agentuiEvent struct {
	Type, RunID, PartID, ToolCallID, ActionID, AgentID, Phase string
	Payload                                                   struct {
		Text, Status, Tool, Output, By, Decision string
		InterruptID                              string `json:"interrupt_id"`
		Allowed                                  bool
	}
}

func readAgentUI(lines [][]byte) (map[int]*shown, []string) {
	out := map[int]*shown{}
	parts, requests := map[int][]*uiPart{}, map[int]map[string]string{}
	for _, line := range lines {
		var m agentuiEvent
		_ = json.Unmarshal(line, &m) // payloads of other classes have other forms
		_, n, _ := strings.Cut(m.RunID, "/")
		turn, _ := strconv.Atoi(n)
		find := func(kind, id string) *uiPart {
			for _, p := range parts[turn] {
				if p.kind == kind && p.id == id {
					return p
				}
			}
			p := &uiPart{kind: kind, id: id, block: id, status: "running"}
			parts[turn] = append(parts[turn], p)
			return p
		}
		head, _, _ := strings.Cut(m.Type, ".")
		if m.AgentID != "" && head != "action" {
			continue // it is not in the conversation
		}
		switch m.Type {
		case "run.started":
			out[turn], requests[turn] = &shown{end: "running"}, map[string]string{}
		case "text.delta", "reasoning.delta":
			find(head, m.PartID).text += m.Payload.Text
		case "text.final", "reasoning.summary":
			find(head, m.PartID).text = m.Payload.Text
		case "tool.started":
			find("tool", m.ToolCallID).name = m.Payload.Tool
		case "tool.result", "tool.failed":
			p := find("tool", m.ToolCallID)
			p.text, p.status = m.Payload.Output, statuses[m.Payload.Status]
		case "action.required":
			requests[turn][m.ActionID] = "pending"
		case "action.resolved":
			requests[turn][m.ActionID] = answerStatus(m.Payload.InterruptID != "", m.Payload.Allowed, m.Payload.By, m.Payload.Decision)
		case "run.finished", "run.failed":
			out[turn].end = map[string]string{"completed": "complete", "interrupted": "stopped", "failed": "failed"}[m.Phase]
		}
	}
	for turn, s := range out {
		if s.end == "running" {
			return out, []string{fmt.Sprintf("the run of turn %d has no end", turn)}
		}
		s.take(parts[turn], requests[turn])
	}
	return out, nil
}
