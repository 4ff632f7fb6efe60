package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// codexLines is a turn with two commands at the same time and a sub-agent. The
// values of the $ variables depend on the run.
const codexLines = `
< {"id":1,"method":"initialize","params":{"clientInfo":{"name":"turnspec"}}}
> {"id":1,"result":{"userAgent":"x/1"}}
< {"id":2,"method":"thread/start","params":{"cwd":"<work>"}}
> {"id":2,"result":{"thread":{"id":"$A","createdAt":$T,"path":"<home>/sessions/2026/11/2$R/rollout-2026-11-2$RT04-34-0$R-$A.jsonl"}}}
> {"method":"thread/started","params":{"thread":{"id":"$A"}},"emittedAtMs":$T}
< {"id":3,"method":"turn/start","params":{"threadId":"$A","input":[{"type":"text","text":"Go."}],"clientUserMessageId":"$U"}}
> {"id":3,"result":{"turn":{"id":"$B"}}}
> {"method":"turn/started","params":{"threadId":"$A","turn":{"id":"$B","startedAt":$T}},"emittedAtMs":$T}
> {"method":"item/started","params":{"item":{"type":"userMessage","id":"$C","clientId":"$U"},"threadId":"$A","turnId":"$B"},"emittedAtMs":$T}
> {"method":"item/started","params":{"item":{"type":"commandExecution","id":"call_t1","processId":"$P","status":"inProgress"},"threadId":"$A","turnId":"$B"},"emittedAtMs":$T}
> {"method":"item/commandExecution/requestApproval","id":$R,"params":{"threadId":"$A","turnId":"$B","itemId":"call_t1","startedAtMs":$T}}
< {"id":$R,"result":{"decision":"accept"}}
> {"method":"serverRequest/resolved","params":{"threadId":"$A","requestId":$R},"emittedAtMs":$T}
$D
> {"method":"item/completed","params":{"item":{"type":"commandExecution","id":"call_t1","processId":"$P","status":"completed","aggregatedOutput":"one\ntwo\n","exitCode":0,"durationMs":$T},"threadId":"$A","turnId":"$B"},"emittedAtMs":$T}
$I
> {"method":"item/completed","params":{"item":{"type":"subAgentActivity","id":"call_t3","kind":"started","agentThreadId":"$S","agentPath":"/root/alpha"},"threadId":"$A","turnId":"$B"}}
> {"method":"turn/started","params":{"threadId":"$S","turn":{"id":"$V"}},"emittedAtMs":$T}
> {"method":"item/started","params":{"item":{"type":"agentMessage","id":"msg_$R","text":""},"threadId":"$A","turnId":"$B"}}
> {"method":"item/agentMessage/delta","params":{"threadId":"$A","turnId":"$B","itemId":"msg_$R","delta":"All is "}}
> {"method":"item/agentMessage/delta","params":{"threadId":"$A","turnId":"$B","itemId":"msg_$R","delta":"well."}}
> {"method":"turn/completed","params":{"threadId":"$A","turn":{"id":"$B","status":"completed","durationMs":$T}},"emittedAtMs":$T}
! log line $T
> odd line of 1$Rms`

