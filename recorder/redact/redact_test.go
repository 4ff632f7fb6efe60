package redact

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// canaries are built here, so that no scanner reports this file as a leak.
var (
	ghToken  = "gh" + "p_" + "x7Kq2mZ9vB4nR8tY1wE6uI3oP5aS0dFgH2jK"
	awsKey   = "AK" + "IA" + "Q3EGRZ7XN5VTL2MP"
	antKey   = "sk-" + "ant-api03-" + "q8Zt3Lm0Xv7Nc2Br5Ky9Wd4Hs1Jf6Gp"
	fullAnt  = "sk-" + "ant-api03-" + strings.Repeat("aB3dE5fG7h", 9) + "iJ9" + "AA"
	canaries = []string{ghToken, awsKey, antKey, fullAnt}
)

var facts = Facts{
	Home: "/home/ann", Work: "/tmp/rec-7/my_work.d", Tmp: "/tmp/rec-7", User: "ann", Host: "birch", UID: 1234,
	Paths: map[string]string{"/opt/run time": "install"},
	Scenario: &fixtures.Scenario{
		Client: []fixtures.Step{{Verb: fixtures.VerbSend, ID: "m1", Text: "Please read the long letter that I wrote to my aunt."}, {Text: "Go on."}},
		Model: map[string][]fixtures.Reply{"": {{Parts: []fixtures.Part{
			{Text: []string{"The let", "ter tells of a gard", "en with seven very old apple trees."}},
			{Tool: &fixtures.ToolCall{ID: "t1", Tool: "shell", Input: jsontext.Value(`{"command":"for f in a b c; do\n  echo \"file $f is here\"\ndone"}`)}},
		}}}},
		Workspace: map[string][]byte{"letter.txt": []byte("Dear aunt, the apple trees bloom this year as never before.\n")},
	},
}

