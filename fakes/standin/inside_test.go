package standin

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/acp"
	"github.com/turnspec/turnspec/fixtures/wire/claude"
	"github.com/turnspec/turnspec/fixtures/wire/codex"
)

func TestAnswersAreComparedByDecision(t *testing.T) {
	ofClaude := func(response string) wire.Decision {
		return claude.Runtime.ReadInput([]byte(`{"type":"control_response","response":{"subtype":"success","request_id":"q","response":` + response + `}}`)).Step.Answer
	}
	ofCodex := func(result string) wire.Decision {
		return codex.Runtime.ReadInput([]byte(`{"id":0,"result":` + result + `}`)).Step.Answer
	}
	ofACP := func(option string) wire.Decision {
		return acp.Runtime.ReadInput([]byte(`{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"` + option + `"}}}`)).Step.Answer
	}
	failed := codex.Runtime.ReadInput([]byte(`{"id":0,"error":{"code":-32601,"message":"no"}}`)).Step.Answer
	input := jsontext.Value(`{"questions":[{"question":"Which?"}]}`)
	for name, x := range map[string]struct {
		rec, sub wire.Decision
		want     string
	}{
		"repeats the input":      {ofClaude(`{"behavior":"allow","updatedInput":{"questions": [{"question":"Which?"}]}}`), ofClaude(`{"behavior":"allow"}`), ""},
		"same answers":           {ofClaude(`{"behavior":"allow","updatedInput":{"questions":[],"answers":{"Which?":"A"}}}`), ofClaude(`{"behavior":"allow","updatedInput":{"answers":{"Which?":"A"}}}`), ""},
		"other answers":          {ofClaude(`{"behavior":"allow","updatedInput":{"answers":{"Which?":"A"}}}`), ofClaude(`{"behavior":"allow","updatedInput":{"answers":{"Which?":"B"}}}`), `must answer allow with {"Which?":"A"}, sent it with {"Which?":"B"}`},
		"no answers":             {ofClaude(`{"behavior":"allow","updatedInput":{"answers":{"Which?":"A"}}}`), ofClaude(`{"behavior":"allow"}`), `must answer allow with {"Which?":"A"}, sent it with nothing`},
		"deny is not cancel":     {ofClaude(`{"behavior":"deny","message":"no"}`), ofClaude(`{"behavior":"deny","message":"no","interrupt":true}`), "must answer deny, sent cancel"},
		"amendment is more":      {ofCodex(`{"decision":"accept"}`), ofCodex(`{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["ls"]}}}`), "must allow it once, sent it always"},
		"once is not always":     {ofCodex(`{"decision":"acceptForSession"}`), ofCodex(`{"decision":"accept"}`), "must allow it for the session, sent it once"},
		"rules of the session":   {ofClaude(`{"behavior":"allow","updatedPermissions":[{"type":"addRules","destination":"session"}]}`), ofClaude(`{"behavior":"allow"}`), "must allow it for the session, sent it once"},
		"denied for good":        {ofACP("reject_once"), ofACP("reject_always"), "must deny it once, sent it always"},
		"denied once":            {ofACP("reject_once"), ofACP("reject_once"), ""},
		"rules that stay":        {ofClaude(`{"behavior":"allow"}`), ofClaude(`{"behavior":"allow","updatedPermissions":[{"destination":"session"},{"destination":"localSettings"}]}`), "must allow it once, sent it always"},
		"permissions for longer": {ofCodex(`{"permissions":{"network":{}},"scope":"turn"}`), ofCodex(`{"permissions":{"network":{}},"scope":"session"}`), "must allow it once, sent it for the session"},
		"changed input":          {ofClaude(`{"behavior":"allow","updatedInput":{"command":"ls"}}`), ofClaude(`{"behavior":"allow"}`), `must answer allow with {"command":"ls"}, sent it with nothing`},
		"not a behavior":         {ofClaude(`{"behavior":"approve"}`), ofClaude(`{"behavior":"deny"}`), ""},
		"a wrong word is none":   {ofCodex(`{"decision":"accept"}`), ofCodex(`{"decision":"approve"}`), "must answer allow, sent error"},
		"elicitation":            {ofCodex(`{"action":"accept","content":{}}`), ofCodex(`{"action":"accept","content":null,"_meta":null}`), ""},
		"elicitation declined":   {ofCodex(`{"action":"accept","content":{"n":1}}`), ofCodex(`{"action":"decline"}`), "must answer allow, sent deny"},
		"other content":          {ofCodex(`{"action":"accept","content":{"n":1}}`), ofCodex(`{"action":"accept","content":{"n":2}}`), `must answer allow with {"n":1}, sent it with {"n":2}`},
		"user input":             {ofCodex(`{"answers":{"db":{"answers":["Postgres"]}}}`), ofCodex(`{"answers":{"db":{"answers":["MySQL"]}}}`), `must answer value with {"answers":{"db":{"answers":["Postgres"]}}}, sent it with {"answers":{"db":{"answers":["MySQL"]}}}`},
		"nobody answered":        {ofCodex(`{"answers":{"db":{"answers":["Postgres"]}}}`), ofCodex(`{"answers":{}}`), "must answer value, sent deny"},
		"permissions":            {ofCodex(`{"permissions":{"network":{}},"scope":"turn"}`), ofCodex(`{"permissions":{},"scope":"turn"}`), "must answer allow, sent deny"},
		"no answer to that kind": {failed, ofCodex(`{"decision":"decline"}`), ""},
	} {
		gomega.NewWithT(t).Expect(difference(x.rec, x.sub, input)).To(gomega.Equal(x.want), name)
	}
}