const claudeLines = `
< {"type":"control_request","request_id":"q$R","request":{"subtype":"initialize"}}
> {"type":"control_response","response":{"subtype":"success","request_id":"q$R","response":{"pid":$T,"commands":[{"name":"x","description":"<elided:1$R>"}]}}}
< {"type":"user","uuid":"$U","message":{"role":"user","content":"Go."}}
> {"type":"command_lifecycle","command_uuid":"$U","state":"started","uuid":"$C","session_id":"$A"}
> {"type":"system","subtype":"init","session_id":"$A","uuid":"$B","messaging_socket_path":"/x/$T"}
> {"session_id":"$A","type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"All is well."}},"uuid":"$S","ttft_ms":$T}
> {"type":"assistant","message":{"id":"msg_$R","content":[{"type":"text","text":"All is well."}]},"parent_tool_use_id":null,"uuid":"$V"}
> {"type":"assistant","message":{"id":"msg_$R","content":[{"type":"tool_use","id":"toolu_t1","name":"Bash","input":{"command":"ls"}}]},"parent_tool_use_id":null}
> {"type":"control_request","request_id":"$W","request":{"subtype":"can_use_tool","tool_use_id":"toolu_t1"}}
< {"type":"control_response","response":{"subtype":"success","request_id":"$W","response":{"behavior":"allow"}}}
> {"type":"system","subtype":"task_started","task_id":"b$P","tool_use_id":"toolu_t2"}
> {"type":"system","subtype":"task_progress","task_id":"b$P","usage":{"total_tokens":$T}}
$I
> {"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_t1","content":"in background with ID: b$P"}]},"tool_use_result":{"durationSeconds":0.$T},"timestamp":"2026-11-21T04:0$R:00Z"}
> {"type":"system","subtype":"task_notification","task_id":"b$P","status":"completed"}
> {"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":$T}
> {"type":"result","duration_ms":$T,"total_cost_usd":0.$R,"result":"All is well."}
> {"type":"result","duration_ms":$T,"total_cost_usd":0.5,"result":"All is well."}`

const piLines = `
< {"id":"c1","type":"get_state"}
> {"id":"c1","type":"response","command":"get_state","success":true,"data":{"sessionFile":"<home>/.pi/agent/sessions/-x--/2026-11-23T08-35-15-16$RZ_$A.jsonl","sessionId":"$A"}}
< {"id":"c2","type":"prompt","message":"Go."}
> {"type":"agent_start"}
> {"type":"message_update","usage":{"input":$R},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"All is well."}}
> {"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"All is well."}],"usage":{"input":7},"timestamp":$T}}
> {"type":"entry_appended","entry":{"type":"message","id":"0badca0$R","parentId":"0badcb0$R","text":"<tmp>/pi-bash-20342c53b39b60b$R.log"}}
> {"type":"tool_execution_update","toolCallId":"call_t1","toolName":"bash","partialResult":{"content":[{"type":"text","text":"$R"}]}}
> {"type":"compaction_end","reason":"manual","result":{"summary":"All is well.","firstKeptEntryId":"0badca0$R","estimatedTokensAfter":$T}}
> {"type":"agent_settled"}`

const opencodeLines = `
< {"id":1,"method":"GET","path":"/event"}
> {"id":1,"status":200,"stream":true}
< {"id":2,"method":"POST","path":"/session","body":{"title":"Three rivers"}}
> {"id":2,"status":200,"body":{"id":"ses_0badcafe000$RAAAAAAAAAAAAA$R","slug":"two-words$R","directory":"<work>","time":{"created":$T}}}
< {"id":3,"method":"POST","path":"/session/ses_0badcafe000$RAAAAAAAAAAAAA$R/prompt_async","body":{"parts":[{"type":"text","text":"Go."}]}}
> {"id":3,"status":204}
> {"id":1,"data":{"id":"evt_0badcafe040$RAAAAAAAAAAAAA$R","type":"session.status","properties":{"sessionID":"ses_0badcafe000$RAAAAAAAAAAAAA$R","status":{"type":"busy"}}}}
> {"id":1,"data":{"id":"evt_0badcafe050$RAAAAAAAAAAAAA$R","type":"message.updated","properties":{"sessionID":"ses_0badcafe000$RAAAAAAAAAAAAA$R","info":{"id":"msg_0badcafe010$RAAAAAAAAAAAAA$R","role":"assistant","cost":0.$R,"time":{"created":$T}}}}}
> {"id":1,"data":{"id":"evt_0badcafe060$RAAAAAAAAAAAAA$R","type":"message.part.updated","properties":{"sessionID":"ses_0badcafe000$RAAAAAAAAAAAAA$R","part":{"id":"prt_0badcafe020$RAAAAAAAAAAAAA$R","messageID":"msg_0badcafe010$RAAAAAAAAAAAAA$R","type":"text","text":"All is well.","time":{"start":$T,"end":$T}},"time":$T}}}
> {"id":1,"data":{"id":"evt_0badcafe070$RAAAAAAAAAAAAA$R","type":"message.part.updated","properties":{"sessionID":"ses_0badcafe000$RAAAAAAAAAAAAA$R","part":{"id":"prt_0badcafe030$RAAAAAAAAAAAAA$R","messageID":"msg_0badcafe010$RAAAAAAAAAAAAA$R","type":"tool","tool":"bash","callID":"call_t1","state":{"status":"running","metadata":{"output":"$R"}}}}}}
> {"id":1,"data":{"id":"evt_0badcafe090$RAAAAAAAAAAAAA$R","type":"session.updated","properties":{"sessionID":"ses_0badcafe000$RAAAAAAAAAAAAA$R","info":{"summary":{"files":$R}}}}}
> {"id":1,"data":{"id":"evt_0badcafe080$RAAAAAAAAAAAAA$R","type":"session.idle","properties":{"sessionID":"ses_0badcafe000$RAAAAAAAAAAAAA$R"}}}`

