package model

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// The forms in which the parts of a reply reach a runtime, one reply each.
func TestForms(t *testing.T) {
	for name, c := range map[string]struct {
		line      string
		messages  []string // in the stream of /v1/messages; nil: refused
		responses []string // in the stream of /v1/responses; nil: refused
		chat      []string // in the stream of /v1/chat/completions; nil: refused
		not       string   // in none
		said      string
	}{
		"whole":    {`[{"text":["a","b"],"whole":true}]`, []string{`"text_delta"`}, []string{`"text":"ab"`}, []string{`"content":"ab"`}, "output_text.delta", `["ab"] complete`},
		"final":    {`[{"text":["a"],"final":"c"}]`, nil, []string{`"delta":"a"`, `"text":"c"`}, nil, "", `["c"] complete`},
		"phase":    {`[{"text":["a"],"phase":"commentary"}]`, []string{"text_delta"}, []string{`"phase":"commentary"`}, []string{`"content":"a"`}, "", `["a"] complete`},
		"item id":  {`[{"text":["a"],"id":"msg_own"}]`, []string{"text_delta"}, []string{`"id":"msg_own"`}, []string{`"content":"a"`}, "", `["a"] complete`},
		"raw":      {`[{"think":["a"],"raw":["b"]}]`, nil, []string{`reasoning_summary_text.delta`, `reasoning_text.delta`}, nil, "", `["a" "b"] complete`},
		"no words": {`[{"think":[]}]`, []string{"signature_delta"}, []string{`"summary":[]`}, []string{`"finish_reason":"stop"`}, "summary_part", `[] complete`},
		"redacted": {`[{"redacted":"eA=="}]`, []string{`"redacted_thinking","data":"eA=="`}, []string{`"encrypted_content":"eA=="`}, nil, "", `[] complete`},
		"usage":    {`[{"usage":{"input":9,"cached":5,"output":3}},{"text":["a"]}]`, []string{`"input_tokens":4`, `"cache_read_input_tokens":5`}, []string{`"input_tokens":9`, `"cached_tokens":5`, `"total_tokens":12`}, []string{`"prompt_tokens":9`, `"cached_tokens":5`, `"total_tokens":12`}, "", `["a"] complete`},
		"length":   {`[{"text":["a"]},{"end":"length"}]`, []string{`"stop_reason":"max_tokens"`}, []string{"response.incomplete", `"reason":"max_output_tokens"`}, []string{`"finish_reason":"length"`, "[DONE]"}, "response.completed", `["a"] short`},
		"window":   {`[{"text":["a"]},{"end":"window"}]`, []string{`"model_context_window_exceeded"`}, nil, nil, "", `["a"] short`},
		"close":    {`[{"text":["a"]},{"close":true}]`, []string{"text_delta"}, []string{"output_text.delta"}, []string{`"content":"a"`}, "completed", `["a"] cut`},
		"nothing":  {`[{"close":true}]`, []string{}, []string{}, []string{}, "data", `[] cut`},
		"bytes":    {`[{"text":["a"]},{"bytes":": hm\n\n"},{"text":["b"]}]`, []string{": hm\n\n"}, []string{": hm\n\n"}, []string{": hm\n\n"}, `"index":1`, `["ab"] complete`},
		"kind":     {`[{"fail":{"kind":"context"}}]`, []string{"prompt is too long"}, []string{"context_length_exceeded"}, []string{"context_length_exceeded"}, "", `[] failed`},
		"spoil":    {`[{"tool":"other","id":"t1","input":{"name":"x"},"spoil":"{no"}]`, []string{`"partial_json":"{no"`}, []string{`"arguments":"{no"`}, []string{`"arguments":"{no"`}, "", `["other"] complete`},
		"pieces":   {`[{"tool":"other","id":"t1","input":{"name":"x","input":{"a":"é☃"}},"pieces":4}]`, []string{`"partial_json":"{\"a"`, `"partial_json":"\":\""`}, []string{`"delta":"{\"a"`}, []string{`"arguments":"{\"a"`}, "", `["other"] complete`},
		"in turn":  {`[{"tool":"other","id":"t1","input":{"name":"x"},"alternates":true},{"tool":"other","id":"t2","input":{"name":"y"}}]`, nil, nil, []string{`"index":1,"id":"call_t2"`}, "", `["other" "other"] complete`},
	} {
		for path, want := range map[string][]string{"/v1/messages": c.messages, "/v1/responses": c.responses, "/v1/chat/completions": c.chat} {
			t.Run(name+path, func(t *testing.T) {
				g := NewWithT(t)
				m, hc := start(t, scenario(t, "send m1: hi", c.line))
				ask := users("hi")
				switch path {
				case "/v1/responses":
					ask = `{"stream":true,"input":"hi"}`
				case "/v1/chat/completions":
					ask = `{"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`
				}
				status, body, _ := post(t, hc, m.URL()+path, ask)
				if want == nil {
					g.Expect(status).To(Equal(400))
					g.Expect(m.Err()).To(HaveOccurred())
					return
				}
				g.Expect(m.Err()).NotTo(HaveOccurred())
				for _, s := range want {
					g.Expect(body).To(ContainSubstring(s))
				}
				if c.not != "" {
					g.Expect(body).NotTo(ContainSubstring(c.not))
				}
				g.Expect(brief(m.Witness())).To(Equal([]string{"1 [m1] " + c.said}))
			})
		}
	}
}

