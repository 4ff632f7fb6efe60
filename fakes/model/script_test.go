package model

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// texts is a request as an API's read would give it.
func texts(t ...string) *request { return &request{texts: t, prefix: callPrefix} }

func TestNewOfARequest(t *testing.T) {
	g := NewWithT(t)
	sc := scenario(t, "send m1: Go on.\nsend m2: second\nsend m3: third\\nline\nsend m4: Go on.",
		`[{"tool":"shell","id":"t1","input":{"command":"x"}}]`)
	s := newScript(sc)
	get := func(q *request, ended fixtures.Ended) []string {
		x := s.receive(q)
		x.Ended = ended
		return x.New
	}
	env := "<reminder>\nGo on. is no message here\n</reminder>"
	g.Expect(get(texts(env, "Go on."), fixtures.EndedComplete)).To(Equal([]string{"m1"}))
	q := texts(env, "Go on.")
	q.results = []result{{"call_t1", "out"}, {"call_other", "not ours"}}
	g.Expect(get(q, fixtures.EndedFailed)).To(Equal([]string{"result:t1"}))
	g.Expect(get(q, fixtures.EndedComplete)).To(Equal([]string{"retry"}))
	g.Expect(get(q, fixtures.EndedComplete)).To(Equal([]string{"again"}), "after a complete one it is no retry")
	// Merged by the runtime into one text, with words around it.
	x := s.receive(texts("Go on.", "New:\nsecond\nthird\nline\n\nPlease answer."))
	g.Expect(x.New).To(Equal([]string{"m2", "m3"}))
	g.Expect(x.History).To(Equal([]string{"m1", "m2", "m3"}))
	x.Ended = fixtures.EndedComplete
	// The same words again are the next message of those words.
	g.Expect(get(texts("Go on.", "second", "third\nline", "Go on."), fixtures.EndedComplete)).To(Equal([]string{"m4"}))
	q = texts("Go on.")
	q.notes = 1
	g.Expect(get(q, fixtures.EndedComplete)).To(Equal([]string{"task"}))
	q.compact = true
	g.Expect(get(q, fixtures.EndedComplete)).To(Equal([]string{"compact"}))
}

func TestWhichLineAnswers(t *testing.T) {
	g := NewWithT(t)
	s := newScript(scenario(t, "send m1: a\nsend m2: b\nsend m3: c",
		`[{"on":"m2"},{"text":["to b"]}]
[{"text":["free 1"]}]
[{"on":"task"},{"text":["to task"]}]
[{"retry":true},{"text":["retry of task"]}]
[{"text":["free 2"]}]`))
	say := func(q *request, ended fixtures.Ended) string {
		x := s.receive(q)
		l, err := s.choose(x)
		if err != nil {
			return err.Error()
		}
		x.line, x.Ended = l, ended
		return l.Parts[0].Text[0]
	}
	g.Expect(say(texts("a"), fixtures.EndedComplete)).To(Equal("free 1"))
	g.Expect(say(texts("a", "b", "c"), fixtures.EndedFailed)).To(Equal("to b"))
	g.Expect(say(texts("a", "b", "c"), fixtures.EndedComplete)).To(Equal("to b"), "no retry line: the same again")
	q := texts("a", "b", "c")
	q.notes = 1
	g.Expect(say(q, fixtures.EndedClosed)).To(Equal("to task"))
	g.Expect(say(q, fixtures.EndedComplete)).To(Equal("retry of task"))
	g.Expect(say(q, fixtures.EndedComplete)).To(Equal("free 2"))
	g.Expect(say(q, fixtures.EndedComplete)).To(Equal("model: request 7 of the main agent brings [again]; no reply left; the scenario has 5"))
}

const twoAgents = `[{"tool":"subagent","id":"t1","input":{"name":"my-alpha","prompt":"Do alpha."}},{"tool":"subagent","id":"t2","input":{"name":"beta","prompt":"Do beta."}}]
[{"text":["main on"]}]`

