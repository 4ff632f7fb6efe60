package dialect_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/uistream"
	"github.com/turnspec/turnspec/adapters/event"
)

var uiVocabularies = []vocabulary{
	{
		name:       "uistream",
		translator: func() func(event.Event) [][]byte { return encoded(new(uistream.Translator).Translate) },
		check:      checkUI, read: readUI, leftOut: uistream.LeftOut(),
	},
	{
		name: "uistream with approvals", emit: "uistream-approvals",
		translator: func() func(event.Event) [][]byte { return encoded((&uistream.Translator{Approvals: true}).Translate) },
		check:      checkUI, read: readUI, leftOut: uistream.LeftOut(),
		hides:   "tools", // a request starts its tool
		goldens: []string{"claude/newest/permission/allow", "claude/newest/permission/deny-then-stop"},
	},
}

func checkUI(lines [][]byte) []string { return problemsIn(new(uistream.Checker), lines) }

// uiChunk is a chunk as a front end reads it. It shares nothing with the package under test.
type uiChunk struct {
	Type, ID, Delta, MessageID, ToolCallID, ToolName string
	FinishReason, ErrorText, Output                  string
	Preliminary                                      bool
	ProviderMetadata                                 struct{ Turnspec struct{ BlockID string } }
	Data                                             struct {
		BlockID string   `json:"block_id"`
		PartIDs []string `json:"part_ids"`
		Text    string
		Status  string
		Request struct {
			ID string `json:"request_id"`
		}
		Question struct {
			ID string `json:"interrupt_id"`
		} `json:"interrupt"`
		Resolved *struct {
			Allowed      bool
			Decision, By string
		}
	}
}

// uiPart is a part of text, or a tool.
type uiPart struct {
	kind, id, block, text, name, status string
}

func readUI(lines [][]byte) (map[int]*shown, []string) {
	out := map[int]*shown{}
	var problems []string
	var turn int
	var parts []*uiPart
	requests := map[string]string{}
	find := func(kind, id string) *uiPart {
		for _, p := range slices.Backward(parts) {
			if p.kind == kind && p.id == id {
				return p
			}
		}
		return nil
	}
	for _, line := range lines {
		var c uiChunk
		if err := json.Unmarshal(line, &c); err != nil {
			return out, []string{fmt.Sprintf("%v: %s", err, line)}
		}
		switch c.Type {
		case "start":
			_, n, _ := strings.Cut(c.MessageID, "/")
			turn, _ = strconv.Atoi(n)
			parts, requests = nil, map[string]string{}
			out[turn] = &shown{end: "complete"}
		case "text-start", "reasoning-start":
			kind := strings.TrimSuffix(c.Type, "-start")
			block := c.ProviderMetadata.Turnspec.BlockID
			if block == "" {
				block = c.ID
			}
			parts = append(parts, &uiPart{kind: kind, id: c.ID, block: block})
		case "text-delta", "reasoning-delta":
			find(strings.TrimSuffix(c.Type, "-delta"), c.ID).text += c.Delta
		case "data-retracted", "data-replaced":
			text := c.Data.Text
			for _, p := range parts {
				if p.kind != "tool" && slices.Contains(c.Data.PartIDs, p.id) {
					p.text, text = text, ""
				}
			}
		case "tool-input-available":
			parts = append(parts, &uiPart{kind: "tool", id: c.ToolCallID, name: c.ToolName, status: "running"})
		case "tool-output-available":
			p := find("tool", c.ToolCallID)
			p.text = c.Output
			if !c.Preliminary && p.status == "running" {
				p.status = "ok"
			}
		case "tool-output-error":
			p := find("tool", c.ToolCallID)
			if p.status == "running" {
				p.status = "failed"
			}
			if p.text = c.ErrorText; p.text == "error" || p.text == "denied" || p.text == "interrupted" {
				p.text = "" // what stands for an empty output
			}
		case "data-tool":
			p := find("tool", c.ID)
			if p.status = c.Data.Status; p.status == "error" {
				p.status = "failed"
			}
		case "data-permission", "data-question":
			id, status := c.Data.Request.ID, "pending"
			if c.Type == "data-question" {
				id = c.Data.Question.ID
			}
			if r := c.Data.Resolved; r != nil {
				status = answerStatus(c.Type == "data-question", r.Allowed, r.By, r.Decision)
			}
			requests[id] = status
		case "abort":
			out[turn].end = "stopped"
		case "error":
			out[turn].end = "failed"
		case "finish":
			out[turn].take(parts, requests)
			turn = 0
		}
	}
	if turn != 0 {
		problems = append(problems, "a stream has no finish")
	}
	return out, problems
}

// blocksOf joins the parts of each block.
func blocksOf(parts []*uiPart, kind string) []string {
	var order []string
	texts := map[string]string{}
	for _, p := range parts {
		if p.kind != kind {
			continue
		}
		if _, ok := texts[p.block]; !ok {
			order = append(order, p.block)
		}
		texts[p.block] += p.text
	}
	var out []string
	for _, id := range order {
		if texts[id] != "" {
			out = append(out, texts[id])
		}
	}
	return out
}
