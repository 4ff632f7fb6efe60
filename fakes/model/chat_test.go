package model

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/openai/openai-go/v3"

	"github.com/turnspec/turnspec/fixtures"
)

// chatTools are the tools of an agent as a request declares them: `name:member,member`.
func chatTools(tools ...string) []openai.ChatCompletionToolUnionParam {
	var out []openai.ChatCompletionToolUnionParam
	for _, t := range tools {
		name, members, _ := strings.Cut(t, ":")
		properties := map[string]any{}
		for m := range strings.SplitSeq(members, ",") {
			member, description, _ := strings.Cut(m, "=")
			properties[member] = map[string]any{"type": "string", "description": description}
		}
		out = append(out, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: name, Parameters: openai.FunctionParameters{"type": "object", "properties": properties},
		}))
	}
	return out
}

func chatParams(msgs ...openai.ChatCompletionMessageParamUnion) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: "gpt-test", Messages: append([]openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")}, msgs...),
		Tools:         chatTools("bash:command,description", "write:filePath,content"),
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
}

func TestChatStream(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", reply))
	st := openaiClient(m, c).Chat.Completions.NewStreaming(t.Context(), chatParams())
	var deltas []string
	var full openai.ChatCompletionAccumulator
	for st.Next() {
		chunk := st.Current()
		g.Expect(full.AddChunk(chunk)).To(BeTrue())
		if len(chunk.Choices) == 0 {
			continue
		}
		if d := chunk.Choices[0].Delta; d.Role == "" && len(d.ToolCalls) == 0 && chunk.Choices[0].FinishReason == "" {
			var reasoning string
			if f, ok := d.JSON.ExtraFields["reasoning_content"]; ok {
				reasoning = f.Raw()
			}
			deltas = append(deltas, reasoning+d.Content)
		}
	}
	g.Expect(st.Err()).NotTo(HaveOccurred())
	g.Expect(st.Close()).To(Succeed())
	g.Expect(deltas).To(Equal([]string{`"Hm, "`, `"sö."`, "One ", "", " ☃\u2028", "two"}))
	checkCompletion(g, &full.ChatCompletion)

	next, err := openaiClient(m, c).Chat.Completions.New(t.Context(), chatParams(
		full.Choices[0].Message.ToParam(), openai.ToolMessage("wrote", "call_t2"), openai.ToolMessage("listed", "call_t1"),
	))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.Choices[0].Message.Content).To(Equal("done"))
	g.Expect(next.Choices[0].FinishReason).To(Equal("stop"))
	w := m.Witness()
	g.Expect(w).To(HaveLen(2))
	g.Expect(w[0]).To(Equal(fixtures.Request{
		Req: 1, New: []string{"m1"}, History: []string{"m1"}, Ended: fixtures.EndedComplete, Stream: true,
		Output: []fixtures.OutputPart{
			{Think: "Hm, sö."}, {Text: "One  ☃\u2028two"}, // one text: the API has no blocks
			{Tool: "shell", Name: "bash", ID: "t1", Input: []byte(`{"command":"ls"}`)},
			{Tool: "write", Name: "write", ID: "t2", Input: []byte(`{"path":"a/b.txt","content":"x\ny\n"}`)},
		},
	}))
	g.Expect(w[1].New).To(ConsistOf("result:t1", "result:t2"))
	g.Expect(w[1].Results).To(Equal(map[string]string{"t1": "listed", "t2": "wrote"}))
	g.Expect(m.Err()).NotTo(HaveOccurred())
}

func TestChatWhole(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", reply))
	r, err := openaiClient(m, c).Chat.Completions.New(t.Context(), chatParams())
	g.Expect(err).NotTo(HaveOccurred())
	checkCompletion(g, r)
	g.Expect(r.Choices[0].Message.JSON.ExtraFields["reasoning_content"].Raw()).To(Equal(`"Hm, sö."`))
	g.Expect(m.Witness()[0].Stream).To(BeFalse())
}

