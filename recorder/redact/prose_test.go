package redact

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// lorem is used as the prose of a vendor.
const lorem = "Lorem ipsum dolor sit amet, consectetur adipiscing elit."

func TestProse(t *testing.T) {
	r := redactor(t, facts)
	for name, x := range map[string]struct{ in, want string }{
		"prose":                {`{"a":"` + lorem + `"}`, `{"a":"<elided:56>"}`},
		"quotes stay":          {`{"a":"{\"b\":\"` + lorem + `\"}"}`, `{"a":"{\"b\":\"<elided:56>\"}"}`},
		"escapes":              {`{"a":"Lorem ipsum\ndolor\u0020sit amet, \"consectetur\" elit."}`, `{"a":"<elided:47>"}`},
		"short":                {`{"a":"Lorem ipsum dolor sit amet"}`, `{"a":"Lorem ipsum dolor sit amet"}`},
		"a description":        {`{"description":"Lorem ipsum dolor sit","argumentHint":"Lorem ipsum dolor"}`, `{"description":"<elided:21>","argumentHint":"Lorem ipsum dolor"}`},
		"our words":            {`{"a":"Please read the long letter that I wrote to my aunt."}`, `{"a":"Please read the long letter that I wrote to my aunt."}`},
		"ours, cut":            {`{"description":"ter tells of a garden with seven very old app"}`, `{"description":"ter tells of a garden with seven very old app"}`},
		"ours among prose":     {`{"a":"` + lorem + `\nThe letter tells of a garden\n` + lorem + `"}`, `{"a":"<elided:56>\nThe letter tells of a garden\n<elided:56>"}`},
		"a few of ours, apart": {`{"a":"` + lorem + `\n\"Go on.\"\n` + lorem + `"}`, `{"a":"<elided:56>\n\"Go on.\"\n<elided:56>"}`},
		"a few of ours, amid":  {`{"a":"Lorem ipsum dolor Go on sit amet elit"}`, `{"a":"<elided:37>"}`},
		"file":                 {`{"a":"1\tDear aunt, the apple trees bloom this year as never before.\n"}`, `{"a":"1\tDear aunt, the apple trees bloom this year as never before.\n"}`},
		"command, as JSON":     {`{"a":"{\"command\":\"for f in a b c; do\\n  echo \\\"file $f is here\\\"\\ndone\"}"}`, `{"a":"{\"command\":\"for f in a b c; do\\n  echo \\\"file $f is here\\\"\\ndone\"}"}`},
		"a path amid prose":    {`{"a":"` + lorem + ` /home/ann/x ` + lorem + `"}`, `{"a":"<elided:56> <home>/x <elided:56>"}`},
		"a vendor's brackets":  {`{"a":"Lorem <ipsum> dolor <sit> amet <consectetur> elit"}`, `{"a":"<elided:49>"}`},
		"a phrase":             {`{"a":"[Request interrupted by user for tool use]"}`, `{"a":"[Request interrupted by user for tool use]"}`},
		"a kept member":        {`{"userAgent":"a b c d e f g h"}`, `{"userAgent":"a b c d e f g h"}`},
		"what a command wrote": {`{"stdout":"` + lorem + `"}`, `{"stdout":"` + lorem + `"}`},
		"numbers are no words": {`{"a":"1 2 3 4 5 6 7 8 - | 9 10 11"}`, `{"a":"1 2 3 4 5 6 7 8 - | 9 10 11"}`},
		"a path is one word":   {`{"a":"a/b/c/d/e/f/g/h/i x_y_z tool-a"}`, `{"a":"a/b/c/d/e/f/g/h/i x_y_z tool-a"}`},
		"a key":                {`{"` + lorem + `":1}`, `{"` + lorem + `":1}`},
		"no JSON":              {lorem, `<elided:56>`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := caseOf(x.in)
			g.Expect(r.Case(c)).To(Succeed())
			g.Expect(outLine(c)).To(Equal([]string{x.want}))
			n := 0
			for _, m := range regexp.MustCompile(`<elided:(\d+)>`).FindAllStringSubmatch(x.want, -1) {
				var k int
				_, err := fmt.Sscan(m[1], &k)
				g.Expect(err).NotTo(HaveOccurred())
				n += k
			}
			g.Expect(c.Elided).To(Equal(n))
		})
	}
}

