package mapping_test

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/dialect/dialects"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
)

// TestEachRuleIsReported checks that a check reports each rule of each dialect.
func TestEachRuleIsReported(t *testing.T) {
	for _, name := range dialects.Names() {
		d, _ := dialects.Of(name)
		if len(d.Rules()) == 0 {
			t.Errorf("the checker of %s has no rules", name)
		}
		for _, rule := range d.Rules() {
			if mapping.CheckOf(rule) == "" {
				t.Errorf("no check reports %s", rule)
			}
		}
	}
}

func TestBuiltin(t *testing.T) {
	g := NewWithT(t)
	for _, name := range mapping.Names() {
		m, err := mapping.Builtin(name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(m.NewChecker).To(BeNil())
		g.Expect(backend.Strict(m).NewChecker()).NotTo(BeNil())
	}
	_, err := mapping.Builtin("x")
	g.Expect(err).To(MatchError(ContainSubstring(`no dialect "x": use agentui, agui, agui-agent, uistream, usechat, wsmessages`)))
}

// example is the mapping of the package comment, and more.
const example = `{
  "name": "my-stream",
  "rules": [
    {"when": {"type": "chunk"}, "emit": "delta", "data": {"text": "body.text"}},
    {"when": {"type": "call"}, "key": "id", "keep": {"name": "fn"}},
    {"when": {"type": "args"}, "key": "id", "append": {"args": "piece"}},
    {"when": {"type": "thought"}, "emit": "thinking", "data": {"text": "body.text"}, "next": true},
    {"when": {"type": "thought", "last": true}, "emit": "thinking", "data": {"done": "=true"}},
    {"when": {"type": "of"}, "key": "a b", "keep": {"c": "c"}},
    {"when": {"type": "which"}, "key": "a b", "emit": "delta", "data": {"text": "@c"}},
    {"when": {"type": "go"}, "key": "id", "emit": "tool_start", "data": {"tool_use_id": "id", "tool": "@name", "input": "json:@args"}},
    {"when": {"type": "end", "ok": true}, "emit": "done"},
    {"when": {"type": "end"}, "emit": "error", "data": {"message": "reason", "code": "=\"unknown\""}}
  ],
  "ignore": ["ping", "debug.*"],
  "without": ["tool_result.is_error"],
  "end_of_stream": "[DONE]"
}`

func TestRead(t *testing.T) {
	g := NewWithT(t)
	m, err := mapping.Parse("x.json", []byte(example))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(backend.Strict(m).NewChecker).To(BeNil())
	r := m.NewReader()
	for _, c := range []struct{ line, want string }{
		{`{"type":"ping"}`, ""},
		{`{"type":"debug.x"}`, ""},
		{`{"type":"chunk","body":{"text":"hi"}}`, `delta text="hi"`},
		{`{"type":"chunk"}`, `delta`},
		{`{"type":"thought","body":{"text":"hm"}}`, `thinking text="hm"`},
		{`{"type":"thought","body":{"text":"hm"},"last":true}`, `thinking text="hm"; thinking done=true`},
		{`{"type":"of","a":1,"b":1,"c":"x"}`, ""},
		{`{"type":"of","a":1,"b":2,"c":"y"}`, ""},
		{`{"type":"which","a":1,"b":1}`, `delta text="x"`},
		{`{"type":"which","a":1,"b":2}`, `delta text="y"`},
		{`{"type":"call","id":1,"fn":"sh"}`, ""},
		{`{"type":"call","id":2,"fn":"ls"}`, ""},
		{`{"type":"args","id":1,"piece":"{\"a\":"}`, ""},
		{`{"type":"args","id":1,"piece":"1}"}`, ""},
		{`{"type":"go","id":1}`, `tool_start input={"a":1} tool="sh" tool_use_id=1`},
		{`{"type":"go","id":2}`, `tool_start tool="ls" tool_use_id=2`},
		{`{"type":"end", "ok": true }`, `done`},
		{`{"type":"end","reason":"r"}`, `error code="unknown" message="r"`},
	} {
		events, err := r.Read([]byte(c.line))
		g.Expect(err).NotTo(HaveOccurred(), c.line)
		got := []string{}
		for _, e := range events {
			words := []string{}
			for name, v := range e.Data {
				words = append(words, name+"="+string(v))
			}
			slices.Sort(words)
			got = append(got, strings.Join(append([]string{string(e.Type)}, words...), " "))
		}
		g.Expect(strings.Join(got, "; ")).To(Equal(c.want), c.line)
	}
	_, err = r.Read([]byte(`{"type":"other"}`))
	g.Expect(err).To(MatchError(mapping.ErrUnknown))
	_, err = r.Read([]byte(`[]`))
	g.Expect(err).To(HaveOccurred())
}

func TestParseErrors(t *testing.T) {
	const end = `{"when":{"type":"end"},"emit":"done"}`
	const post = `{"name":"n","extends":"agui","post":`
	for _, c := range []struct{ text, want string }{
		{"{\n\"name\": 1}", "x.json:2: "},
		{"{\n\n\"name\": \"n\", \"rule\": []}", "x.json:3: "},
		{`{"rules":[` + end + `]}`, "x.json: name is missing"},
		{`{"name":"n","rules":[]}`, "none emits done"},
		{`{"name":"n","rules":[{"emit":"done"}]}`, "rules[0].when is missing"},
		{`{"name":"n","rules":[` + end + `,{"when":{"type":"a"},"emit":"turn_start"}]}`, `rules[1].emit: no event "turn_start"`},
		{`{"name":"n","rules":[{"when":{"type":"a"},"emit":"delta","data":{"text":"@t"}}]}`, "rules[0].data.text needs a key"},
		{`{"name":"n","rules":[{"when":{"type":"a"},"emit":"delta","data":{"text":"=x"}}]}`, `rules[0].data.text: "x" is no JSON`},
		{`{"name":"n","rules":[{"when":{"type":"a"},"data":{"text":"t"}}]}`, "rules[0].data without emit"},
		{`{"name":"n","rules":[{"when":{"type":"a-*"},"emit":"*"}]}`, "rules[0].of is missing"},
		{`{"name":"n","rules":[{"when":{"type":"a-*"},"emit":"*","of":["x"]}]}`, `rules[0].of: no event "x"`},
		{`{"name":"n","rules":[{"when":{"type":"a"},"emit":"*","of":["*"]}]}`, "rules[0].when: want one text that ends in *"},
		{`{"name":"n","rules":[{"when":{"type":"a-*"},"emit":"usage","of":["*"]}]}`, `rules[0].of without "emit": "*"`},
		{`{"name":"n","rules":[{"when":{"type":"a"},"emit":"usage","data":{"*":"=1"}}]}`, "rules[0].data.*: want the path of an object"},
		{`{"name":"n","extends":"x"}`, `x.json: extends: no dialect "x"`},
		{`{"name":"n","extends":"agui","stop":{"path":"/","body":{}}}`, "stop without post"},
		{`{"name":"n","args":["x"]}`, "x.json: args: want one that contains {message}"},
		{`{"name":"n","stdin":1,"rules":[` + end + `]}`, "x.json: stdin: want a text or JSON that contains {message}"},
		{post + `{"path":"a","body":{}}}`, `x.json: post.path: "a" does not begin with a slash`},
		{post + `{"path":"/a","body":"{message}"}}`, "x.json: post.body: want a JSON object"},
	} {
		_, err := mapping.Parse("x.json", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.text, err, c.want)
		}
	}
}