func checkCompletion(g Gomega, r *openai.ChatCompletion) {
	g.Expect(r.ID).To(Equal("chatcmpl-1"))
	g.Expect(r.Choices).To(HaveLen(1))
	g.Expect(r.Choices[0].FinishReason).To(Equal("tool_calls"))
	g.Expect(r.Usage.TotalTokens).To(BeEquivalentTo(usualUsage.Input + usualUsage.Output))
	msg := r.Choices[0].Message
	g.Expect(msg.Content).To(Equal("One  ☃\u2028two"))
	g.Expect(msg.ToolCalls).To(HaveLen(2))
	g.Expect([]string{msg.ToolCalls[0].ID, msg.ToolCalls[0].Function.Name}).To(Equal([]string{"call_t1", "bash"}))
	g.Expect(msg.ToolCalls[0].Function.Arguments).To(MatchJSON(`{"command":"ls","description":"Run a command"}`))
	g.Expect([]string{msg.ToolCalls[1].ID, msg.ToolCalls[1].Function.Name}).To(Equal([]string{"call_t2", "write"}))
	g.Expect(msg.ToolCalls[1].Function.Arguments).To(MatchJSON(`{"filePath":"/ws/a/b.txt","content":"x\ny\n"}`))
}

func TestChatFailures(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", `[{"fail":{"kind":"rate","headers":{"retry-after":"3"}}}]
[{"retry":true},{"text":["half"]},{"fail":{"kind":"overloaded"}}]
[{"retry":true},{"text":["half"]},{"cut":true}]
[{"retry":true},{"text":["half"]},{"close":true}]`))
	_, err := openaiClient(m, c).Chat.Completions.New(t.Context(), chatParams())
	var failed *openai.Error
	g.Expect(errors.As(err, &failed)).To(BeTrue())
	g.Expect(failed.StatusCode).To(Equal(429))
	g.Expect(failed.Code).To(Equal("rate_limit_exceeded"))
	for _, want := range []string{"overloaded", "unexpected EOF", ""} {
		st := openaiClient(m, c).Chat.Completions.NewStreaming(t.Context(), chatParams())
		var text, finish strings.Builder
		for st.Next() {
			text.WriteString(st.Current().Choices[0].Delta.Content)
			finish.WriteString(st.Current().Choices[0].FinishReason)
		}
		g.Expect(text.String()).To(Equal("half"))
		g.Expect(finish.String()).To(BeEmpty())
		if want == "" { // the client sees nothing but that no reason came
			g.Expect(st.Err()).NotTo(HaveOccurred())
		} else {
			g.Expect(st.Err()).To(MatchError(ContainSubstring(want)))
		}
		g.Expect(st.Close()).To(Succeed())
	}
	// A reply may be noted as ended after the client has read it.
	g.Eventually(func() []string { return brief(m.Witness()) }, "10s").Should(Equal([]string{
		`1 [m1] [] failed`, `2 [retry] ["half"] failed`, `3 [retry] ["half"] cut`, `4 [retry] ["half"] cut`,
	}))
}

// TestChatChunks checks the chunks themselves: the members of reasoning, and calls whose
// deltas alternate.
func TestChatChunks(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi",
		`[{"think":["a"],"field":"reasoning_text"},{"think":["b"],"field":"reasoning"},{"text":["c"]},{"hold":"h"},{"text":["d"]},`+
			`{"tool":"other","id":"t1","input":{"name":"x","input":{"k":"☃é"}},"pieces":3,"alternates":true},{"tool":"other","id":"t2","input":{"name":"y"},"pieces":2}]`))
	m.Release("h")
	_, body, err := post(t, c, m.URL()+"/v1/chat/completions", `{"model":"q","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url"}]}]}`)
	g.Expect(err).NotTo(HaveOccurred())
	var deltas []string
	for l := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		l, ok := strings.CutPrefix(l, "data: ")
		g.Expect(ok).To(BeTrue())
		l = strings.TrimPrefix(l, `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"q","choices":[{"index":0,"delta":`)
		deltas = append(deltas, strings.TrimSuffix(l, `,"finish_reason":null}]}`))
	}
	g.Expect(deltas).To(Equal([]string{
		`{"role":"assistant","content":""}`,
		`{"reasoning_text":"a"}`,
		`{"reasoning":"b"}`,
		`{"content":"c"}`,
		`{"content":"d"}`,
		`{"tool_calls":[{"index":0,"id":"call_t1","type":"function","function":{"name":"x","arguments":""}}]}`,
		`{"tool_calls":[{"index":1,"id":"call_t2","type":"function","function":{"name":"y","arguments":""}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":"{\"k\""}}]}`,
		`{"tool_calls":[{"index":1,"function":{"arguments":"{"}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":":\"☃"}}]}`,
		`{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":"é\"}"}}]}`,
		`{},"finish_reason":"tool_calls"}]}`,
		`[DONE]`,
	}))
	g.Expect(brief(m.Witness())).To(Equal([]string{`1 [m1] ["ab" "cd" "other" "other"] complete`}))
	g.Expect(m.Witness()[0].Files).To(Equal(1))
}

// TestChatTitle checks that a request for a title takes no line of the scenario, and that a
// message about titles is no such request.
func TestChatTitle(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: Generate a title for this book.", `[{"text":["A Book"]}]`))
	ask := func(tools, system string) string {
		_, body, err := post(t, c, m.URL()+"/v1/chat/completions", `{"messages":[{"role":"system","content":"`+system+`"},{"role":"user","content":"Generate a title for this book."}]`+tools+`}`)
		g.Expect(err).NotTo(HaveOccurred())
		return body
	}
	g.Expect(ask("", "You are a title generator.")).To(ContainSubstring(`"content":"A title"`))
	g.Expect(m.Witness()).To(BeEmpty())
	g.Expect(ask(`,"tools":[{"type":"function","function":{"name":"bash"}}]`, "You help.")).To(ContainSubstring(`"content":"A Book"`))
	g.Expect(m.Err()).NotTo(HaveOccurred())
}

// TestChatAgents checks how calls are translated for the tools that agents declare.
func TestChatAgents(t *testing.T) {
	for name, x := range map[string]struct{ tools, line, want string }{
		"seconds":      {"bash:command,timeout=Timeout in seconds", `"shell","input":{"command":"ls","timeout_ms":1500}`, `{"command":"ls","timeout":2}`},
		"milliseconds": {"bash:command,description,timeout=In milliseconds", `"shell","input":{"command":"ls","timeout_ms":1500}`, `{"command":"ls","timeout":1500,"description":"Run a command"}`},
		"path":         {"read:path,offset,limit", `"read","input":{"path":"a.txt","from":2,"lines":3}`, `{"path":"/ws/a.txt","offset":2,"limit":3}`},
		"edits":        {"edit:path,edits", `"edit","input":{"path":"a.txt","old":"x","new":"y"}`, `{"path":"/ws/a.txt","edits":[{"oldText":"x","newText":"y"}]}`},
		"strings":      {"edit:filePath,oldString,newString,replaceAll", `"edit","input":{"path":"a.txt","old":"x","new":"y"}`, `{"filePath":"/ws/a.txt","oldString":"x","newString":"y"}`},
		"task":         {"task:description,prompt,subagent_type", `"subagent","input":{"name":"w","prompt":"Work."}`, `{"description":"w","prompt":"Work.","subagent_type":"general"}`},
		"todo":         {"todowrite:todos", `"todo","input":{"steps":[{"step":"a"}]}`, `{"todos":[{"content":"a","status":"pending","priority":"medium"}]}`},
		"fetch":        {"webfetch:url,format", `"web","input":{"url":"http://x"}`, `{"url":"http://x","format":"text"}`},
		"question":     {"question:questions", `"ask","input":{"questions":[{"header":"h","question":"q?","options":[{"label":"A"}]}]}`, `{"questions":[{"question":"q?","header":"h","options":[{"label":"A","description":"A"}]}]}`},
		"mcp":          {"lab_echo:", `"mcp","input":{"server":"lab","tool":"echo","arguments":{"a":1}}`, `{"a":1}`},
		"structured":   {"StructuredOutput:", `"structured","input":{"value":{"a":1}}`, `{"a":1}`},
		"client":       {"card:", `"client","input":{"tool":"card"}`, `{}`},
		"no such tool": {"read:path", `"shell","input":{"command":"ls"}`, `does not offer bash or shell or run_shell_command; offered are: read`},
		"no member":    {"read:name", `"read","input":{"path":"a"}`, `the input of read has no member filePath or path or file_path`},
		"background":   {"bash:command", `"shell","input":{"command":"ls","background":true}`, `takes a command and a timeout only`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			models := []string{`[{"tool":` + strings.Replace(x.line, `,"input"`, `,"id":"t1","input"`, 1) + `}]`}
			if strings.Contains(x.line, "subagent") {
				models = append(models, "-- model w --\n"+`[{"text":["done"]}]`)
			}
			m, c := start(t, scenario(t, "send m1: hi", models...))
			p := chatParams()
			p.Tools = chatTools(x.tools)
			p.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
			r, err := openaiClient(m, c).Chat.Completions.New(t.Context(), p)
			if !strings.HasPrefix(x.want, "{") {
				g.Expect(m.Err()).To(MatchError(ContainSubstring(x.want)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.Choices[0].Message.ToolCalls[0].Function.Arguments).To(MatchJSON(x.want))
		})
	}
}

// TestChatSubagent checks that another session of the agent is its sub-agent, whose first message is
// the prompt of a call.
func TestChatSubagent(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi",
		`[{"tool":"subagent","id":"t1","input":{"name":"w","prompt":"Work."}}]`+"\n"+`[{"text":["end"]}]`, "-- model w --\n"+`[{"text":["done"]}]`+"\n"+`[{"text":["again"]}]`))
	tools := `"tools":[{"type":"function","function":{"name":"task","parameters":{"properties":{"description":true,"prompt":{},"subagent_type":{}}}}}]`
	for _, r := range []struct{ session, messages string }{
		{"ses_1", `{"role":"user","content":"hi"}`},
		{"ses_2", `{"role":"user","content":"Work."}`},
		{"ses_2", `{"role":"user","content":"Work."},{"role":"assistant","content":"done"},{"role":"user","content":"More."}`},
		{"ses_1", `{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[]},{"role":"tool","tool_call_id":"call_t1","content":"done"}`},
	} {
		_, _, err := post(t, c, m.URL()+"/v1/chat/completions", `{"messages":[`+r.messages+`],`+tools+`}`, "X-Session-Id", r.session)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(m.Err()).NotTo(HaveOccurred())
	g.Expect(brief(m.Witness())).To(Equal([]string{
		`1 [m1] ["subagent"] complete`, `2 w[prompt] ["done"] complete`, `3 w[again] ["again"] complete`, `4 [result:t1] ["end"] complete`,
	}))
}

// TestChatSummary checks the requests for a summary: by the instructions of an agent, or by
// the newest message of the user.
func TestChatSummary(t *testing.T) {
	for name, x := range map[string]struct {
		messages string
		want     bool
	}{
		"by instructions": {`{"role":"system","content":"You are a context summarization assistant."},{"role":"user","content":"hi"}`, true},
		"first":           {`{"role":"user","content":"<conversation>hi</conversation>\n\nCreate a new anchored summary from it."}`, true},
		"again":           {`{"role":"user","content":"Update the anchored summary below."}`, true},
		"of an old message": {`{"role":"user","content":"Create a new anchored summary."},{"role":"assistant","content":"They met."},{"role":"user","content":"hi"}`,
			false},
		"by the model": {`{"role":"user","content":"hi"},{"role":"assistant","content":"Create a new anchored summary?"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			q, err := chatAPI{}.read(nil, []byte(`{"messages":[`+x.messages+`]}`))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(q.compact).To(Equal(x.want))
		})
	}
}
