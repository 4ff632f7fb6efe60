package model

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	aoption "github.com/anthropics/anthropic-sdk-go/option"
	. "github.com/onsi/gomega"
	"github.com/openai/openai-go/v3"
	ooption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/turnspec/turnspec/fixtures"
)

// The official clients read the replies of the model: they implement the APIs and share no code with this package.

const reply = `[{"think":["Hm, ","sö."]},{"text":["One ",""," ☃\u2028"]},{"text":["two"]},` +
	`{"tool":"shell","id":"t1","input":{"command":"ls"}},{"tool":"write","id":"t2","input":{"path":"a/b.txt","content":"x\ny\n"}}]
[{"text":["done"]}]`

func anthropicClient(m *Server, c *http.Client) *anthropic.Client {
	cl := anthropic.NewClient(aoption.WithBaseURL(m.URL()), aoption.WithAPIKey("dummy"), aoption.WithMaxRetries(0), aoption.WithHTTPClient(c))
	return &cl
}

func anthropicParams(msgs ...anthropic.MessageParam) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: "claude-test", MaxTokens: 100, Messages: msgs}
	for _, n := range []string{"Bash", "Write"} {
		p.Tools = append(p.Tools, anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{}, n))
	}
	return p
}

func TestAnthropicStream(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", reply))
	hi := anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))
	st := anthropicClient(m, c).Messages.NewStreaming(t.Context(), anthropicParams(hi))
	var msg anthropic.Message
	var deltas []string
	for st.Next() {
		e := st.Current()
		g.Expect(msg.Accumulate(e)).To(Succeed())
		switch e.Delta.Type {
		case "text_delta":
			deltas = append(deltas, e.Delta.Text)
		case "thinking_delta":
			deltas = append(deltas, e.Delta.Thinking)
		}
	}
	g.Expect(st.Err()).NotTo(HaveOccurred())
	g.Expect(st.Close()).To(Succeed())
	g.Expect(deltas).To(Equal([]string{"Hm, ", "sö.", "One ", "", " ☃\u2028", "two"}))
	checkMessage(g, &msg, "msg_1")

	// The results come back under the scenario's ids, from a string and from blocks.
	next, err := anthropicClient(m, c).Messages.New(t.Context(), anthropicParams(hi, msg.ToParam(), anthropic.NewUserMessage(
		anthropic.NewToolResultBlock("toolu_t2", "wrote", false), anthropic.NewToolResultBlock("toolu_t1", "listed", false))))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.Content[0].Text).To(Equal("done"))
	g.Expect(next.StopReason).To(Equal(anthropic.StopReasonEndTurn))
	checkWitness(g, m.Witness(), "Bash", "Write")
	g.Expect(m.Err()).NotTo(HaveOccurred())
}

func TestAnthropicWhole(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", reply))
	msg, err := anthropicClient(m, c).Messages.New(t.Context(), anthropicParams(anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))))
	g.Expect(err).NotTo(HaveOccurred())
	checkMessage(g, msg, "msg_1")
	w := m.Witness()[0]
	g.Expect(w.Stream).To(BeFalse())
	g.Expect(brief([]fixtures.Request{w})).To(Equal([]string{`1 [m1] ["Hm, sö." "One  ☃` + "\\u2028" + `" "two" "shell" "write"] complete`}))
}

func checkMessage(g Gomega, msg *anthropic.Message, id string) {
	g.Expect(msg.ID).To(Equal(id))
	g.Expect(msg.Model).To(BeEquivalentTo("claude-test"))
	g.Expect(msg.StopReason).To(Equal(anthropic.StopReasonToolUse))
	g.Expect(msg.Usage.InputTokens).To(BeEquivalentTo(usualUsage.Input))
	g.Expect(msg.Usage.OutputTokens).To(BeEquivalentTo(usualUsage.Output))
	g.Expect(msg.Content).To(HaveLen(5))
	g.Expect(msg.Content[0].Thinking).To(Equal("Hm, sö."))
	g.Expect(msg.Content[0].Signature).To(Equal(signature))
	g.Expect(msg.Content[1].Text).To(Equal("One  ☃\u2028"))
	g.Expect(msg.Content[2].Text).To(Equal("two"))
	g.Expect(msg.Content[3].ID).To(Equal("toolu_t1"))
	g.Expect(msg.Content[3].Name).To(Equal("Bash"))
	g.Expect(string(msg.Content[3].Input)).To(MatchJSON(`{"command":"ls"}`))
	g.Expect(msg.Content[4].ID).To(Equal("toolu_t2"))
	g.Expect(string(msg.Content[4].Input)).To(MatchJSON(`{"file_path":"/ws/a/b.txt","content":"x\ny\n"}`))
}

// checkWitness checks the two requests of a conversation with reply.
func checkWitness(g Gomega, w []fixtures.Request, shell, write string) {
	g.Expect(w).To(HaveLen(2))
	g.Expect(w[0]).To(Equal(fixtures.Request{
		Req: 1, New: []string{"m1"}, History: []string{"m1"}, Ended: fixtures.EndedComplete, Stream: true,
		Output: []fixtures.OutputPart{
			{Think: "Hm, sö."}, {Text: "One  ☃\u2028"}, {Text: "two"},
			{Tool: "shell", Name: shell, ID: "t1", Input: []byte(`{"command":"ls"}`)},
			{Tool: "write", Name: write, ID: "t2", Input: []byte(`{"path":"a/b.txt","content":"x\ny\n"}`)},
		},
	}))
	g.Expect(w[1].New).To(ConsistOf("result:t1", "result:t2"))
	g.Expect(w[1].Results).To(Equal(map[string]string{"t1": "listed", "t2": "wrote"}))
	g.Expect(w[1].History).To(Equal([]string{"m1"}))
}