// caseOf returns a recording of the lines with the ids, times and order of run r.
func caseOf(lines string, r int) *fixtures.Case {
	id := func(n int) string { return fmt.Sprintf("%d%07d-aaaa-4000-8000-%012d", r, n, n*r) }
	deltas, inter := []string{"two\n"}, []string{
		`> {"method":"item/started","params":{"item":{"type":"commandExecution","id":"call_t2"},"threadId":"$A","turnId":"$B"}}`,
		`> {"method":"thread/status/changed","params":{"threadId":"$A","status":{"type":"idle"}}}`,
	}
	if strings.Contains(lines, "control_request") {
		inter = []string{
			`> {"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_t2","content":"x"}]},"uuid":"$X"}`,
			`> {"type":"system","subtype":"status","status":null}`,
		}
	}
	if r%2 == 0 {
		deltas = []string{"ne\n", "tw", "o\n"}
		slices.Reverse(inter)
	}
	for i, d := range deltas {
		deltas[i] = fmt.Sprintf(`> {"method":"item/commandExecution/outputDelta","params":{"threadId":"$A","turnId":"$B","itemId":"call_t1","delta":%q}}`, d)
	}
	rep := []string{"$D", strings.Join(deltas, "\n"), "$I", strings.Join(inter, "\n")}
	lines = strings.NewReplacer(rep...).Replace(lines)
	rep = []string{"$T", strconv.Itoa(1000 + r), "$R", strconv.Itoa(r), "$P", fmt.Sprintf("x%05dz", r*7)}
	for i, v := range "ABCSUVWX" {
		rep = append(rep, "$"+string(v), id(i+1))
	}
	lines = strings.NewReplacer(rep...).Replace(lines)

	c := &fixtures.Case{ID: fmt.Sprint("run", r), Runtime: "codex", Version: "1"}
	switch {
	case strings.Contains(lines, "control_request"):
		c.Runtime = "claude"
	case strings.Contains(lines, "agent_settled"):
		c.Runtime = "pi"
	case strings.Contains(lines, "session.idle"):
		c.Runtime = "opencode"
	}
	c.Wire = []fixtures.WireLine{{Process: 1, Dir: fixtures.Spawn, Argv: []string{"x", fmt.Sprintf("http://127.0.0.1:%d/", 4000+r)}}}
	for l := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		dir := map[byte]fixtures.Dir{'<': fixtures.In, '>': fixtures.Out, '!': fixtures.Err}[l[0]]
		c.Wire = append(c.Wire, fixtures.WireLine{Process: 1, Dir: dir, Bytes: []byte(l[2:])})
	}
	c.Wire = append(c.Wire, fixtures.WireLine{Process: 1, Dir: fixtures.EOF}, fixtures.WireLine{Process: 1, Dir: fixtures.Exit, Code: 0})
	main := []fixtures.Request{
		{New: []string{"m1"}, Output: []fixtures.OutputPart{{Tool: "shell", ID: "t1", Input: jsontext.Value(`{"command":"ls"}`)}, {Tool: "shell", ID: "t2"}, {Tool: "subagent", ID: "t3"}}, Ended: fixtures.EndedComplete},
		{New: []string{"result:t1"}, Results: map[string]string{"t1": fmt.Sprintf("Chunk ID: %06x\nWall time: 0.0%d seconds\nOutput:\none", r, r)}, Output: []fixtures.OutputPart{{Text: "All is well."}}, Ended: fixtures.EndedComplete},
	}
	child := fixtures.Request{Agent: "alpha", New: []string{"task"}, Output: []fixtures.OutputPart{{Text: "Done."}}, Ended: fixtures.EndedComplete}
	c.Witness = []fixtures.Request{main[0], main[1], child}
	if r%2 == 0 { // which agent is first is chance
		c.Witness = []fixtures.Request{main[0], child, main[1]}
	}
	for i := range c.Witness {
		c.Witness[i].Req = i + 1
	}
	return c
}

