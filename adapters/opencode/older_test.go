package opencode_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/opencode"
)

// outcome is what a user sees of a transcript.
type outcome struct {
	user, text, thinking string
	tools                []string // NAME INPUT OUTPUT
	end                  string   // of the last turn
	notices              int
}

func outcomeOf(lines []string) (o outcome) {
	starts := map[string]event.ToolStart{}
	n := opencode.New().Transcribe("s1", func(e event.Event) {
		switch d := e.Data.(type) {
		case event.UserMessage:
			o.user += d.Text
		case event.Delta:
			o.text += d.Text
		case event.Thinking:
			o.thinking += d.Text
		case event.BlockEnd:
			if d.Status == event.BlockReplaced {
				o.text = d.Text
			}
		case event.ToolStart:
			starts[d.ToolUseID] = d
		case event.ToolResult:
			o.tools = append(o.tools, fmt.Sprintf("%s %s %s", starts[d.ToolUseID].Tool, starts[d.ToolUseID].Input, d.Output))
		case event.Notice:
			o.notices++
		case event.Done:
			o.end = "done"
			if d.Stopped {
				o.end = "stopped"
			}
		case event.Error:
			o.end = string(d.Code)
		}
	})
	for _, l := range lines {
		n.Line(time.Unix(0, 0), []byte(l))
	}
	n.End()
	return o
}

// The events of a turn as versions before 1.2 send them.
var olderTurn = []string{
	`{"type":"server.connected","properties":{}}`,
	`{"type":"session.status","properties":{"sessionID":"ses_7","status":{"type":"busy"}}}`,
	`{"type":"message.updated","properties":{"info":{"id":"msg_1","sessionID":"ses_7","role":"user","time":{"created":2}}}}`,
	`{"type":"message.part.updated","properties":{"part":{"id":"prt_1","sessionID":"ses_7","messageID":"msg_1","type":"text","text":"Greet the sea."}}}`,
	`{"type":"message.updated","properties":{"info":{"id":"msg_2","sessionID":"ses_7","role":"assistant","time":{"created":3}}}}`,
	`{"type":"message.part.updated","properties":{"part":{"id":"prt_2","sessionID":"ses_7","messageID":"msg_2","type":"step-start"}}}`,
	`{"type":"message.part.updated","properties":{"part":{"id":"prt_3","sessionID":"ses_7","messageID":"msg_2","type":"reasoning","text":"A wave","time":{"start":4}},"delta":"A wave"}}`,
	`{"type":"message.part.updated","properties":{"part":{"id":"prt_3","sessionID":"ses_7","messageID":"msg_2","type":"reasoning","text":"A wave.","time":{"start":4,"end":5}}}}`,
	`{"type":"message.part.updated","properties":{"part":{"id":"prt_4","sessionID":"ses_7","messageID":"msg_2","type":"tool","callID":"c1","tool":"bash","state":{"status":"running","input":{"command":"ls"},"time":{"start":5}}}}}`,
	`{"type":"message.part.updated","properties":{"part":{"id":"prt_4","sessionID":"ses_7","messageID":"msg_2","type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"shells","title":"ls","metadata":{},"time":{"start":5,"end":6}}}}}`,
	`{"type":"message.part.updated","properties":{"part":{"id":"prt_5","sessionID":"ses_7","messageID":"msg_2","type":"text","text":"Good","time":{"start":6}},"delta":"Good"}}`,
	`{"type":"message.part.updated","properties":{"part":{"id":"prt_5","sessionID":"ses_7","messageID":"msg_2","type":"text","text":"Good morning","time":{"start":6}},"delta":" morning"}}`,
	`{"type":"message.part.updated","properties":{"part":{"id":"prt_5","sessionID":"ses_7","messageID":"msg_2","type":"text","text":"Good morning, sea.","time":{"start":6,"end":7}}}}`,
	`{"type":"message.updated","properties":{"info":{"id":"msg_2","sessionID":"ses_7","role":"assistant","time":{"created":3,"completed":8}}}}`,
	`{"type":"session.status","properties":{"sessionID":"ses_7","status":{"type":"idle"}}}`,
	`{"type":"session.idle","properties":{"sessionID":"ses_7"}}`,
}

var olderOutcome = outcome{user: "Greet the sea.", thinking: "A wave.", text: "Good morning, sea.", tools: []string{`Bash {"command":"ls"} shells`}, end: "done"}

// each returns the turn with each event changed.
func each(events []string, change func(string) string) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = change(e)
	}
	return out
}

