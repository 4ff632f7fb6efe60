package standin

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/onsi/gomega"
)

func TestAnswersAreComparedByWhatTheyDecide(t *testing.T) {
	claude := func(response string) answer {
		return claudeDialect{}.act([]byte(`{"type":"control_response","response":{"subtype":"success","request_id":"q","response":` + response + `}}`)).answer
	}
	codex := func(result string) answer {
		return codexDialect{}.act([]byte(`{"id":0,"result":` + result + `}`)).answer
	}
	failed := codexDialect{}.act([]byte(`{"id":0,"error":{"code":-32601,"message":"no"}}`)).answer
	input := jsontext.Value(`{"questions":[{"question":"Which?"}]}`)
	for name, x := range map[string]struct {
		rec, sub answer
		want     string
	}{
		"repeats the input":      {claude(`{"behavior":"allow","updatedInput":{"questions": [{"question":"Which?"}]}}`), claude(`{"behavior":"allow"}`), ""},
		"same answers":           {claude(`{"behavior":"allow","updatedInput":{"questions":[],"answers":{"Which?":"A"}}}`), claude(`{"behavior":"allow","updatedInput":{"answers":{"Which?":"A"}}}`), ""},
		"other answers":          {claude(`{"behavior":"allow","updatedInput":{"answers":{"Which?":"A"}}}`), claude(`{"behavior":"allow","updatedInput":{"answers":{"Which?":"B"}}}`), `was told allow with {"Which?":"A"} and sent it with {"Which?":"B"}`},
		"no answers":             {claude(`{"behavior":"allow","updatedInput":{"answers":{"Which?":"A"}}}`), claude(`{"behavior":"allow"}`), `was told allow with {"Which?":"A"} and sent it with nothing`},
		"deny is not cancel":     {claude(`{"behavior":"deny","message":"no"}`), claude(`{"behavior":"deny","message":"no","interrupt":true}`), "was told deny and sent cancel"},
		"amendment is more":      {codex(`{"decision":"accept"}`), codex(`{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["ls"]}}}`), "was told to allow it once and allowed it always"},
		"once is not always":     {codex(`{"decision":"acceptForSession"}`), codex(`{"decision":"accept"}`), "was told to allow it for the session and allowed it once"},
		"rules of the session":   {claude(`{"behavior":"allow","updatedPermissions":[{"type":"addRules","destination":"session"}]}`), claude(`{"behavior":"allow"}`), "was told to allow it for the session and allowed it once"},
		"rules that stay":        {claude(`{"behavior":"allow"}`), claude(`{"behavior":"allow","updatedPermissions":[{"destination":"session"},{"destination":"localSettings"}]}`), "was told to allow it once and allowed it always"},
		"permissions for longer": {codex(`{"permissions":{"network":{}},"scope":"turn"}`), codex(`{"permissions":{"network":{}},"scope":"session"}`), "was told to allow it once and allowed it for the session"},
		"changed input":          {claude(`{"behavior":"allow","updatedInput":{"command":"ls"}}`), claude(`{"behavior":"allow"}`), `was told allow with {"command":"ls"} and sent it with nothing`},
		"not a behavior":         {claude(`{"behavior":"approve"}`), claude(`{"behavior":"deny"}`), ""},
		"a wrong word is none":   {codex(`{"decision":"accept"}`), codex(`{"decision":"approve"}`), "was told allow and sent error"},
		"elicitation":            {codex(`{"action":"accept","content":{}}`), codex(`{"action":"accept","content":null,"_meta":null}`), ""},
		"elicitation declined":   {codex(`{"action":"accept","content":{"n":1}}`), codex(`{"action":"decline"}`), "was told allow and sent deny"},
		"other content":          {codex(`{"action":"accept","content":{"n":1}}`), codex(`{"action":"accept","content":{"n":2}}`), `was told allow with {"n":1} and sent it with {"n":2}`},
		"user input":             {codex(`{"answers":{"db":{"answers":["Postgres"]}}}`), codex(`{"answers":{"db":{"answers":["MySQL"]}}}`), `was told value with {"answers":{"db":{"answers":["Postgres"]}}} and sent it with {"answers":{"db":{"answers":["MySQL"]}}}`},
		"nobody answered":        {codex(`{"answers":{"db":{"answers":["Postgres"]}}}`), codex(`{"answers":{}}`), "was told value and sent deny"},
		"permissions":            {codex(`{"permissions":{"network":{}},"scope":"turn"}`), codex(`{"permissions":{},"scope":"turn"}`), "was told allow and sent deny"},
		"no answer to that kind": {failed, codex(`{"decision":"decline"}`), ""},
	} {
		gomega.NewWithT(t).Expect(differs(x.rec, x.sub, input)).To(gomega.Equal(x.want), name)
	}
}

func TestLinesThatAreNotOfTheWireAreJunk(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, line := range []string{"hello", `{"id":1}`, "[1]"} {
		g.Expect(codexDialect{}.act([]byte(line)).kind).To(gomega.Equal(KindJunk), line)
	}
	for _, line := range []string{"hello", `{"type":"control_request","request_id":"r"}`} {
		g.Expect(claudeDialect{}.act([]byte(line)).kind).To(gomega.Equal(KindJunk), line)
	}
	for _, line := range []string{"", " ", `{"type":"keep_alive"}`} {
		g.Expect(claudeDialect{}.act([]byte(line)).kind).To(gomega.Equal(KindNote), line)
	}
	a := claudeDialect{}.act([]byte(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}}`))
	g.Expect(a.kind).To(gomega.Equal(KindSend))
	g.Expect(a.text).To(gomega.Equal("ab"))
}

func TestUUIDsAreFoundWhereverTheyStand(t *testing.T) {
	g := gomega.NewWithT(t)
	b := []byte(`rollout-2026-11-21T04-39-45-01a1fc67-3858-7471-b33c-ef782e3943ff.jsonl {"a":"01a1fc67-3858-7471-b33c-ef782e3943fe"} f01a1fc67-3858-7471-b33c-ef782e3943ff 01a1fc67-3858-7471-b33c-ef782e3943ffa 01A1FC67-3858-7471-B33C-EF782E3943FF`)
	var got []string
	for _, u := range uuids(b) {
		got = append(got, string(b[u.from:u.to]))
	}
	g.Expect(got).To(gomega.Equal([]string{"01a1fc67-3858-7471-b33c-ef782e3943ff", "01a1fc67-3858-7471-b33c-ef782e3943fe"}))
}

func TestMembersAreFoundInBrokenAndDoubledObjects(t *testing.T) {
	g := gomega.NewWithT(t)
	at, ok := member([]byte(`{"a":{"id":"x\"","id":2},"b":1}`), "a", "id")
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(at).To(gomega.Equal(span{11, 16}))
	for _, s := range []string{`[1]`, `{"a"`, `{"a":}`, ``, `{"b":1}`} {
		_, ok := member([]byte(s), "a")
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
