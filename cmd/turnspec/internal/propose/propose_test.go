package propose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/dialect/dialects"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/fixtures"
)

// cases are turns with text, calls, their results and questions.
var cases = []string{"text/plain", "tool/parallel", "permission/allow", "permission/deny-with-a-message"}

// stream returns the messages of a dialect for cases of the newest version of Claude Code.
func stream(t *testing.T, d dialects.Dialect) (out [][]byte) {
	t.Helper()
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, id := range fixtures.Newest(ids) {
		name, scenario, _ := strings.Cut(id, "/")
		if _, scenario, _ = strings.Cut(scenario, "/"); name != "claude" || !slices.Contains(cases, scenario) {
			continue
		}
		found++
		lines, err := fixtures.Embedded().GoldenEvents(id)
		if err != nil {
			t.Fatal(err)
		}
		translate := d.New()
		for _, line := range lines {
			e, err := event.Decode(line)
			if err != nil {
				t.Fatal(err)
			}
			for _, message := range translate(e) {
				if !strings.Contains(string(message.Line), `"separator":true`) { // only our reducer writes such a text
					out = append(out, message.Line)
				}
			}
		}
	}
	if found < 3 {
		t.Fatalf("only %d of the cases %v exist", found, cases)
	}
	return out
}

// renamings are other ways to name the members and types of a vocabulary.
var renamings = map[string]struct {
	member, kind func(string) string
}{
	"as they are": {same, same},
	"snake case":  {snake, func(s string) string { return strings.ToLower(strings.ReplaceAll(snake(s), "-", "_")) }},
	"other words": {otherWord, func(s string) string { return "x." + s }},
}

func same(s string) string { return s }

func otherWord(s string) string {
	words := map[string]string{"type": "kind", "delta": "piece", "toolName": "fn", "toolCallName": "fn", "input": "arguments"}
	return cmp.Or(words[s], s)
}

func snake(s string) string {
	var b strings.Builder
	before := ' '
	for _, r := range s {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}

// renamed returns a message with other names of members, and another name of its type.
func renamed(v any, member, kind func(string) string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range v {
			text, isText := inner.(string)
			switch {
			case name == "type" && isText:
				out[member(name)] = kind(text)
			case slices.Contains([]string{"input", "props"}, name):
				out[member(name)] = inner
			default:
				out[member(name)] = renamed(inner, member, kind)
			}
		}
		return out
	case []any:
		for i := range v {
			v[i] = renamed(v[i], member, kind)
		}
	}
	return v
}

// summary is what a reader of the messages learns of texts, calls, results and ends.
func summary(t *testing.T, m *mapping.Mapping, lines [][]byte) (out []string) {
	t.Helper()
	r := m.NewReader()
	text := ""
	flush := func() {
		if text != "" {
			out = append(out, "text "+text)
			text = ""
		}
	}
	for _, line := range lines {
		events, err := r.Read(line)
		if err != nil {
			t.Logf("%v: %s", err, line)
		}
		for _, e := range events {
			get := func(name string) string {
				v := e.Data[name].Clone()
				if v == nil || v.Canonicalize() != nil {
					return "nothing"
				}
				return string(v)
			}
			switch e.Type {
			case event.TypeDelta:
				var piece string
				_ = json.Unmarshal(e.Data["text"], &piece)
				text += piece
			case event.TypeToolStart:
				flush()
				out = append(out, "call "+get("tool_use_id")+get("tool")+get("input"))
			case event.TypeToolResult:
				flush()
				out = append(out, "result "+get("tool_use_id")+get("output"))
			case event.TypePermissionRequest:
				out = append(out, "request "+get("request_id")+get("tool_name")+get("tool_input"))
			case event.TypeDone, event.TypeError:
				flush()
				out = append(out, string(e.Type))
			}
		}
	}
	flush()
	return out
}

// TestRenamedDialects proposes mappings for the streams of the built-in dialects with other names. They
// read what the built-in mapping reads in the original.
func TestRenamedDialects(t *testing.T) {
	for _, name := range []string{"agentui", "agui", "uistream", "wsmessages"} {
		builtin, err := mapping.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		d, _ := dialects.Of(name)
		lines := stream(t, d)
		want := summary(t, builtin, lines)
		for how, r := range renamings {
			t.Run(name+"/"+how, func(t *testing.T) {
				g := NewWithT(t)
				var own [][]byte
				var sample strings.Builder
				for _, line := range lines {
					var v any
					g.Expect(json.Unmarshal(line, &v)).To(Succeed())
					b, err := json.Marshal(renamed(v, r.member, r.kind), json.Deterministic(true))
					g.Expect(err).NotTo(HaveOccurred())
					own = append(own, b)
					fmt.Fprintf(&sample, "%s\n", b)
				}
				p, err := From("own", []byte(sample.String()))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(p.Missing).To(BeEmpty())
				if how == "as they are" {
					g.Expect(p.Mapping.Extends).To(Equal(name))
				}
				file, err := p.Write()
				g.Expect(err).NotTo(HaveOccurred())
				m, err := mapping.Parse("own.json", file)
				g.Expect(err).NotTo(HaveOccurred(), string(file))
				got := summary(t, m, own)
				for i := range max(len(got), len(want)) {
					have, expected := append(got, "nothing")[min(i, len(got))], append(want, "nothing")[min(i, len(want))]
					if have != expected {
						t.Fatalf("got  %s\nwant %s\nwith %s", have, expected, file)
					}
				}
			})
		}
	}
}

