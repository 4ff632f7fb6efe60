package dialect_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/wsmessages"
	"github.com/turnspec/turnspec/adapters/event"
)

var wsVocabularies = []vocabulary{{
	name:       "wsmessages",
	translator: func() func(event.Event) [][]byte { return encoded(new(wsmessages.Translator).Translate) },
	check:      func(lines [][]byte) []string { return problemsIn(new(wsmessages.Checker), lines) },
	read:       readWS, leftOut: wsmessages.LeftOut(),
	expresses: func(s *shown) {
		s.texts, s.requests = oneText(s.texts), nil
		for i, t := range s.tools {
			s.tools[i] = strings.Replace(t, " backgrounded ", " ok ", 1)
		}
	},
	seldom: []event.Type{event.TypeBlockEnd},
	hides:  "reasoning", // that of a retracted block stays
}}

// oneText joins texts without the white space that separates them.
func oneText(texts []string) []string {
	s := strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
	if s == "" {
		return nil
	}
	return []string{s}
}

// wsMessage is a message as a front end reads it. It shares nothing with the package under test.
type wsMessage struct {
	Type, ResponseID, CallID, ToolName, Delta, Text, Result string
	OK                                                      bool
	Error                                                   *struct{ Code, Message string }
}

func readWS(lines [][]byte) (map[int]*shown, []string) {
	out := map[int]*shown{}
	var text string
	var parts []*uiPart
	for _, line := range lines {
		var m wsMessage
		if err := json.Unmarshal(line, &m); err != nil {
			return out, []string{err.Error()}
		}
		i := slices.IndexFunc(parts, func(p *uiPart) bool { return p.id == m.CallID })
		switch m.Type {
		case "text_delta":
			text += m.Delta
		case "tool_call_start":
			parts = append(parts, &uiPart{kind: "tool", id: m.CallID, name: m.ToolName, status: "running"})
		case "tool_result":
			p := parts[i]
			p.status, p.text = "ok", m.Result
			if !m.OK {
				p.status = map[string]string{"tool_error": "failed", "tool_interrupted": "interrupted", "tool_denied": "denied"}[m.Error.Code]
				p.text = m.Error.Message
			}
		case "text_done", "output_cancelled":
			_, n, _ := strings.Cut(m.ResponseID, "/")
			turn, _ := strconv.Atoi(n)
			if out[turn] == nil {
				out[turn] = &shown{end: "complete"}
			}
			s := out[turn]
			if m.Type == "text_done" {
				text = m.Text
			} else if s.end = "stopped"; m.Error != nil {
				s.end = "failed"
			}
			if len(s.texts) == 0 {
				s.texts = oneText([]string{text})
			}
			s.take(append(parts, &uiPart{kind: "text", text: strings.Join(s.texts, "")}), nil)
			text, parts = "", nil
		}
	}
	return out, nil
}

var goodWS = strings.Split(strings.TrimSpace(`
{"type":"thinking_start","responseId":"r"}
{"type":"thinking_delta","responseId":"r","delta":"Hm."}
{"type":"thinking_done","responseId":"r","text":"Hm."}
{"type":"text_delta","responseId":"r","delta":"I "}
{"type":"text_delta","responseId":"r","delta":"look."}
{"type":"tool_call_start","callId":"t","toolName":"Bash","arguments":"{}"}
{"type":"tool_output_delta","callId":"t","toolName":"Bash","delta":"a"}
{"type":"tool_result","callId":"t","toolName":"Bash","ok":true,"result":"ab"}
{"type":"text_done","responseId":"r","text":"I look."}
{"type":"text_delta","responseId":"s","delta":"Al"}
{"type":"text_delta","responseId":"s","delta":"\n\n","separator":true}
{"type":"text_done","responseId":"s","text":"All","replaces":true,"cancelled":true}
{"type":"output_cancelled","responseId":"s"}`), "\n")

func TestBrokenWSMessages(t *testing.T) {
	testBroken(t, goodWS, func() checker { return new(wsmessages.Checker) }, wsmessages.Rules(), []broken{
		{"writes no JSON", replaced(`{"type":"thinking_start"`, `"type":"thinking_start"`), "not-json thinking-not-open thinking-not-open"},
		{"writes a type of its own", replaced("thinking_delta", "thought_delta"), "unknown-type thinking-differs"},
		{"names no response", replaced(`"responseId":"r","delta":"I "`, `"delta":"I "`), "missing-member"},
		{"writes arguments as an object", replaced(`"arguments":"{}"`, `"arguments":{}`), "wrong-member tool-arguments"},
		{"writes half of the arguments", replaced(`"arguments":"{}"`, `"arguments":"{"`), "tool-arguments"},
		{"ends no response", without("text_done"), "response-open"},
		{"ends a response twice", twice("text_done"), "response-ended"},
		{"goes on after the end", followed(goodWS[4]), "response-ended"},
		{"cancels twice", followed(goodWS[12]), "response-ended"},
		{"cancels what is done", replaced(`,"cancelled":true`, ``), "response-ended"},
		{"announces a cancellation and goes on", replaced(goodWS[12], goodWS[9]), "response-open response-ended"},
		{"announces a cancellation that does not come", without("output_cancelled"), "unfinished"},
		{"repeats a delta", twice(`"delta":"look."`), "text-differs"},
		{"starts thinking twice", twice("thinking_start"), "thinking-again"},
		{"starts no thinking", without("thinking_start"), "thinking-not-open thinking-not-open"},
		{"does not end thinking", without("thinking_done"), "thinking-open"},
		{"has other thoughts in the end", replaced(`"text":"Hm."`, `"text":"Hm. Hm."`), "thinking-differs"},
		{"starts a call twice", twice("tool_call_start"), "tool-again"},
		{"starts no call", without("tool_call_start"), "tool-unknown tool-unknown"},
		{"has two results", twice("tool_result"), "tool-ended"},
		{"renames a tool", replaced(`"toolName":"Bash","delta"`, `"toolName":"Shell","delta"`), "tool-renamed"},
		{"has no result", without("tool_result"), "tool-open"},
		{"fails without an error", replaced(`"ok":true,"result":"ab"`, `"ok":false`), "result-form"},
		{"is cut off", func(l []string) []string { return l[:10] }, "unfinished"},
		{"writes nothing", func([]string) []string { return nil }, "unfinished"},
	})
}