func TestSubagentsByHeaderInParallel(t *testing.T) {
	g := NewWithT(t)
	m, c := start(t, scenario(t, "send m1: hi", twoAgents,
		"-- model my-alpha --\n"+`[{"text":["alpha"]},{"hold":"h1"}]`+"\n"+`[{"text":["alpha 2"]}]`,
		"-- model beta --\n"+`[{"text":["beta"]}]`))
	url := m.URL() + "/v1/messages"
	_, _, err := post(t, c, url, users("hi"))
	g.Expect(err).NotTo(HaveOccurred())
	var wg sync.WaitGroup
	for _, a := range []struct{ id, text string }{{"A", "<ctx>\nDo alpha."}, {"B", "Do beta."}, {"", "hi"}} {
		wg.Go(func() {
			var h []string
			body := users(a.text)
			if a.id != "" {
				h = []string{"x-claude-code-agent-id", a.id}
			} else { // the main agent goes on
				body = strings.Replace(body, `],"tools"`, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_t1","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}],"tools"`, 1)
			}
			if _, _, err := post(t, c, url, body, h...); err != nil {
				t.Error(err)
			}
		})
	}
	until(t, m, "hold", func() bool { _, _, ok := m.Holding("h1"); return ok })
	text, reasoning, _ := m.Holding("h1")
	g.Expect(text + "|" + reasoning).To(Equal("alpha|"))
	m.Release("h1")
	wg.Wait()
	// Its id is known now: the prompt need not be there.
	_, _, err = post(t, c, url, users("and now?"), "x-claude-code-agent-id", "A")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.Err()).NotTo(HaveOccurred())
	got := map[string]string{}
	for _, r := range m.Witness()[1:4] {
		got[r.Agent] = fmt.Sprint(r.New, r.Output[0].Text, r.Results)
	}
	g.Expect(got).To(Equal(map[string]string{
		"my-alpha": "[prompt]alphamap[]", "beta": "[prompt]betamap[]", "": "[result:t1]main onmap[t1:a\nb]",
	}))
	g.Expect(m.Witness()[4].Output[0].Text).To(Equal("alpha 2"))
}

func TestSubagentsOfCodex(t *testing.T) {
	g := NewWithT(t)
	s := newScript(scenario(t, "send m1: hi", twoAgents, "-- model my-alpha --\n"+`[{"text":["alpha"]}]`, "-- model beta --\n"+`[{"text":["beta"]}]`))
	read := func(meta, text string) string {
		q, err := responsesAPI{}.read(map[string][]string{"X-Codex-Turn-Metadata": {meta}}, []byte(`{"input":[{"role":"user","content":[{"type":"input_text","text":"`+text+`"}]}]}`))
		g.Expect(err).NotTo(HaveOccurred())
		return s.route(q)
	}
	g.Expect(read(`{"thread_id":"1","agent_name":"/root"}`, "hi")).To(BeEmpty())
	g.Expect(read(`{"thread_id":"2","agent_name":"/root/my_alpha"}`, "whatever")).To(Equal("my-alpha"))
	g.Expect(read(`{"thread_id":"3"}`, "Do beta.")).To(Equal("beta"), "by its prompt")
	g.Expect(read(`{"thread_id":"4"}`, "hi")).To(BeEmpty(), "another thread of the client's")
	g.Expect(read(`{"thread_id":"5","agent_name":"/root/stranger"}`, "x")).To(Equal("stranger"))
}

func TestNotesAndOffersOfClaude(t *testing.T) {
	g := NewWithT(t)
	q, err := messagesAPI{}.read(map[string][]string{}, []byte(`{"messages":[
		{"role":"system","content":"# Env\nThe following deferred tools are now available via X. Y:\nWebFetch\nmcp__calc__add\n\nOther\n"},
		{"role":"user","content":[{"type":"text","text":"<task-notification>\n<x/>"}]},
		{"role":"assistant","content":"hi"},
		{"role":"user","content":"Your task is to create a detailed summary of it"}],
		"tools":[{"name":"Bash"}]}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(q.notes).To(Equal(1))
	g.Expect(q.compact).To(BeTrue())
	g.Expect(q.texts).To(HaveLen(3), "what the model said is no message")
	g.Expect(q.offer.String()).To(Equal("Bash, WebFetch (deferred), mcp__calc__add (deferred)"))
	g.Expect(offer{}.String()).To(Equal("nothing"))
}

func TestTranslation(t *testing.T) {
	claude := offer{deferred: []string{"mcp__calc__add", "ExitPlanMode", "WebFetch"}}
	for _, n := range []string{"Bash", "Read", "Edit", "Write", "Grep", "WebSearch", "Agent", "AskUserQuestion", "TodoWrite"} {
		claude.tools = append(claude.tools, offered{name: n})
	}
	codex := offer{
		tools: []offered{{kind: "custom", name: "apply_patch"}, {kind: "web_search"}, {kind: "function", namespace: "collaboration", name: "spawn_agent"}},
		// Those of a namespace that is kept back are called all the same.
		deferred: []string{"mcp__calc"},
	}
	for _, n := range []string{"exec_command", "request_user_input", "update_plan"} {
		codex.tools = append(codex.tools, offered{kind: "function", name: n})
	}
	for _, c := range []struct{ tool, input, claude, codex string }{
		{"shell", `{"command":"a b","timeout_ms":5}`, `Bash {"command":"a b","timeout":5}`, `exec_command {"cmd":"a b","yield_time_ms":30000}`},
		{"shell", `{"command":"a","background":true}`, `Bash {"command":"a","run_in_background":true}`, `exec_command {"cmd":"a","yield_time_ms":250}`},
		{"shell", `{"command":"a","ask":true,"reason":"Why?","yield_ms":9}`, `Bash {"command":"a"}`, `exec_command {"cmd":"a","yield_time_ms":9,"sandbox_permissions":"require_escalated","justification":"Why?"}`},
		{"read", `{"path":"x/a b.txt"}`, `Read {"file_path":"/ws/x/a b.txt"}`, `exec_command {"cmd":"cat 'x/a b.txt'","yield_time_ms":30000}`},
		{"write", `{"path":"/abs","content":""}`, `Write {"file_path":"/abs","content":""}`, "apply_patch *** Begin Patch\n*** Add File: /abs\n*** End Patch"},
		{"edit", `{"path":"a","old":"x\ny","new":""}`, `Edit {"file_path":"/ws/a","old_string":"x\ny","new_string":""}`, "apply_patch *** Begin Patch\n*** Update File: a\n@@\n-x\n-y\n*** End Patch"},
		{"search", `{"pattern":"it's"}`, `Grep {"pattern":"it's","output_mode":"content"}`, `exec_command {"cmd":"grep -rn 'it'\\''s' .","yield_time_ms":30000}`},
		{"web", `{"url":"http://x"}`, `WebFetch {"url":"http://x","prompt":"What does it say?"}`, `web_search {"type":"open_page","url":"http://x"}`},
		{"web", `{"query":"x"}`, `WebSearch {"query":"x"}`, `web_search {"type":"search","query":"x"}`},
		{"mcp", `{"server":"calc","tool":"add","arguments":{"a":1}}`, `mcp__calc__add {"a":1}`, `mcp__calc.add {"a":1}`},
		{"subagent", `{"name":"My-a","prompt":"p","background":false}`, `Agent {"description":"My-a","prompt":"p","subagent_type":"general-purpose","run_in_background":false}`, `collaboration.spawn_agent {"task_name":"my_a","message":"p","fork_turns":"none"}`},
		{"subagent", `{"name":"a","prompt":"p","type":"clerk"}`, `Agent {"description":"a","prompt":"p","subagent_type":"clerk"}`, `collaboration.spawn_agent {"task_name":"a","message":"p","fork_turns":"none","agent_type":"clerk"}`},
		{"ask", `{"questions":[{"header":"h","question":"q","options":[{"label":"l"}],"multi":true}]}`, `AskUserQuestion {"questions":[{"question":"q","header":"h","options":[{"label":"l","description":"l"}],"multiSelect":true}]}`, `request_user_input {"questions":[{"id":"q1","header":"h","question":"q","options":[{"label":"l","description":"l"}]}]}`},
		{"plan", `{"plan":"p","steps":[{"step":"s"}]}`, `ExitPlanMode {"plan":"p"}`, `update_plan {"explanation":"p","plan":[{"step":"s","status":"pending"}]}`},
		{"todo", `{"steps":[{"step":"s","status":"completed"}]}`, `TodoWrite {"todos":[{"content":"s","status":"completed","activeForm":"s"}]}`, `update_plan {"plan":[{"step":"s","status":"completed"}]}`},
	} {
		g := NewWithT(t)
		call := &fixtures.ToolCall{Tool: c.tool, ID: "t1", Input: jsontext.Value(c.input)}
		a, err := claudeCall(call, claude, "/ws")
		g.Expect(err).NotTo(HaveOccurred(), c.tool)
		g.Expect(a.full() + " " + string(a.input)).To(Equal(c.claude))
		o, err := codexCall(call, codex)
		g.Expect(err).NotTo(HaveOccurred(), c.tool)
		g.Expect(o.full() + " " + string(o.input)).To(Equal(c.codex))

		// Nothing is offered, or the input is wrong: refused, by name.
		_, err = claudeCall(call, offer{}, "/ws")
		g.Expect(err).To(MatchError(ContainSubstring("offered are: nothing")), c.tool)
		_, err = codexCall(call, offer{})
		g.Expect(err).To(MatchError(ContainSubstring("offered are: nothing")), c.tool)
		bad := &fixtures.ToolCall{Tool: c.tool, ID: "t1", Input: jsontext.Value(`{"nonsense":1}`)}
		_, err = claudeCall(bad, claude, "/ws")
		g.Expect(err).To(MatchError(ContainSubstring(`tool `+c.tool+` "t1": input: `)), c.tool)
		_, err = codexCall(bad, codex)
		g.Expect(err).To(HaveOccurred(), c.tool)
	}
	g := NewWithT(t)
	_, err := claudeCall(&fixtures.ToolCall{Tool: "read", ID: "t1", Input: jsontext.Value(`{"path":"a"}`)}, claude, "")
	g.Expect(err).To(MatchError(ContainSubstring("without a workspace")))
}

// TestDroppedReplyIsClosed checks that a complete reply is recorded as closed if the
// runtime asks again in the same turn without its text: a message came into the turn
// before the runtime had read the reply.
func TestDroppedReplyIsClosed(t *testing.T) {
	for _, c := range []struct {
		name, turn string
		replies    []string
		want       fixtures.Ended
	}{
		{"dropped", "t1", nil, fixtures.EndedClosed},
		{"kept", "t1", []string{"one"}, fixtures.EndedComplete},
		{"of another turn", "t2", nil, fixtures.EndedComplete},
		{"of a runtime that names no turn", "", nil, fixtures.EndedComplete},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s := newScript(scenario(t, "send m1: Say one.\nsend m2: Say two.", `[{"text":["one"]}]`))
			q := texts("Say one.")
			q.turn = "t1"
			if c.turn == "" {
				q.turn = ""
			}
			x := s.receive(q)
			p := &part{}
			p.text.WriteString("one")
			x.said, x.Ended = []*part{p}, fixtures.EndedComplete
			q = texts("Say one.", "Say two.")
			q.turn, q.replies = c.turn, c.replies
			s.receive(q)
			g.Expect(x.Ended).To(Equal(c.want))
		})
	}
}

// TestTextThatIsGivenBackIsKept checks that a request that gives the model the text of a reply
// without an end back is no repetition of the one before: the runtime keeps the text.
func TestTextThatIsGivenBackIsKept(t *testing.T) {
	for _, c := range []struct {
		name    string
		replies []string
		brings  string
	}{
		{"given back", []string{"Still waters run"}, "again"},
		{"abandoned", nil, "retry"},
		{"of an earlier reply", []string{"Still"}, "retry"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s := newScript(scenario(t, "send m1: Say a proverb.", `[{"text":["Still waters run"]},{"close":true}]`))
			x := s.receive(texts("Say a proverb."))
			p := &part{open: true}
			p.text.WriteString("Still waters run")
			x.said, x.Ended = []*part{p}, fixtures.EndedCut
			q := texts("Say a proverb.")
			q.replies = c.replies
			g.Expect(s.receive(q).New).To(Equal([]string{c.brings}))
		})
	}
}
