//go:build clients

package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// frontEnd is what a front end shows of a turn.
type frontEnd struct {
	Texts []string `json:"texts"`
	Asked int      `json:"asked"`
	Error string   `json:"error"`
}

// TestFrontEnds lets useChat, HttpAgent and CopilotKit, with the code of SERVE.md, talk to serve. `make test-dialects`
// installs them.
func TestFrontEnds(t *testing.T) {
	g := NewWithT(t)
	folder, err := filepath.Abs("../../.tmp/dialects")
	g.Expect(err).NotTo(HaveOccurred())
	page, err := os.ReadFile("../../adapters/backend/sidecar/SERVE.md")
	g.Expect(err).NotTo(HaveOccurred())
	code := ""
	for _, block := range regexp.MustCompile("(?s)```js\n(.*?)```").FindAllSubmatch(page, -1) {
		code += string(block[1])
	}
	g.Expect(os.WriteFile(filepath.Join(folder, "frontends.mjs"), []byte(code), 0o644)).To(Succeed())
	all := []string{"useChat", "HttpAgent", "CopilotKit"}
	for _, x := range []struct {
		caseID, verdict string
		clients         []string
		want            frontEnd
	}{
		{"text/plain", "allow", all, frontEnd{Texts: []string{"The Danube, the Nile and the Mekong."}}},
		{"permission/allow", "allow", all, frontEnd{Texts: []string{"I make the folder.", "It is there."}, Asked: 1}},
		{"permission/deny-with-a-message", "deny", all, frontEnd{Texts: []string{"I remove it.", "Then on Monday."}, Asked: 1}},
		{"model/cut-in-mid-text-then-retried", "allow", all, frontEnd{Texts: []string{"Still waters run deep."}}},
		{"model/error-ends-the-turn", "allow", all, frontEnd{Texts: []string{}, Error: "API Error: 400 this cannot be drawn"}},
		{"question/one", `{"Which database?":"SQLite"}`, all, frontEnd{Texts: []string{"One question.", "SQLite it is."}, Asked: 1}},
		{"question/twice-in-one-turn", `{"Which database?":"SQLite","Which language?":"Rust"}`, all, frontEnd{Texts: []string{"Rust on SQLite."}, Asked: 2}},
		{"question/declined", "deny", all, frontEnd{Texts: []string{"I will choose."}, Asked: 1}},
		{"stop/mid-text", "cut", []string{"useChat"}, frontEnd{Texts: []string{"Once upon a time there was a"}, Asked: 2}},
	} {
		for _, client := range x.clients {
			t.Run(x.caseID+"/"+client, func(t *testing.T) {
				t.Parallel()
				g := NewWithT(t)
				serve := exec.CommandContext(t.Context(), "turnspec", "serve", "--case", "claude/newest/"+x.caseID, "--speed", "1000", "--listen", "127.0.0.1:0")
				serve.Env = append(os.Environ(), envToken+"=secret")
				serve.Stderr = os.Stderr
				out, err := serve.StdoutPipe()
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(serve.Start()).To(Succeed())
				t.Cleanup(func() { _ = serve.Process.Kill() })
				lines := bufio.NewScanner(out)
				g.Expect(lines.Scan()).To(BeTrue())
				address := strings.TrimSuffix(strings.Fields(lines.Text())[2], ",")
				node := exec.CommandContext(t.Context(), "node", filepath.Join(folder, "chat.mjs"), address, "secret", client, x.verdict)
				node.Dir, node.Stderr = folder, os.Stderr
				printed, err := node.Output()
				g.Expect(err).NotTo(HaveOccurred())
				var got frontEnd
				g.Expect(json.Unmarshal(printed, &got)).To(Succeed(), string(printed))
				g.Expect(got).To(Equal(x.want))
				if strings.HasPrefix(x.caseID, "question/") {
					answers := answersIn(t, address, map[string]string{"useChat": "c1", "HttpAgent": "t1", "CopilotKit": "t1"}[client])
					g.Expect(answers).To(HaveLen(x.want.Asked))
					g.Expect(answers).To(HaveEach(Or(Equal(x.verdict), Equal(`"`+x.verdict+`"`))))
				}
			})
		}
	}
}

// answersIn returns the values with which the user answered the questions of a session.
func answersIn(t *testing.T, address, session string) (values []string) {
	t.Helper()
	g := NewWithT(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/sessions/"+session+"/history?limit=1000", http.NoBody)
	g.Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Authorization", "Bearer secret")
	res, err := http.DefaultClient.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = res.Body.Close() }()
	var history struct {
		Events []struct {
			Type string
			Data struct {
				Value json.RawMessage
				By    string
			}
		}
	}
	g.Expect(json.NewDecoder(res.Body).Decode(&history)).To(Succeed())
	for _, e := range history.Events {
		if e.Type == "interrupt_resolved" && e.Data.By == "user" {
			values = append(values, string(e.Data.Value))
		}
	}
	return values
}