func TestChanceIsNotADifference(t *testing.T) {
	for name, lines := range map[string]string{"codex": codexLines, "claude": claudeLines, "pi": piLines, "opencode": opencodeLines} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for r := 2; r < 6; r++ {
				g.Expect(Diff(caseOf(lines, 1), caseOf(lines, r))).To(BeEmpty())
			}
		})
	}
}

func TestStreams(t *testing.T) {
	for name, x := range map[string]struct {
		lines string
		want  []string
	}{
		"codex": {codexLines, []string{
			"process 1 answer to 1", "process 1 answer to 2", "process 1 answer to 3", "process 1 client", "process 1 life", "process 1 text",
			"process 1 thread /root/alpha turns", "process 1 thread 1 item agentMessage 1", "process 1 thread 1 item t1", "process 1 thread 1 item t2",
			"process 1 thread 1 item t3", "process 1 thread 1 item userMessage 1", "process 1 thread 1 thread/started", "process 1 thread 1 thread/status/changed",
			"process 1 thread 1 turns", "witness of alpha", "witness of main"}},
		"claude": {claudeLines, []string{
			"process 1 agent main item t1", "process 1 agent main item t2", "process 1 agent main message <client:2>", "process 1 agent main messages", "process 1 agent main system/api_retry",
			"process 1 agent main system/status", "process 1 agent main task of t2", "process 1 agent main turns", "process 1 answer to <client:1>", "process 1 client", "process 1 life",
			"witness of alpha", "witness of main"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range Normalize(caseOf(x.lines, 1)) {
				got = append(got, s.Key)
			}
			NewWithT(t).Expect(got).To(Equal(x.want))
		})
	}
}