func openaiClient(m *Server, c *http.Client) *openai.Client {
	cl := openai.NewClient(ooption.WithBaseURL(m.URL()+"/v1"), ooption.WithAPIKey("dummy"), ooption.WithMaxRetries(0), ooption.WithHTTPClient(c))
	return &cl
}

func openaiParams(items ...responses.ResponseInputItemUnionParam) responses.ResponseNewParams {
	p := responses.ResponseNewParams{Model: "gpt-test"}
	p.Input.OfInputItemList = append(responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("hi", "user")}, items...)
	p.Tools = []responses.ToolUnionParam{
		responses.ToolParamOfFunction("exec_command", map[string]any{}, false),
		responses.ToolParamOfCustom("apply_patch"),
	}
	return p
}

func TestOpenAIStream(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", reply))
	st := openaiClient(m, c).Responses.NewStreaming(t.Context(), openaiParams())
	var deltas []string
	var done []responses.ResponseOutputItemUnion
	var full responses.Response
	seq := int64(0)
	for st.Next() {
		e := st.Current()
		g.Expect(e.SequenceNumber).To(Equal(seq))
		seq++
		switch e.Type {
		case "response.output_text.delta", "response.reasoning_summary_text.delta":
			deltas = append(deltas, e.Delta)
		case "response.output_item.done":
			g.Expect(e.OutputIndex).To(BeEquivalentTo(len(done)))
			done = append(done, e.Item)
		case "response.completed":
			full = e.Response
		}
	}
	g.Expect(st.Err()).NotTo(HaveOccurred())
	g.Expect(st.Close()).To(Succeed())
	g.Expect(deltas).To(Equal([]string{"Hm, ", "sö.", "One ", "", " ☃\u2028", "two"}))
	checkItems(g, done)
	checkItems(g, full.Output)
	g.Expect(full.Usage.TotalTokens).To(BeEquivalentTo(usualUsage.Input + usualUsage.Output))

	next, err := openaiClient(m, c).Responses.New(t.Context(), openaiParams(
		responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
			CallID: openai.String("call_t1"), Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String("listed")},
		}},
		responses.ResponseInputItemParamOfCustomToolCallOutput("call_t2", "wrote"),
	))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(next.OutputText()).To(Equal("done"))
	checkWitness(g, m.Witness(), "exec_command", "apply_patch")
}

func TestOpenAIWhole(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", reply))
	r, err := openaiClient(m, c).Responses.New(t.Context(), openaiParams())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Status).To(BeEquivalentTo("completed"))
	checkItems(g, r.Output)
}

func checkItems(g Gomega, items []responses.ResponseOutputItemUnion) {
	g.Expect(items).To(HaveLen(5))
	g.Expect(items[0].ID).To(Equal("rs_1"))
	g.Expect(items[0].Summary[0].Text).To(Equal("Hm, sö."))
	g.Expect(items[1].ID).To(Equal("msg_1"))
	g.Expect(items[1].Content[0].Text).To(Equal("One  ☃\u2028"))
	g.Expect(items[2].ID).To(Equal("msg_2"))
	g.Expect(items[2].Content[0].Text).To(Equal("two"))
	call := items[3].AsFunctionCall()
	g.Expect([]string{call.CallID, call.Name}).To(Equal([]string{"call_t1", "exec_command"}))
	g.Expect(call.Arguments).To(MatchJSON(`{"cmd":"ls","yield_time_ms":30000}`))
	patch := items[4].AsCustomToolCall()
	g.Expect([]string{patch.CallID, patch.Name}).To(Equal([]string{"call_t2", "apply_patch"}))
	g.Expect(patch.Input).To(Equal("*** Begin Patch\n*** Add File: a/b.txt\n+x\n+y\n*** End Patch"))
	var raw struct {
		Encrypted *string `json:"encrypted_content"`
	}
	g.Expect(json.Unmarshal([]byte(items[0].RawJSON()), &raw)).To(Succeed())
	g.Expect(raw.Encrypted).To(BeNil())
}

func TestSDKsSeeFailures(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", `[{"fail":{"status":529}}]
[{"retry":true},{"text":["half"]},{"cut":true}]`))
	_, err := anthropicClient(m, c).Messages.New(t.Context(), anthropicParams(anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))))
	var aerr *anthropic.Error
	g.Expect(errors.As(err, &aerr)).To(BeTrue())
	g.Expect(aerr.StatusCode).To(Equal(529))
	st := openaiClient(m, c).Responses.NewStreaming(t.Context(), openaiParams())
	defer func() { _ = st.Close() }()
	text := ""
	var textSb211 strings.Builder
	for st.Next() {
		textSb211.WriteString(st.Current().Delta)
	}
	text += textSb211.String()
	g.Expect(text).To(Equal("half"))
	g.Expect(st.Err()).To(HaveOccurred())
}