// TestStar reads events that messages name, and the members of objects.
func TestStar(t *testing.T) {
	g := NewWithT(t)
	m, err := mapping.Parse("x.json", []byte(`{"name": "star", "rules": [
		{"when": {"type": "say"}, "emit": "delta", "data": {"*": "body", "text": "text"}},
		{"when": {"type": "x.*"}, "emit": "*", "of": ["error", "*"], "data": {"*": "body", "subagent_id": "agent"}},
		{"when": {"type": "end"}, "emit": "done"}
	], "without": ["plan"], "if_seen": ["done.reason"], "ignore": ["x.*"]}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.Types()).To(And(ContainElements(event.TypeDelta, event.TypeError, event.TypeUsage, event.TypeToolProgress), Not(ContainElement(event.TypePlan)),
		Not(ContainElement(event.TypeSessionReady)), Not(ContainElement(event.TypeQueue))))
	g.Expect(m.Names(event.TypeUsage, "tokens")).To(BeTrue())
	g.Expect(m.Names(event.TypeUsage, "subagent_id")).To(BeTrue())
	g.Expect(m.Names(event.TypeUsage, "text")).To(BeFalse(), "usage has none")
	g.Expect(m.Names(event.TypePlan, "steps")).To(BeFalse())
	g.Expect(m.OnlyIfSeen("usage.cost")).To(BeTrue())
	g.Expect(m.OnlyIfSeen("error")).To(BeFalse(), "a rule names it")
	g.Expect(m.OnlyIfSeen("delta")).To(BeFalse())
	r := m.NewReader()
	for _, c := range []struct{ line, want string }{
		{`{"type":"say","text":"a","body":{"text":"b","block_id":"c","x":1}}`, `delta block_id="c" text="a"`},
		{`{"type":"say","body":{"text":"b"}}`, `delta`},
		{`{"type":"say","text":"a","body":7}`, `delta text="a"`},
		{`{"type":"x.usage","agent":"s","body":{"scope":"turn","cost":null,"y":1}}`, `usage scope="turn" subagent_id="s"`},
		{`{"type":"x.tool-progress","body":{"elapsed_ms":3}}`, `tool_progress elapsed_ms=3`},
		{`{"type":"x.error","body":{"message":"m"}}`, `error message="m"`},
		{`{"type":"x.plan","body":{"steps":[]}}`, ``},
		{`{"type":"x.other"}`, ``},
		{`{"type":"x.*"}`, ``},
	} {
		events, err := r.Read([]byte(c.line))
		g.Expect(err).NotTo(HaveOccurred(), c.line)
		got := ""
		for _, e := range events {
			got += printed(e.Type, e.Data)
		}
		g.Expect(got).To(Equal(c.want), c.line)
	}
}

// TestExtends reads a file that extends a built-in vocabulary, and fills its requests.
func TestExtends(t *testing.T) {
	g := NewWithT(t)
	m, err := mapping.Parse("x.json", []byte(`{
  "name": "mine",
  "extends": "uistream",
  "rules": [{"when": {"type": "data-note"}, "emit": "result", "data": {"text": "data"}}],
  "without": ["tool_start"],
  "post": {"path": "/chats/{session}", "body": {"all": [{"id": 1, "text": "say: {message}"}], "cwd": "{dir}"}},
  "stop": {"path": "/stop", "body": {"chat": "{session}"}}
}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(backend.Strict(m).NewChecker()).NotTo(BeNil())
	g.Expect(m.EndOfStream).To(Equal("[DONE]"))
	events, err := m.NewReader().Read([]byte(`{"type":"data-note","data":"x"}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(events).To(HaveLen(1), "its own rules come first")
	path, body, err := m.Post.Fill(map[string]string{"session": "a/b", "message": `"{session}"`, "dir": "/d"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(path).To(Equal("/chats/a%2Fb"))
	g.Expect(string(body)).To(Equal(`{"all":[{"id":1,"text":"say: \"{session}\""}],"cwd":"/d"}`))
}

// TestChunks reads the short forms of AG-UI, in which each event may begin a message or a call.
func TestChunks(t *testing.T) {
	g := NewWithT(t)
	m, err := mapping.Builtin("agui")
	g.Expect(err).NotTo(HaveOccurred())
	r := m.NewReader()
	var got []string
	for _, line := range []string{
		`{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"Hm."}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"I "}`,
		`{"type":"TEXT_MESSAGE_CHUNK","delta":"look."}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"t","toolCallName":"ls","delta":"{\"a\":"}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"t","delta":"1}"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"n","toolCallId":"t","content":"b"}`,
	} {
		events, err := r.Read([]byte(line))
		g.Expect(err).NotTo(HaveOccurred(), line)
		for _, e := range events {
			got = append(got, printed(e.Type, e.Data))
		}
	}
	g.Expect(got).To(Equal([]string{
		`thinking block_id="r" text="Hm."`, `delta block_id="m" text="I "`, `delta block_id="m" text="look."`,
		`tool_start input={"a":1} tool="ls" tool_use_id="t"`, `tool_result output="b" tool_use_id="t"`,
	}))
}

// TestPaths reads lists: by index, and each element.
func TestPaths(t *testing.T) {
	g := NewWithT(t)
	m, err := mapping.Parse("x.json", []byte(`{"name": "lists", "rules": [
		{"each": "content", "when": {"role": "assistant", "*.type": "text"}, "emit": "delta", "data": {"text": "*.text"}},
		{"each": "content", "when": {"*.type": "call"}, "emit": "tool_start", "data": {"tool_use_id": "*.id", "tool": "*.name"}},
		{"has": ["content"]},
		{"has": ["choices.0.delta.content"], "emit": "delta", "data": {"text": "choices.0.delta.content"}},
		{"when": {"choices.0.end": "stop"}, "emit": "done"}
	]}`))
	g.Expect(err).NotTo(HaveOccurred())
	r := m.NewReader()
	for _, c := range []struct {
		line string
		want []string
	}{
		{`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"call","id":"1","name":"ls"},{"type":"text","text":"b"}]}`,
			[]string{`delta text="a"`, `tool_start tool="ls" tool_use_id="1"`, `delta text="b"`}},
		{`{"role":"assistant","content":[]}`, nil},
		{`{"role":"user","content":"x"}`, nil},
		{`{"choices":[{"delta":{"content":"c"}}]}`, []string{`delta text="c"`}},
		{`{"choices":[{"delta":{"content":null},"end":"stop"}]}`, []string{`done`}},
	} {
		events, err := r.Read([]byte(c.line))
		g.Expect(err).NotTo(HaveOccurred(), c.line)
		var got []string
		for _, e := range events {
			got = append(got, printed(e.Type, e.Data))
		}
		g.Expect(got).To(Equal(c.want), c.line)
	}
	for _, line := range []string{`{"choices":[]}`, `{"choices":{"0":1}}`, `{"choices":[{"delta":"c"}]}`} {
		_, err = r.Read([]byte(line))
		g.Expect(err).To(MatchError(mapping.ErrUnknown), line)
	}
}

// TestPrograms fills the line and the arguments of a message.
func TestPrograms(t *testing.T) {
	g := NewWithT(t)
	const end = `"rules": [{"when": {"type": "end"}, "emit": "done"}]`
	with := map[string]string{"message": `say "{dir}"`, "dir": "/d"}
	for form, want := range map[string]string{
		`"{message}"`:                     `say "{dir}"`,
		`{"text": "{message}", "n": [1]}`: `{"n":[1],"text":"say \"{dir}\""}`,
	} {
		m, err := mapping.Parse("x.json", []byte(`{"name": "n", "stdin": `+form+`, `+end+`}`))
		g.Expect(err).NotTo(HaveOccurred())
		line, err := m.FillStdin(with)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(line)).To(Equal(want))
	}
	m, err := mapping.Parse("x.json", []byte(`{"name": "n", "args": ["--in", "{dir}", "{message}"]}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.FillArgs(with)).To(Equal([]string{"--in", "/d", `say "{dir}"`}))
	g.Expect(m.NamesDir()).To(BeTrue())
	g.Expect(m.TakesCommands()).To(BeFalse())
}
