//go:build clients

package main

import (
	"bufio"
	"encoding/json"
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

// TestFrontEnds lets useChat and HttpAgent, with the code of FRONTENDS.md, talk to serve. `make test-dialects`
// installs them.
func TestFrontEnds(t *testing.T) {
	g := NewWithT(t)
	folder, err := filepath.Abs("../../.tmp/dialects")
	g.Expect(err).NotTo(HaveOccurred())
	page, err := os.ReadFile("../../adapters/backend/sidecar/FRONTENDS.md")
	g.Expect(err).NotTo(HaveOccurred())
	code := ""
	for _, block := range regexp.MustCompile("(?s)```js\n(.*?)```").FindAllSubmatch(page, -1) {
		code += string(block[1])
	}
	g.Expect(os.WriteFile(filepath.Join(folder, "frontends.mjs"), []byte(code), 0o644)).To(Succeed())
	both := []string{"useChat", "HttpAgent"}
	for _, x := range []struct {
		caseID, verdict string
		clients         []string
		want            frontEnd
	}{
		{"text/plain", "allow", both, frontEnd{Texts: []string{"The Danube, the Nile and the Mekong."}}},
		{"permission/allow", "allow", both, frontEnd{Texts: []string{"I make the folder.", "It is there."}, Asked: 1}},
		{"permission/deny-with-a-message", "deny", both, frontEnd{Texts: []string{"I remove it.", "Then on Monday."}, Asked: 1}},
		{"model/cut-in-mid-text-then-retried", "allow", both, frontEnd{Texts: []string{"Still waters run deep."}}},
		{"model/error-ends-the-turn", "allow", both, frontEnd{Texts: []string{}, Error: "API Error: 400 this cannot be drawn"}},
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
			})
		}
	}
}