// TestShapes checks that each shape can be parsed, and reads a sample of its vocabulary.
func TestShapes(t *testing.T) {
	for name, c := range map[string]struct {
		sample string
		want   []string
	}{
		"openai": {`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}
{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"ls","arguments":""}}]},"finish_reason":null}]}
{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]},"finish_reason":null}]}
{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
{"role":"tool","tool_call_id":"c","content":"b"}
data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"It is "},"finish_reason":null}]}
data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"b."},"finish_reason":null}]}
data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
data: [DONE]`, []string{`call "c""ls"{"a":1}`, `result "c""b"`, "text It is b.", "done"}},
		"anthropic": {`{"type":"message_start","message":{"id":"m"}}
{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"ls","input":{}}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}
{"type":"content_block_stop","index":0}
{"type":"message_delta","delta":{"stop_reason":"tool_use"}}
{"type":"message_stop"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"b"}]}}
{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It is b."}}
{"type":"content_block_stop","index":0}
{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, []string{`call "c""ls"{"a":1}`, `result "c""b"`, "text It is b.", "done"}},
		"acp": {`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"ls","rawInput":{"a":1},"status":"pending"}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"b"}}]}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"It is b."}}}}
{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`, []string{`call "c""ls"{"a":1}`, `result "c""b"`, "text It is b.", "done"}},
		"langchain": {`{"event":"on_chain_start","run_id":"r","name":"agent","parent_ids":[],"data":{"input":"x"}}
{"event":"on_tool_start","run_id":"c","name":"ls","parent_ids":["r"],"data":{"input":{"a":1}}}
{"event":"on_tool_end","run_id":"c","name":"ls","parent_ids":["r"],"data":{"output":"b"}}
{"event":"on_chat_model_stream","run_id":"q","parent_ids":["r"],"data":{"chunk":{"content":"It is b."}}}
{"event":"on_chain_end","run_id":"r","name":"agent","parent_ids":[],"data":{"output":"It is b."}}`, []string{`call "c""ls"{"a":1}`, `result "c""b"`, "text It is b.", "done"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p, err := From("own", []byte(c.sample))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.Unplaced).To(BeEmpty())
			g.Expect(strings.Join(p.Mapping.Notes, "\n")).To(ContainSubstring("those of " + name))
			var lines [][]byte
			for line := range strings.SplitSeq(c.sample, "\n") {
				if line = strings.TrimPrefix(line, "data: "); line != "[DONE]" {
					lines = append(lines, []byte(line))
				}
			}
			g.Expect(summary(t, p.Mapping, lines)).To(Equal(c.want))
		})
	}
}

// TestOwnVocabularies proposes mappings for vocabularies that no dialect describes.
func TestOwnVocabularies(t *testing.T) {
	for name, c := range map[string]struct {
		sample   string
		want     []string
		unplaced []string
	}{
		"a few words": {`{"t":1,"event":"token","value":"It "}
{"t":2,"event":"token","value":"is b."}
{"t":3,"event":"message","value":"It is b."}
{"t":4,"event":"weather","sky":["blue"]}
{"t":5,"event":"done"}`, []string{"text It is b.", "done"}, []string{`event "weather"`}},
		"whole texts, states of a tool, and an end that may fail": {`{"kind":"tool","tool":{"id":"c","name":"ls","args":{"a":1}},"status":"running"}
{"kind":"tool","tool":{"id":"c","name":"ls"},"output":"b","status":"completed"}
{"kind":"assistant","message":{"text":"It is b."}}
{"kind":"result","isError":false}`, []string{`call "c""ls"{"a":1}`, `result "c""b"`, "text It is b.", "done"}, nil},
		"nested, with success": {`{"op":"update","data":{"type":"toolStarted","callId":"c","toolName":"ls","arguments":"{\"a\":1}"}}
{"op":"update","data":{"type":"toolFinished","callId":"c","result":"b","success":true}}
{"op":"update","data":{"type":"textChunk","text":"It is b."}}
{"op":"update","data":{"type":"turnEnd"}}`, []string{`call "c""ls"{"a":1}`, `result "c""b"`, "text It is b.", "done"}, nil},
		"without a type": {`{"text":"It is "}
{"text":"b."}
{"finished":true}`, []string{"text It is b.", "done"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p, err := From("own", []byte(c.sample))
			g.Expect(err).NotTo(HaveOccurred())
			file, err := p.Write()
			g.Expect(err).NotTo(HaveOccurred())
			var unplaced []string
			for _, u := range p.Unplaced {
				unplaced = append(unplaced, u.Kind.String())
				rule, _, _ := strings.Cut(u.Write, ", or ")
				g.Expect(jsontext.Value(rule).IsValid()).To(BeTrue(), rule)
			}
			g.Expect(unplaced).To(Equal(c.unplaced), string(file))
			m, err := mapping.Parse("own.json", file)
			g.Expect(err).NotTo(HaveOccurred(), string(file))
			var lines [][]byte
			for line := range strings.SplitSeq(c.sample, "\n") {
				lines = append(lines, []byte(line))
			}
			g.Expect(summary(t, m, lines)).To(Equal(c.want), string(file))
			for _, r := range m.Rules {
				g.Expect(r.Note).NotTo(BeEmpty())
			}
		})
	}
}

func TestNoSample(t *testing.T) {
	g := NewWithT(t)
	for _, sample := range []string{"", "hello\n", `{"hello":{"protocol":1,"can":[]}}`} {
		_, err := From("own", []byte(sample))
		g.Expect(err).To(MatchError(ContainSubstring("the sample has no message")), sample)
	}
	p, err := From("own", []byte("hello\n{\"type\":\"done\"}\n{\"type\":\"done\"}"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Skipped).To(Equal([]string{"line 1 is no JSON object: hello"}))
	g.Expect(p.Missing).To(Equal([]event.Type{event.TypeDelta}))
}
