//go:build clients

package clients

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fakes/model"
	"github.com/turnspec/turnspec/fixtures"
)

// TestModel lets the AI SDK read chat completions of the scripted model: what the
// model said is what an independent client understands.
func TestModel(t *testing.T) {
	for name, x := range map[string]struct {
		replies string
		want    []string // parts of the stream, without those that only mark a start or an end
		witness int      // requests
	}{
		"text": {
			`[{"think":["Hm, ","so."]},{"text":["One ","☃"]}]`,
			[]string{`reasoning-delta Hm, `, `reasoning-delta so.`, `text-delta One `, `text-delta ☃`, `finish stop 100 10`}, 1,
		},
		"members of reasoning": {
			`[{"think":["a"],"field":"reasoning"},{"text":["b"],"whole":true},{"usage":{"input":9,"cached":4,"output":3}}]`,
			[]string{`reasoning-delta a`, `text-delta b`, `finish stop 9 3`}, 1,
		},
		"calls in turn": {
			`[{"text":["Look."]},{"tool":"shell","id":"t1","input":{"command":"one"},"pieces":3,"alternates":true},{"tool":"shell","id":"t2","input":{"command":"two"},"pieces":2}]
[{"text":["Done."]}]`,
			[]string{
				`text-delta Look.`, `tool-call call_t1 {"command":"one"}`, `tool-call call_t2 {"command":"two"}`,
				`tool-result call_t1 "ran one"`, `tool-result call_t2 "ran two"`, `text-delta Done.`, `finish stop 200 20`,
			}, 2,
		},
		"not JSON": {
			`[{"tool":"shell","id":"t1","input":{"command":"one"},"spoil":"{no"}]
[{"text":["Sorry."]}]`,
			[]string{`tool-call call_t1 "{no"`, `tool-error call_t1`, `text-delta Sorry.`, `finish stop 200 20`}, 2,
		},
		"length":         {`[{"text":["a"]},{"end":"length"}]`, []string{`text-delta a`, `finish length 100 10`}, 1},
		"content filter": {`[{"text":["a"]},{"end":"refusal"}]`, []string{`text-delta a`, `finish content-filter 100 10`}, 1},
		"refused":        {`[{"fail":{"kind":"auth"}}]`, []string{`error Incorrect API key provided.`}, 1},
		"fails within":   {`[{"text":["a"]},{"fail":{"kind":"overloaded"}}]`, []string{`text-delta a`, `error Our servers are overloaded.`, `finish error`}, 1},
		"no end":         {`[{"text":["a"]},{"close":true}]`, []string{`text-delta a`, `error Response stream ended without a finish reason.`, `finish error`}, 1},
		"broken line":    {`[{"text":["a"]},{"bytes":"data: {no\n\n"},{"text":["b"]}]`, []string{`text-delta a`, `error JSON parsing failed`, `text-delta b`, `finish stop 100 10`}, 1},
		"comments":       {`[{"bytes":": ping\r\n\r\n"},{"text":["a"]}]`, []string{`text-delta a`, `finish stop 100 10`}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := fixtures.ParseScenario("test.txtar", "test/test", []byte("A test.\n-- scenario --\ntopic: test\n-- client --\nsend m1: hi\n-- model --\n"+x.replies+"\n"))
			g.Expect(err).NotTo(HaveOccurred())
			srv, err := model.Start(s, model.Options{Dir: "/ws"})
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = srv.Close() }()
			got := aiSDKParts(t, srv.URL()+"/v1")
			g.Expect(srv.Err()).NotTo(HaveOccurred())
			g.Expect(got).To(HaveLen(len(x.want)), strings.Join(got, "\n"))
			for i, want := range x.want {
				g.Expect(got[i]).To(HavePrefix(want))
			}
			g.Expect(srv.Witness()).To(HaveLen(x.witness))
		})
	}
}

// aiSDKParts sends a message with the AI SDK and returns the parts of its stream, a line each.
func aiSDKParts(t *testing.T, url string) []string {
	t.Helper()
	g := NewWithT(t)
	b, err := json.Marshal(plan{Work: t.TempDir(), Model: url})
	g.Expect(err).NotTo(HaveOccurred())
	file := filepath.Join(t.TempDir(), "plan.json")
	g.Expect(writeFile(file, b)).To(Succeed())
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join(Folder(t), "ai-sdk.mjs"), file)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	g.Expect(err).NotTo(HaveOccurred(), errs.String())
	var lines []string
	for l := range strings.Lines(string(out)) {
		var p struct {
			Type   string `json:"type"`
			Text   string `json:"text"`
			Call   string `json:"call"`
			Input  any    `json:"input"`
			Output any    `json:"output"`
			Finish string `json:"finishReason"`
			Error  string `json:"error"`
			Usage  *struct {
				Input  int `json:"input"`
				Output int `json:"output"`
			} `json:"usage"`
		}
		g.Expect(json.Unmarshal([]byte(l), &p)).To(Succeed())
		line := []string{p.Type}
		add := func(v any) {
			b, err := json.Marshal(v)
			g.Expect(err).NotTo(HaveOccurred())
			line = append(line, string(b))
		}
		switch p.Type {
		case "text-delta", "reasoning-delta":
			line = append(line, p.Text)
		case "tool-call":
			line = append(line, p.Call)
			add(p.Input)
		case "tool-result":
			line = append(line, p.Call)
			add(p.Output)
		case "tool-error":
			line = append(line, p.Call)
		case "error":
			line = append(line, p.Error)
		case "finish":
			line = append(line, p.Finish)
			if p.Usage != nil && p.Usage.Input > 0 {
				add(p.Usage.Input)
				add(p.Usage.Output)
			}
		default: // starts, ends, and pieces of an input
			continue
		}
		lines = append(lines, strings.Join(line, " "))
	}
	return lines
}