func TestTextOfClientIsKept(t *testing.T) {
	g := NewWithT(t)
	c := caseOf(`{"a":"Error: ` + lorem + `"}`)
	c.Wire = append(c.Wire, fixtures.WireLine{Dir: fixtures.In, Bytes: []byte(`{"message":"` + lorem + `"}`)})
	g.Expect(redactor(t, facts).Case(c)).To(Succeed())
	g.Expect(outLine(c)).To(Equal([]string{`{"a":"Error: ` + lorem + `"}`, `{"message":"` + lorem + `"}`}))
}

// The wire's copy of a tool's result contains the witness's copy, or the other way
// round. Redaction must keep that.
func TestContainmentIsKept(t *testing.T) {
	const head = "Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"
	long := lorem + " sed do eiusmod tempor incididunt ut labore"
	for name, x := range map[string]struct{ wire, witness string }{
		"wire within witness":  {long, "Beware now: " + long + " et dolore magna"},
		"witness within wire":  {"Beware now: " + long + " et dolore magna", long},
		"equal":                {long, long},
		"with a path":          {"Saved at /home/ann/x: " + long, "Output Saved at /home/ann/x: " + long + " et"},
		"with what is ours":    {long + "\nseven very old apple trees", "Begin then " + long + "\nseven very old apple trees and end"},
		"command output":       {long, "Exit code 3 Output: " + long},
		"twice in the witness": {long, long + " and again " + long},
		"a line of few words":  {"(oak)", head + "(oak)\n"},
		"a word after a sign":  {"✓ oak\n", head + "✓ oak\n"},
		"a word and a space":   {"oak \n", head + "oak \n"},
		"one letter":           {"a b", head + "a b"},
		"lines of few words":   {"- oak\n- elm", head + "- oak\n- elm\n" + lorem},
		"few words and prose":  {"- oak\n" + long, head + "- oak\n" + long + "\n"},
	} {
		for _, key := range []string{"content", "aggregatedOutput"} {
			t.Run(name+" in "+key, func(t *testing.T) {
				g := NewWithT(t)
				c := caseOf(fmt.Sprintf(`{%q:%q}`, key, x.wire))
				c.Witness = []fixtures.Request{{Req: 1, Results: map[string]string{"t1": x.witness}}}
				g.Expect(redactor(t, facts).Case(c)).To(Succeed())
				toks, err := tokens(c.Wire[0].Bytes)
				g.Expect(err).NotTo(HaveOccurred())
				got, want := toks[1].text, c.Witness[0].Results["t1"]
				g.Expect(strings.Contains(got, want) || strings.Contains(want, got)).To(BeTrue(), "%q and %q", got, want)
				g.Expect(want).NotTo(ContainSubstring("Process exited"))
				if key == "content" {
					g.Expect(got + want).NotTo(ContainSubstring("consectetur"))
				}
			})
		}
	}
}

// A runtime may send the model the JSON of a text, or the text as a quoted string. The
// placeholder is that of the text.
func TestQuotedTextHasThePlaceholderOfTheText(t *testing.T) {
	text := "The call failed:\n\n" + lorem + "\nthe \"pond\" is dry -32000"
	quoted := fmt.Sprintf("%q", text)
	for name, x := range map[string]struct{ witness, want string }{
		"JSON":           {`[{"type":"text","text":` + quoted + `}]`, `[{"type":"text","text":"<elided:92> -32000"}]`},
		"debug output":   {"err: " + quoted, `err: "<elided:92> -32000"`},
		"the text":       {text, "<elided:92> -32000"},
		"text and quote": {text + "\n" + quoted, "<elided:92> -32000\n\"<elided:92> -32000\""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := caseOf(fmt.Sprintf(`{"message":%q}`, text))
			c.Witness = []fixtures.Request{{Req: 1, Results: map[string]string{"t1": x.witness}}}
			g.Expect(redactor(t, facts).Case(c)).To(Succeed())
			g.Expect(outLine(c)).To(Equal([]string{`{"message":"<elided:92> -32000"}`}))
			g.Expect(c.Witness[0].Results["t1"]).To(Equal(x.want))
		})
	}
}