func without(events []string, words ...string) (out []string) {
	for _, e := range events {
		keep := true
		for _, w := range words {
			keep = keep && !strings.Contains(e, w)
		}
		if keep {
			out = append(out, e)
		}
	}
	return out
}

func inLine(e string) string { return `{"id":1,"data":` + e + `}` }

func replaced(old, replacement string) func(string) string {
	return func(e string) string { return strings.ReplaceAll(e, old, replacement) }
}

const openedReply = `{"id":2,"status":200,"body":{"id":"ses_7","directory":"/w","version":"1.1.49","time":{"created":1}}}`

func TestTranscriptsOfOlderVersions(t *testing.T) {
	silent := olderOutcome
	silent.user = ""
	cut := olderOutcome
	cut.user, cut.thinking = "", ""
	for name, c := range map[string]struct {
		lines []string
		want  outcome
	}{
		"after the reply that opens the session": {append([]string{`{"ready":true}`, `{"id":1,"status":200,"stream":true}`, openedReply}, each(olderTurn, inLine)...), olderOutcome},
		"without the reply":                      {each(olderTurn, inLine), olderOutcome},
		"events alone":                           {olderTurn, olderOutcome},
		"with empty lines":                       {each(olderTurn, func(e string) string { return e + "\n\r\n" }), olderOutcome},
		"of all directories":                     {each(olderTurn, func(e string) string { return `{"directory":"/w","payload":` + e + `}` }), olderOutcome},
		"of all directories, in lines":           {each(olderTurn, func(e string) string { return inLine(`{"payload":` + e + `,"directory":"/w"}`) }), olderOutcome},
		"no session anywhere":                    {each(olderTurn, replaced(`"sessionID":"ses_7",`, "")), olderOutcome},
		"the session everywhere":                 {each(olderTurn, replaced(`"properties":{"info"`, `"properties":{"sessionID":"ses_7","info"`)), olderOutcome},
		"no text so far, only deltas":            {append(each(olderTurn[:12], replaced(`"text":"Good morning",`, "")), olderTurn[13:]...), func() outcome { o := olderOutcome; o.text = "Good morning"; return o }()},
		"no texts between":                       {without(olderTurn, `"delta":"`), olderOutcome},
		"from the middle":                        {olderTurn[8:], cut},
		"from the middle, in lines":              {each(olderTurn[10:], inLine), outcome{text: cut.text, end: "done"}},
		"no message of the reply":                {without(olderTurn, `"role":"assistant"`), olderOutcome},
		"no message of the user":                 {without(olderTurn, `"role":"user"`), olderOutcome},
		"no end":                                 {olderTurn[:13], func() outcome { o := olderOutcome; o.end = "crash"; return o }()},
		"no call id":                             {each(olderTurn, replaced(`"callID":"c1",`, "")), olderOutcome},
		"no times in the reply":                  {each(olderTurn[:5], func(e string) string { return e })[:5:5], outcome{user: "Greet the sea.", end: "crash"}},
		"a part of an unknown type":              {append(without(olderTurn[:13], "step-start"), append([]string{`{"type":"message.part.updated","properties":{"part":{"id":"prt_9","sessionID":"ses_7","messageID":"msg_2","type":"hologram"}}}`}, olderTurn[13:]...)...), func() outcome { o := olderOutcome; o.notices = 1; return o }()},
		"a file of the model":                    {append(olderTurn[:13:13], append([]string{`{"type":"message.part.updated","properties":{"part":{"id":"prt_9","sessionID":"ses_7","messageID":"msg_2","type":"file","mime":"image/png","url":"data:image/png;base64,AA=="}}}`}, olderTurn[13:]...)...), func() outcome { o := olderOutcome; o.notices = 1; return o }()},
		"another attempt":                        {append(olderTurn[:6:6], append([]string{`{"type":"message.part.updated","properties":{"part":{"id":"prt_9","sessionID":"ses_7","messageID":"msg_2","type":"retry","attempt":1,"error":{"name":"APIError","data":{"message":"busy"}}}}}`}, olderTurn[6:]...)...), func() outcome { o := olderOutcome; o.notices = 1; return o }()},
		"patch, snapshot and agent":              {append(olderTurn[:13:13], append([]string{`{"type":"message.part.updated","properties":{"part":{"id":"prt_9","sessionID":"ses_7","messageID":"msg_2","type":"patch","hash":"h","files":[]}}}`, `{"type":"message.part.updated","properties":{"part":{"id":"prt_8","sessionID":"ses_7","messageID":"msg_2","type":"snapshot"}}}`}, olderTurn[13:]...)...), olderOutcome},
		"another session besides":                {append(olderTurn[:13:13], append([]string{strings.ReplaceAll(olderTurn[10], "ses_7", "ses_8"), strings.ReplaceAll(olderTurn[11], "ses_7", "ses_8")}, olderTurn[13:]...)...), func() outcome { o := olderOutcome; o.notices = 1; return o }()},
		"an error without a session":             {append(olderTurn[:6:6], `{"type":"session.error","properties":{"error":{"name":"ProviderAuthError","data":{"message":"no key"}}}}`, olderTurn[13], olderTurn[15]), outcome{user: "Greet the sea.", end: "auth"}},
		"stored messages": {[]string{
			`{"info":{"id":"msg_1","sessionID":"ses_7","role":"user","time":{"created":2}},"parts":[{"id":"prt_1","type":"text","text":"Greet the sea."}]}`,
			`{"info":{"id":"msg_2","sessionID":"ses_7","role":"assistant","time":{"created":3,"completed":8}},"parts":[{"id":"prt_3","type":"reasoning","text":"A wave.","time":{"start":4,"end":5}},{"id":"prt_4","type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"shells"}},{"id":"prt_5","type":"text","text":"Good morning, sea."}]}`,
		}, olderOutcome},
		"the export of a session": {[]string{
			`{"info":{"id":"ses_7","directory":"/w","version":"1.1.49"},"messages":[{"info":{"id":"msg_1","role":"user"},"parts":[{"id":"p","type":"text","text":"One? "}]},{"info":{"id":"msg_2","role":"assistant"},"parts":[{"id":"q","type":"text","text":"One. "}]},{"info":{"id":"msg_3","role":"user"},"parts":[{"id":"r","type":"text","text":"Two?"}]},{"info":{"id":"msg_4","role":"assistant","finish":"stop"},"parts":[{"id":"s","type":"text","text":"Two."}]}]}`,
		}, outcome{user: "One? Two?", text: "One. Two.", end: "done"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(outcomeOf(c.lines)).To(Equal(c.want))
		})
	}
}