// Each change of behaviour is reported, in the stream that it belongs to.
func TestDiffReportsEachChange(t *testing.T) {
	swap := func(from, to string) func(*fixtures.Case) {
		return func(c *fixtures.Case) {
			for i, w := range c.Wire {
				if strings.Contains(string(w.Bytes), from) {
					c.Wire[i].Bytes = []byte(strings.Replace(string(w.Bytes), from, to, 1))
					return
				}
			}
			panic("no line has " + from)
		}
	}
	remove := func(what string) func(*fixtures.Case) {
		return func(c *fixtures.Case) {
			n := len(c.Wire)
			c.Wire = slices.DeleteFunc(c.Wire, func(w fixtures.WireLine) bool { return strings.Contains(string(w.Bytes), what) })
			if len(c.Wire) == n {
				panic("no line has " + what)
			}
		}
	}
	for name, x := range map[string]struct {
		lines  string
		change func(*fixtures.Case)
		want   []string // the streams that differ
	}{
		"an item's status":             {codexLines, swap(`"status":"completed","agg`, `"status":"failed","agg`), []string{"process 1 thread 1 item t1: "}},
		"exit code of an item":         {codexLines, swap(`"exitCode":0`, `"exitCode":1`), []string{"process 1 thread 1 item t1: "}},
		"a delta's text":               {codexLines, swap(`"All is "`, `"All was "`), []string{"process 1 thread 1 item agentMessage 1: "}},
		"a delta is missing":           {codexLines, remove(`"delta":"well."`), []string{"process 1 thread 1 item agentMessage 1: "}},
		"a stream is missing":          {codexLines, remove(`"call_t2"`), []string{"process 1 thread 1 item t2: got nothing, want line "}},
		"output that the item lacks":   {codexLines, swap(`"delta":"two\n"`, `"delta":"three\n"`), []string{"process 1 thread 1 item t1: "}},
		"another turn ends":            {codexLines, swap(`"turn":{"id":"10000002-aaaa-4000-8000-000000000002","status"`, `"turn":{"id":"10000003-aaaa-4000-8000-000000000003","status"`), []string{"process 1 thread 1 turns: "}},
		"another answer":               {codexLines, swap(`"decision":"accept"`, `"decision":"decline"`), []string{"process 1 thread 1 item t1: "}},
		"another message":              {codexLines, swap(`"text":"Go."`, `"text":"Stop."`), []string{"process 1 client: "}},
		"a new member":                 {codexLines, swap(`"userAgent"`, `"new":null,"userAgent"`), []string{"process 1 answer to 1: "}},
		"a line that is not JSON":      {codexLines, swap("odd line", "odder line"), []string{"process 1 text: "}},
		"the exit":                     {codexLines, func(c *fixtures.Case) { c.Wire[len(c.Wire)-1].Code = 1 }, []string{"process 1 life: "}},
		"an argument":                  {codexLines, func(c *fixtures.Case) { c.Wire[0].Argv[0] = "y" }, []string{"process 1 life: "}},
		"the text of the model":        {codexLines, func(c *fixtures.Case) { c.Witness[2].Output[0].Text = "Not done." }, []string{"witness of alpha: "}},
		"the end of a reply":           {codexLines, func(c *fixtures.Case) { c.Witness[2].Ended = fixtures.EndedCut }, []string{"witness of alpha: "}},
		"the news of a request":        {codexLines, func(c *fixtures.Case) { c.Witness[1].New = []string{"m2"} }, []string{"witness of main: "}},
		"a result":                     {codexLines, func(c *fixtures.Case) { c.Witness[1].Results["t1"] += "!" }, []string{"witness of main: "}},
		"a tool's input":               {claudeLines, func(c *fixtures.Case) { c.Witness[0].Output[0].Input = jsontext.Value(`{}`) }, []string{"witness of main: "}},
		"order within a stream":        {claudeLines, func(c *fixtures.Case) { c.Wire[6], c.Wire[7] = c.Wire[7], c.Wire[6] }, []string{"process 1 agent main messages: "}},
		"the last sum":                 {claudeLines, swap(`"total_cost_usd":0.5`, `"total_cost_usd":0.6`), []string{"process 1 agent main turns: "}},
		"a task's end":                 {claudeLines, swap(`"status":"completed"`, `"status":"failed"`), []string{"process 1 agent main task of t2: "}},
		"a permission":                 {claudeLines, swap(`"behavior":"allow"`, `"behavior":"deny"`), []string{"process 1 agent main item t1: "}},
		"a name":                       {claudeLines, swap(`"name":"x"`, `"name":"y"`), []string{"process 1 answer to <client:1>: "}},
		"usage of a whole message":     {piLines, swap(`"usage":{"input":7}`, `"usage":{"input":8}`), []string{"process 1 agent main messages: "}},
		"the delta by a snapshot":      {piLines, swap(`"delta":"All is well."`, `"delta":"All was well."`), []string{"process 1 agent main messages: "}},
		"a message of another session": {opencodeLines, swap(`/session/ses_0`, `/session/ses_1`), []string{"process 1 answer to 2: ", "process 1 thread 1 turns: ", "process 1 thread 1 messages: ", "process 1 thread 1 item text 1: ", "process 1 thread 1 session.idle: "}},
		"a time is missing":            {opencodeLines, swap(`,"end":1001`, ``), []string{"process 1 thread 1 item text 1: "}},
		"another retry":                {claudeLines, remove("api_retry"), []string{"process 1 agent main system/api_retry: got nothing, want line "}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			b := caseOf(x.lines, 1)
			x.change(b)
			diff := Diff(caseOf(x.lines, 1), b)
			var heads []string
			for l := range strings.SplitSeq(diff, "\n") {
				if strings.HasPrefix(l, "process ") || strings.HasPrefix(l, "witness ") {
					heads = append(heads, l)
				}
			}
			g.Expect(heads).To(HaveLen(len(x.want)), diff)
			for i, w := range x.want {
				g.Expect(heads[i]).To(HavePrefix(w))
				g.Expect(heads[i]).To(ContainSubstring("line "))
			}
			g.Expect(diff).To(MatchRegexp(`(?m)^[-+][^-+]`), diff)
		})
	}
}