func TestInvalidLinesAreJunk(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, line := range []string{"hello", `{"id":1}`, "[1]"} {
		g.Expect(codex.Runtime.ReadInput([]byte(line)).Kind).To(gomega.Equal(KindJunk), line)
	}
	for _, line := range []string{"hello", `{"type":"control_request","request_id":"r"}`} {
		g.Expect(claude.Runtime.ReadInput([]byte(line)).Kind).To(gomega.Equal(KindJunk), line)
	}
	for _, line := range []string{"", " ", `{"type":"keep_alive"}`} {
		g.Expect(claude.Runtime.ReadInput([]byte(line)).Kind).To(gomega.Equal(KindNote), line)
	}
	a := claude.Runtime.ReadInput([]byte(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}}`))
	g.Expect(a.Kind).To(gomega.Equal(KindSend))
	g.Expect(a.Step.Text).To(gomega.Equal("ab"))
}

func TestUUIDsAreFoundAnywhere(t *testing.T) {
	g := gomega.NewWithT(t)
	b := []byte(`rollout-2026-11-21T04-39-45-01a1fc67-3858-7471-b33c-ef782e3943ff.jsonl {"a":"01a1fc67-3858-7471-b33c-ef782e3943fe"} f01a1fc67-3858-7471-b33c-ef782e3943ff 01a1fc67-3858-7471-b33c-ef782e3943ffa 01A1FC67-3858-7471-B33C-EF782E3943FF`)
	var got []string
	for _, u := range uuids(b) {
		got = append(got, string(b[u.From:u.To]))
	}
	g.Expect(got).To(gomega.Equal([]string{"01a1fc67-3858-7471-b33c-ef782e3943ff", "01a1fc67-3858-7471-b33c-ef782e3943fe"}))
}

func TestMembersAreFoundInBrokenAndDoubledObjects(t *testing.T) {
	g := gomega.NewWithT(t)
	at, ok := wire.Member([]byte(`{"a":{"id":"x\"","id":2},"b":1}`), "a", "id")
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(at).To(gomega.Equal(wire.Span{From: 11, To: 16}))
	for _, s := range []string{`[1]`, `{"a"`, `{"a":}`, ``, `{"b":1}`} {
		_, ok := wire.Member([]byte(s), "a")
		g.Expect(ok).To(gomega.BeFalse(), s)
	}
}

func TestTextDelta(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(TextDelta("codex", []byte(`{"method":"item/agentMessage/delta","params":{"delta":"a"}}`+"\n"+`{"method":"item/agentMessage/delta","params":{"delta":"b"}}`))).To(gomega.Equal("ab"))
	g.Expect(TextDelta("codex", []byte(`{"method":"item/reasoning/textDelta","params":{"delta":"a"}}`))).To(gomega.BeEmpty())
	g.Expect(TextDelta("claude", []byte(`{"type":"stream_event","event":{"delta":{"type":"text_delta","text":"c"}}}`))).To(gomega.Equal("c"))
	g.Expect(TextDelta("claude", []byte(`not JSON`))).To(gomega.BeEmpty())
}

// A request that a fault adds to the handshake names the session before it is opened. The
// stand-in must wait for the client to open it all the same.
func TestAddedRequestDoesNotNameTheSession(t *testing.T) {
	c, err := fixtures.LoadCase("acp/claude-agent-acp-0.49.0/text/plain")
	if err != nil {
		t.Fatal(err)
	}
	var lines []fixtures.WireLine
	for _, w := range c.Wire {
		lines = append(lines, w)
		if w.Dir == fixtures.Out && len(lines) == 3 { // the reply to initialize
			lines = append(lines, fixtures.WireLine{Dir: fixtures.Out, Process: w.Process, Bytes: []byte(`{"jsonrpc":"2.0","id":"x","method":"weather/outlook","params":{"sessionId":"s"}}`)})
		}
	}
	s, err := compile(c, lines, nil)
	if err != nil {
		t.Fatal(err)
	}
	opens := 0
	for i := range s.lines {
		if l := &s.lines[i]; l.w.Dir == fixtures.In && l.step.Kind == KindOpen {
			if opens++; !l.step.halts() {
				t.Errorf("output does not stop at %s", l.w.Bytes)
			}
		}
	}
	if opens != 2 || len(s.lines) != len(c.Wire)+1 {
		t.Errorf("%d steps that open, of %d lines; want initialize and session/new, with one more line than the case", opens, len(s.lines))
	}
}