func TestBrokenOffPartIsOpen(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", `[{"text":["whole"]},{"text":["half"]},{"cut":true}]
[{"retry":true},{"tool":"shell","id":"t1","input":{"command":"echo"},"open":true},{"cut":true}]
[{"retry":true},{"cut":true}]`))
	_, body, _ := post(t, c, m.URL()+"/v1/messages", users("hi"))
	g.Expect(body).To(ContainSubstring("half"))
	_, body, _ = post(t, c, m.URL()+"/v1/messages", users("hi"))
	g.Expect(body).To(ContainSubstring("input_json_delta"))
	g.Expect(strings.Count(body, "echo")).To(BeZero(), "half of the input is no input")
	_, err := send(t.Context(), c, m.URL()+"/v1/messages", users("hi")) //nolint:bodyclose // there is none
	g.Expect(err).To(HaveOccurred(), "a cut before all leaves not even a status")
	w := m.Witness()
	g.Expect(w[0].Output).To(Equal([]fixtures.OutputPart{{Text: "whole"}, {Text: "half", Unfinished: true}}))
	g.Expect(w[1].Output).To(BeEmpty(), "a call that breaks off was not made")
}

// A request that is not streamed has no stream to fail within.
func TestWholeReplyFailsByStatus(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", `[{"text":["a"]},{"fail":{"kind":"overloaded"}}]`))
	status, _, _ := post(t, c, m.URL()+"/v1/messages", strings.Replace(users("hi"), `"stream":true,`, "", 1))
	g.Expect(status).To(Equal(529))
	g.Expect(m.Witness()[0].Status).To(Equal(529))
}

// TestRawReasoningEndsWithItsBlock checks that a reply that breaks off later does not leave
// the reasoning before it open, and that raw reasoning is recorded only if it was sent.
func TestRawReasoningEndsWithItsBlock(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", `[{"think":["sum"],"raw":["own"]},{"text":["half"]},{"cut":true}]
[{"retry":true},{"think":["sum"],"raw":["own"]},{"cut":true}]`))
	for range 2 {
		_, _, _ = post(t, c, m.URL()+"/v1/responses", `{"model":"m","stream":true,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]}`)
	}
	w := m.Witness()
	g.Expect(w[0].Output).To(Equal([]fixtures.OutputPart{{Think: "sum"}, {Think: "own"}, {Text: "half", Unfinished: true}}))
	g.Expect(w[1].Output).To(Equal([]fixtures.OutputPart{{Think: "sum", Unfinished: true}}))
}