func TestOlderPermissions(t *testing.T) {
	g := NewWithT(t)
	asked := `{"type":"permission.updated","properties":{"id":"per_1","type":"bash","pattern":"ls","sessionID":"ses_7","messageID":"msg_2","callID":"c1","title":"ls","metadata":{"command":"ls"},"time":{"created":5}}}`
	replied := `{"type":"permission.replied","properties":{"sessionID":"ses_7","permissionID":"per_1","response":"once"}}`
	var got []string
	n := opencode.New().Transcribe("s1", func(e event.Event) {
		switch d := e.Data.(type) {
		case event.PermissionRequest:
			got = append(got, d.RequestID+" "+d.ToolUseID+" "+d.ToolName)
		case event.PermissionResolved:
			got = append(got, string(d.Decision))
		case event.Notice:
			got = append(got, d.Text)
		}
	})
	for _, l := range append(olderTurn[:9:9], append([]string{asked, replied}, olderTurn[9:]...)...) {
		n.Line(time.Unix(0, 0), []byte(l))
	}
	n.End()
	g.Expect(got).To(Equal([]string{"per_1 c1 Bash", "allow"}))
}

// A live server of an older version is read as its transcript is.
func TestOlderServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := start(replies)
		o, err := open(t, s, adapters.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(o.Send(t.Context(), adapters.Message{ID: "m1", Text: "Greet the sea."})).To(Succeed())
		for _, e := range each(olderTurn, replaced("ses_7", "ses_1")) {
			s.p.Print(fmt.Sprintf(`{"id":%d,"data":%s}`, s.id("GET /event"), e))
		}
		events := strings.Join(o.next(), "\n")
		g.Expect(events).To(And(
			ContainSubstring("user_message m1"), ContainSubstring("thinking"), ContainSubstring("tool_result"),
			ContainSubstring("delta Good\ndelta  morning\n"), HaveSuffix("done"),
		))
		g.Expect(events).NotTo(ContainSubstring("notice"))
	})
}

func TestRecognizesEventsOfOlderVersions(t *testing.T) {
	g := NewWithT(t)
	for _, l := range olderTurn[1:] {
		g.Expect(opencode.New().Recognizes([]byte(l))).To(BeTrue(), l)
		g.Expect(opencode.New().Recognizes([]byte(inLine(l)))).To(BeTrue(), l)
	}
}
