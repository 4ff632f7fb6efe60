package redact

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// No part of a canary is left, whatever its kind and the form in which a runtime
// writes it.
func TestCanariesInEachForm(t *testing.T) {
	quote := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	// split says a text in pieces of n bytes.
	split := func(s string, n int, form string) []string {
		var out []string
		for ; len(s) > n; s = s[n:] {
			out = append(out, fmt.Sprintf(form, quote(s[:n])))
		}
		return append(out, fmt.Sprintf(form, quote(s)))
	}
	claudeDelta := func(typ, member string) string {
		return `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"` + typ + `","` + member + `":%s}},"parent_tool_use_id":null}`
	}
	codexDelta := func(method string) string {
		return `{"method":"` + method + `","params":{"threadId":"A","turnId":"T","itemId":"i","delta":%s}}`
	}
	forms := map[string]func(s string) []string{
		"plain":            func(s string) []string { return []string{`{"text":` + quote("it is "+s+" .") + `}`} },
		"JSON in a string": func(s string) []string { return []string{`{"text":` + quote(`{"a":`+quote("it is\t"+s)+`}`) + `}`} },
		"unicode escapes":  func(s string) []string { return []string{`{"text":"` + fmt.Sprintf(`\u%04x`, s[0]) + s[1:] + `"}`} },
		"base64": func(s string) []string {
			return []string{`{"data":"` + base64.StdEncoding.EncodeToString([]byte("key: "+s+"\n")) + `"}`}
		},
		"base64 of URLs": func(s string) []string {
			return []string{`{"data":"` + base64.RawURLEncoding.EncodeToString([]byte("key="+s)) + `"}`}
		},
		"a path":        func(s string) []string { return []string{`{"path":` + quote("/srv/x/"+s+"/a.txt") + `}`} },
		"a key of JSON": func(s string) []string { return []string{`{"files":{` + quote(s) + `:1}}`} },
		"no JSON":       func(s string) []string { return []string{"error: bad key " + s} },
		"tool output of claude": func(s string) []string {
			return []string{`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_t1","type":"tool_result","content":` + quote("A=1\nKEY="+s+"\n") + `}]},"tool_use_result":{"stdout":` + quote("KEY="+s) + `}}`}
		},
		"tool output of codex": func(s string) []string {
			return []string{`{"method":"item/completed","params":{"item":{"type":"commandExecution","id":"call_t1","aggregatedOutput":` + quote("KEY="+s+"\n") + `}}}`}
		},
		"split text of claude": func(s string) []string { return split("say "+s+" again", 7, claudeDelta("text_delta", "text")) },
		"split thinking of claude": func(s string) []string {
			return split("think "+s+" over", 5, claudeDelta("thinking_delta", "thinking"))
		},
		"split input of claude": func(s string) []string {
			return split(`{"command":"echo `+s+`"}`, 6, claudeDelta("input_json_delta", "partial_json"))
		},
		"split text of codex": func(s string) []string { return split("say "+s+" again", 7, codexDelta("item/agentMessage/delta")) },
		"split output of codex": func(s string) []string {
			return split("KEY="+s+"\n", 8, codexDelta("item/commandExecution/outputDelta"))
		},
		"split reasoning of codex": func(s string) []string { return split("think "+s+" over", 5, codexDelta("item/reasoning/textDelta")) },
		"split in one-byte pieces": func(s string) []string { return split("say "+s+" again", 1, claudeDelta("text_delta", "text")) },
	}
	r := redactor(t, facts)
	for name, form := range forms {
		for i, canary := range canaries {
			t.Run(fmt.Sprint(name, " ", i), func(t *testing.T) {
				g := NewWithT(t)
				c := caseOf(form(canary)...)
				c.Witness = []fixtures.Request{{Req: 1}}
				g.Expect(r.Case(c)).To(Succeed())
				all := strings.Join(outLine(c), "\n")
				g.Expect(all).To(ContainSubstring("<secret:"))
				// Neither whole nor in pieces: what the deltas say, joined.
				var said strings.Builder
				for _, l := range c.Wire {
					toks, err := tokens(l.Bytes)
					if err != nil {
						said.Write(l.Bytes)
						continue
					}
					for _, tok := range toks {
						switch tok.key {
						case "delta", "text", "thinking", "partial_json":
							if tok.text != "text_delta" && !tok.name {
								said.WriteString(tok.text)
							}
						}
					}
				}
				g.Expect(all).NotTo(ContainSubstring(canary[4:16]))
				g.Expect(said.String()).NotTo(ContainSubstring(canary[4:16]))
				g.Expect(all).NotTo(ContainSubstring(base64.StdEncoding.EncodeToString([]byte(canary[3:15]))))
				g.Expect(Lint([]byte(all))).To(BeEmpty())
			})
		}
	}
}