func redactor(t *testing.T, f Facts) *Redactor {
	t.Helper()
	r, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func caseOf(lines ...string) *fixtures.Case {
	c := &fixtures.Case{}
	for _, l := range lines {
		c.Wire = append(c.Wire, fixtures.WireLine{Process: 1, Dir: fixtures.Out, Bytes: []byte(l)})
	}
	return c
}

func outLine(c *fixtures.Case) []string {
	var out []string
	for _, w := range c.Wire {
		out = append(out, string(w.Bytes))
	}
	return out
}

func TestNames(t *testing.T) {
	root := facts
	root.Home, root.User = "/root", "root"
	r, rr := redactor(t, facts), redactor(t, root)
	for name, x := range map[string]struct{ in, want string }{
		"path":               {`{"cwd":"/home/ann/x"}`, `{"cwd":"<home>/x"}`},
		"longest first":      {`{"a":"/tmp/rec-7/my_work.d/x /tmp/rec-7/y"}`, `{"a":"<work>/x <tmp>/y"}`},
		"spacing and order":  {`{ "z" : 1.50 , "a":"/home/ann" , "z":2 }`, `{ "z" : 1.50 , "a":"<home>" , "z":2 }`},
		"escaped slash":      {`{"a":"\u00e9\n\/home\/ann\/b"}`, `{"a":"\u00e9\n<home>\/b"}`},
		"unicode escapes":    {`{"a":"\ud83d\ude00\u002fhome\u002f\u0061nn!"}`, `{"a":"\ud83d\ude00<home>!"}`},
		"lone surrogate":     {`{"a":"\ud83d /home/ann"}`, `{"a":"\ud83d <home>"}`},
		"key":                {`{"/home/ann/x":{"ann":1}}`, `{"<home>/x":{"ann":1}}`},
		"JSON in a string":   {`{"a":"{\"b\":\"x\\n/home/ann\\nann\"}"}`, `{"a":"{\"b\":\"x\\n<home>\\n<user>\"}"}`},
		"slug":               {`{"a":"/p/-tmp-rec-7-my-work-d/s"}`, `{"a":"/p/<work:slug>/s"}`},
		"URL":                {`{"a":"f=%2Fhome%2Fann%2Fx %2fhome%2fann file:///opt/run%20time/b"}`, `{"a":"f=<home:url>%2Fx <home:url> file://<install:url>/b"}`},
		"another path":       {`{"a":"/home/anna /home/ann-b /tmp/rec-77"}`, `{"a":"/home/anna /home/<user>-b /tmp/rec-77"}`},
		"end of a sentence":  {`{"a":"in /home/ann."}`, `{"a":"in <home>."}`},
		"words":              {`{"a":"ann@birch: annual birches"}`, `{"a":"<user>@<host>: annual birches"}`},
		"a word of protocol": {`{"type":"birch","serverName":"birch"}`, `{"type":"birch","serverName":"<host>"}`},
		"ports":              {`{"a":"http://127.0.0.1:4711/v1 localhost:99 [::1]:8080 10.0.0.1:80","port":4711}`, `{"a":"http://127.0.0.1:<port>/v1 localhost:<port> [::1]:<port> 10.0.0.1:80","port":4711}`},
		"uid":                {`{"a":"/x/claude-1234/t claude-1234"}`, `{"a":"/x/claude-<uid>/t claude-1234"}`},
		"no JSON":            {"\x1b[31m/home/ann\x1b[0m \x1b[2mann", "\x1b[31m<home>\x1b[0m \x1b[2m<user>"},
		"cut JSON":           {`{"a":"/home/ann`, `{"a":"<home>`},
		"invalid UTF-8":      {"{\"a\":\"\xff/home/ann\"}", "{\"a\":\"\xff<home>\"}"},
		"array":              {`[{"a":"/home/ann"}]`, `[{"a":"<home>"}]`},
		"nothing":            {`{"a":null,"b":[],"c":{}}`, `{"a":null,"b":[],"c":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := caseOf(x.in)
			g.Expect(r.Case(c)).To(Succeed())
			g.Expect(outLine(c)).To(Equal([]string{x.want}))
			g.Expect(c.Elided).To(BeZero())
		})
	}
	t.Run("root", func(t *testing.T) {
		g := NewWithT(t)
		c := caseOf(`{"agentPath":"/root/alpha","rootTurnId":"root","path":"/root/.codex","p":"x/root/y"}`)
		g.Expect(rr.Case(c)).To(Succeed())
		g.Expect(outLine(c)[0]).To(Equal(`{"agentPath":"/root/alpha","rootTurnId":"root","path":"<home>/.codex","p":"x/root/y"}`))
	})
	t.Run("argv", func(t *testing.T) {
		g := NewWithT(t)
		c := &fixtures.Case{Wire: []fixtures.WireLine{{Dir: fixtures.Spawn, Argv: []string{"/opt/run time/x", `u="http://127.0.0.1:81/"`}}}}
		g.Expect(r.Case(c)).To(Succeed())
		g.Expect(c.Wire[0].Argv).To(Equal([]string{"<install>/x", `u="http://127.0.0.1:<port>/"`}))
	})
}

func TestSecrets(t *testing.T) {
	g := NewWithT(t)
	r := redactor(t, facts)
	half := len(ghToken) / 2
	c := caseOf(
		`{"prompt":"Use `+awsKey+` please"}`,
		`{"method":"item/agentMessage/delta","params":{"threadId":"A","itemId":"i","delta":"my `+ghToken[:half]+`"}}`,
		`{"method":"item/agentMessage/delta","params":{"threadId":"A","itemId":"other","delta":"x"}}`,
		`{"method":"item/agentMessage/delta","params":{"threadId":"A","itemId":"i","delta":"`+ghToken[half:]+` it is"}}`,
		`{"text":"my `+ghToken+` it is"}`,
		`{"out":"K=`+fullAnt+`\nL=`+antKey+`"}`,
		`not JSON: `+antKey,
		`{"apiKeySource":"ANTHROPIC_API_KEY","id":"0198aaaa-0000-4000-8000-000000000001","msg":"msg_0123456789abcdef01234567"}`,
		`{"api_key":"`+"Zq8"+`Rt5Lw2Xv9Nb4Mc7Kd1"}`,
		`gitleaks:allow `+ghToken,
	)
	c.Witness = []fixtures.Request{{Req: 1, Results: map[string]string{"t1": "K=" + fullAnt}, Output: []fixtures.OutputPart{
		{Text: "my " + ghToken + " it is"}, {Tool: "shell", ID: "t1", Input: jsontext.Value(`{ "command":"echo ` + awsKey + `"}`)}}}}
	g.Expect(r.Case(c)).To(Succeed())
	g.Expect(outLine(c)).To(Equal([]string{
		`{"prompt":"Use <secret:1> please"}`,
		`{"method":"item/agentMessage/delta","params":{"threadId":"A","itemId":"i","delta":"my <secret:2>"}}`,
		`{"method":"item/agentMessage/delta","params":{"threadId":"A","itemId":"other","delta":"x"}}`,
		`{"method":"item/agentMessage/delta","params":{"threadId":"A","itemId":"i","delta":" it is"}}`,
		`{"text":"my <secret:2> it is"}`,
		`{"out":"K=<secret:3>\nL=<secret:4>"}`,
		`not JSON: <secret:4>`,
		`{"apiKeySource":"ANTHROPIC_API_KEY","id":"0198aaaa-0000-4000-8000-000000000001","msg":"msg_0123456789abcdef01234567"}`,
		`{"api_key":"<secret:5>"}`,
		`gitleaks:allow <secret:2>`,
	}))
	g.Expect(c.Witness[0].Results["t1"]).To(Equal("K=<secret:3>"))
	g.Expect(c.Witness[0].Output[0].Text).To(Equal("my <secret:2> it is"))
	g.Expect(string(c.Witness[0].Output[1].Input)).To(Equal(`{ "command":"echo <secret:1>"}`))
}

func TestNewRejects(t *testing.T) {
	for name, f := range map[string]Facts{
		"relative":   {Home: "home/ann"},
		"the root":   {Work: "/"},
		"a bad name": {Paths: map[string]string{"/x": "No Name"}},
		"elided":     {Paths: map[string]string{"/x": "elided"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(f)
			NewWithT(t).Expect(err).To(MatchError(HavePrefix("redact: ")))
		})
	}
}