// The joined deltas equal the whole text, before and after.
func TestDeltasAreRedactedAsOneText(t *testing.T) {
	text := "At /home/ann and " + lorem + " Key " + ghToken + "."
	claude := func(delta string) string {
		return fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}},"parent_tool_use_id":null}`, delta)
	}
	for name, line := range map[string]func(string) string{
		"claude": claude,
		"codex": func(d string) string {
			return fmt.Sprintf(`{"method":"item/agentMessage/delta","params":{"threadId":"a","itemId":"i","delta":%q}}`, d)
		},
	} {
		for cut := 1; cut < 9; cut++ {
			t.Run(fmt.Sprint(name, cut), func(t *testing.T) {
				g := NewWithT(t)
				lines := []string{`{"type":"stream_event","event":{"type":"content_block_start","index":0}}`}
				for rest := text; rest != ""; {
					n := min(cut, len(rest))
					lines = append(lines, line(rest[:n]))
					rest = rest[n:]
				}
				lines = append(lines, `{"type":"stream_event","event":{"type":"content_block_start","index":0}}`, line("new"), fmt.Sprintf(`{"full":%q}`, text))
				c := caseOf(lines...)
				c.Runtime = name
				g.Expect(redactor(t, facts).Case(c)).To(Succeed())
				var got, full string
				for _, w := range c.Wire {
					toks, err := tokens(w.Bytes)
					g.Expect(err).NotTo(HaveOccurred())
					for _, k := range toks {
						switch {
						case !k.name && (k.path == "params.delta" || k.path == "event.delta.text"):
							got += k.text
						case !k.name && k.path == "full":
							full = k.text
						}
					}
				}
				g.Expect(full).To(Equal("At <home> <elided:64> <secret:1>."))
				g.Expect(strings.TrimSuffix(got, "new")).To(Equal(full))
			})
		}
	}
}

// For any text: the result is valid JSON, only spans have changed, no secret or name
// is left, and a second call changes nothing.
func TestRandomTexts(t *testing.T) {
	r := redactor(t, facts)
	plants := append([]string{"/home/ann", "/tmp/rec-7/my_work.d", "/tmp/rec-7", "ann", "birch", "-home-ann", "%2Fhome%2Fann", lorem}, canaries...)
	other := []string{"x", "é😀", "\u2028", "{}", "a b", `\`, `"`, "\n", "<tag>", "seven very old apple trees", "</x>", "Lorem ipsum"}
	marks := placeholders([]string{"install"})
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		text := func() string {
			var b strings.Builder
			for range rnd.IntN(5) {
				if rnd.IntN(2) == 0 {
					b.WriteString(" " + plants[rnd.IntN(len(plants))] + " ")
				} else {
					b.WriteString(other[rnd.IntN(len(other))])
				}
			}
			return b.String()
		}
		var line strings.Builder
		var value func(depth int)
		value = func(depth int) {
			switch k := rnd.IntN(4); {
			case k == 0 && depth < 3:
				line.WriteString("[ ")
				value(depth + 1)
				line.WriteString(" , -0.0e1,null ]")
			case k == 1 && depth < 3:
				line.WriteString(`{"k":1,` + quoteRandomly(rnd, text()) + ` : `)
				value(depth + 1)
				line.WriteString(`, "k":true}`)
			default:
				line.WriteString(quoteRandomly(rnd, text()))
			}
		}
		line.WriteString(`{"v":`)
		value(0)
		line.WriteString("}")
		in := line.String()
		c := caseOf(in)
		c.Witness = []fixtures.Request{{Req: 1, Results: map[string]string{"t1": text()}}}
		if err := r.Case(c); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := outLine(c)[0]
		if !jsontext.Value(got).IsValid(wire.AsWritten) {
			t.Fatalf("seed %d: no JSON:\n%s\n%s", seed, in, got)
		}
		if !onlySpans(marks, in, got) {
			t.Fatalf("seed %d: changed outside of spans:\n%s\n%s", seed, in, got)
		}
		toks, err := tokens([]byte(got))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range append(toks, token{text: c.Witness[0].Results["t1"]}) {
			for _, p := range plants {
				if k.name && (p == "ann" || p == "birch" || p == lorem) {
					continue // names of members hide paths and secrets only
				}
				if strings.Contains(k.text, p) {
					t.Fatalf("seed %d: %q is left:\n%s\n%s", seed, p, in, got)
				}
			}
		}
		elided, before := c.Elided, got+c.Witness[0].Results["t1"]
		if err := r.Case(c); err != nil {
			t.Fatalf("seed %d: again: %v", seed, err)
		}
		if after := outLine(c)[0] + c.Witness[0].Results["t1"]; after != before || c.Elided != elided {
			t.Fatalf("seed %d: not idempotent:\n%s\n%s", seed, before, after)
		}
	}
}