func TestDiffIsSmall(t *testing.T) {
	g := NewWithT(t)
	b := caseOf(codexLines, 1)
	b.Witness[1].Output[0].Text = "All is lost."
	g.Expect(Diff(caseOf(codexLines, 1), b)).To(Equal(`witness of main: got line 2, want line 2
--- run1
+++ run1
@@ -15,5 +15,5 @@
   .ended: "complete"
   .new[0]: "result:t1"
   .results.t1: "Chunk ID: <id>\nWall time: <t> seconds\nOutput:\none"
-  .said[0].text: "All is well."
+  .said[0].text: "All is lost."
   .stream: false
`))
}

// A tool's result that is not UTF-8 is compared too.
func TestWitnessWithInvalidText(t *testing.T) {
	g := NewWithT(t)
	withInput := func(input string) *fixtures.Case {
		c := caseOf(claudeLines, 1)
		c.Witness[1].Results["t1"] = "\xff\xfe"
		c.Witness[0].Output[0].Input = jsontext.Value(input)
		return c
	}
	g.Expect(Diff(withInput(`{`), withInput(`{`))).To(BeEmpty())
	g.Expect(Diff(withInput(`{`), withInput(`[`))).To(HavePrefix("witness of main: "))
	a, b := withInput(`{}`), withInput(`{}`)
	b.Witness[1].Results["t1"] += "!"
	g.Expect(Diff(a, b)).To(HavePrefix("witness of main: "))
}

// Whether Claude had stored a message when it was killed is chance. Without a kill
// it is not.
func TestKilledProcessMayHaveStoredAMessage(t *testing.T) {
	g := NewWithT(t)
	killed := func(signal string, history ...string) *fixtures.Case {
		return &fixtures.Case{
			Runtime: "claude", Wire: []fixtures.WireLine{{Process: 1, Dir: fixtures.Signal, Signal: signal}},
			Witness: []fixtures.Request{
				{Req: 1, New: []string{"m1"}, Ended: fixtures.EndedComplete},
				{Req: 2, New: []string{"m2"}, Ended: fixtures.EndedClosed},
				{Req: 3, New: []string{"m3"}, History: history, Ended: fixtures.EndedComplete},
			},
		}
	}
	g.Expect(Diff(killed("SIGKILL", "m1", "m2", "m3"), killed("SIGKILL", "m1", "m3"))).To(BeEmpty())
	g.Expect(Diff(killed("SIGKILL", "m1", "m2", "m3"), killed("SIGKILL", "m2", "m3"))).NotTo(BeEmpty())
	g.Expect(Diff(killed("SIGTERM", "m1", "m2", "m3"), killed("SIGTERM", "m1", "m3"))).NotTo(BeEmpty())
}

// The costs of a reply that was cut off are chance; other sums are not.
func TestCostsOfStoppedReplyAreNotCompared(t *testing.T) {
	g := NewWithT(t)
	spent := func(ended fixtures.Ended, tokens int) *fixtures.Case {
		return &fixtures.Case{
			Runtime: "claude", Wire: []fixtures.WireLine{{Process: 1, Dir: fixtures.Out, Bytes: fmt.Appendf(nil,
				`{"type":"result","modelUsage":{"m":{"inputTokens":%d}},"result":"Hi."}`, tokens)}},
			Witness: []fixtures.Request{{Req: 1, New: []string{"m1"}, Ended: ended}},
		}
	}
	g.Expect(Diff(spent(fixtures.EndedClosed, 100), spent(fixtures.EndedClosed, 200))).To(BeEmpty())
	g.Expect(Diff(spent(fixtures.EndedComplete, 100), spent(fixtures.EndedComplete, 200))).NotTo(BeEmpty())
}