// quoteRandomly quotes a string with random escapes.
func quoteRandomly(rnd *rand.Rand, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c < 0x10000 && rnd.IntN(8) == 0:
			fmt.Fprintf(&b, `\u%04x`, c)
		case c == '/' && rnd.IntN(2) == 0:
			b.WriteString(`\/`)
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// onlySpans reports whether the text between the placeholders is in the input, in
// order and at its ends.
func onlySpans(marks *regexp.Regexp, in, got string) bool {
	parts := marks.Split(got, -1)
	if !strings.HasPrefix(in, parts[0]) || !strings.HasSuffix(in, parts[len(parts)-1]) {
		return false
	}
	for _, p := range parts {
		i := strings.Index(in, p)
		if i < 0 {
			return false
		}
		in = in[i+len(p):]
	}
	return len(parts) > 1 || in == ""
}

func TestLint(t *testing.T) {
	g := NewWithT(t)
	c := caseOf(
		`{"cwd":"/home/ann/x","agentPath":"/root/alpha","p":"/root/.codex/x","q":"/tmp/foo"}`,
		`{"a":"`+lorem+`"}`,
		`{"description":"Lorem ipsum dolor sit"}`,
		`{"a":"`+ghToken+`"}`,
		`{"a":"Dear aunt, the apple trees bloom this year as never before.\n"}`,
		`{"a":"Please read the long letter that I wrote to my aunt."}`,
	)
	c.Scenario, c.Runtime, c.Version, c.Recorded = "x/y", "codex", "1", "now"
	c.Wire = append(c.Wire, fixtures.WireLine{Process: 1, Dir: fixtures.In, Bytes: []byte(`{"text":"Please read the long letter that I wrote to my aunt."}`)})
	b, err := c.Format()
	g.Expect(err).NotTo(HaveOccurred())
	var got []string
	for _, f := range Lint(b, facts.Scenario) {
		got = append(got, f.String())
	}
	g.Expect(got).To(Equal([]string{
		"line 7: path: /home/ann",
		"line 7: path: /root/.codex/x",
		"line 7: path: /tmp/foo",
		"line 8: prose: " + lorem,
		"line 9: prose: Lorem ipsum dolor sit",
		"line 10: secret: ghp_…",
	}))
	g.Expect(Lint(b)).To(ContainElement(HaveField("Line", 11)), "without its scenario a file's words are taken for prose")
	g.Expect(Lint(b)).NotTo(ContainElement(HaveField("Line", 12)), "what the client sent is ours")

	f := facts
	f.Paths = map[string]string{"/root/.codex": "codex-home", "/tmp": "temp"}
	g.Expect(redactor(t, f).Case(c)).To(Succeed())
	b, err = c.Format()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(Lint(b, facts.Scenario)).To(BeEmpty())
}