// A turn that is stopped at its start may or may not have sent a request. A request
// whose reply has begun was sent.
func TestRequestStoppedBeforeItsReplyIsOptional(t *testing.T) {
	g := NewWithT(t)
	second := fixtures.Request{Req: 1, New: []string{"m1", "m2"}, History: []string{"m1", "m2"}, Output: []fixtures.OutputPart{{Text: "The end."}}, Ended: fixtures.EndedComplete}
	never := &fixtures.Case{Runtime: "claude", Version: "1", Witness: []fixtures.Request{second}}
	second.Req, second.New = 2, []string{"m2"}
	first := fixtures.Request{Req: 1, New: []string{"m1"}, History: []string{"m1"}, Ended: fixtures.EndedClosed}
	asked := &fixtures.Case{Runtime: "claude", Version: "1", Witness: []fixtures.Request{first, second}}
	g.Expect(Diff(never, asked)).To(BeEmpty())
	g.Expect(Diff(asked, never)).To(BeEmpty())

	first.Output = []fixtures.OutputPart{{Text: "Once"}}
	answered := &fixtures.Case{Runtime: "claude", Version: "1", Witness: []fixtures.Request{first, second}}
	g.Expect(Diff(never, answered)).To(ContainSubstring("Once"))
}

// The order of the members of a result is chance, their values are not.
func TestOrderOfMembersIsNotCompared(t *testing.T) {
	g := NewWithT(t)
	with := func(result string) *fixtures.Case {
		return &fixtures.Case{Runtime: "codex", Witness: []fixtures.Request{{Req: 1, New: []string{"result:t1"}, Results: map[string]string{"t1": result}}}}
	}
	g.Expect(Diff(with(`{"answers":{"db":1,"lang":2}}`), with(`{"answers":{"lang":2,"db":1}}`))).To(BeEmpty())
	g.Expect(Diff(with(`{"answers":{"db":1,"lang":2}}`), with(`{"answers":{"db":2,"lang":1}}`))).NotTo(BeEmpty())
	g.Expect(Diff(with(`{"a":1`), with(`{"a":2`))).NotTo(BeEmpty())
}

func TestEveryNoiseHasAReason(t *testing.T) {
	g := NewWithT(t)
	reasons := []map[string]string{noiseMembers}
	for _, rt := range runtimes.All() {
		reasons = append(reasons, rt.Compare.Ignored, rt.Compare.Repeats)
	}
	for _, m := range reasons {
		for name, why := range m {
			g.Expect(why).NotTo(BeEmpty(), name)
		}
	}
}

// A usage that is repeated equals one that is not. Another usage differs.
func TestRepeatedUsageIsNotCompared(t *testing.T) {
	g := NewWithT(t)
	usage := func(tokens ...int) *fixtures.Case {
		c := &fixtures.Case{Runtime: "codex"}
		for i, n := range tokens {
			c.Wire = append(c.Wire, fixtures.WireLine{Process: 1, Dir: fixtures.Out, Bytes: fmt.Appendf(nil,
				`{"method":"thread/tokenUsage/updated","params":{"threadId":"T","tokenUsage":{"total":%d}},"emittedAtMs":%d}`, n, 1000+i)})
		}
		return c
	}
	g.Expect(Diff(usage(1), usage(1, 1))).To(BeEmpty())
	g.Expect(Diff(usage(1, 2), usage(1, 1, 2, 2))).To(BeEmpty())
	g.Expect(Diff(usage(1, 2), usage(1))).NotTo(BeEmpty())
	g.Expect(Diff(usage(1, 2, 1), usage(1, 2))).NotTo(BeEmpty())
}
