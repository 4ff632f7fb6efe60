package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// printed collects what a program prints.
type printed struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *printed) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *printed) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// TestServeUsers starts a server with users, and removes one while it runs.
func TestServeUsers(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	line := func(name, token string) string {
		return fmt.Sprintf("%s sha256:%x\n", name, sha256.Sum256([]byte(token)))
	}
	file := filepath.Join(t.TempDir(), "tokens")
	write := func(text string) {
		g.Expect(os.WriteFile(file+".new", []byte(text), 0o600)).To(Succeed())
		g.Expect(os.Rename(file+".new", file)).To(Succeed())
	}
	write("# users\n" + line("alice", "token-of-alice") + line("bob", "token-of-bob"))
	var errOut printed
	s := startServerInto(t, &errOut, exec.Command("turnspec", "serve", "--speed", "1000", "--tokens", file), envToken+"=token-of-root")
	open := func(method, path, token, body string) (status int, stream io.Reader) {
		r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
		g.Expect(err).NotTo(HaveOccurred())
		r.Header.Set("Authorization", "Bearer token-of-"+token)
		res, err := http.DefaultClient.Do(r)
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _ = res.Body.Close() })
		return res.StatusCode, res.Body
	}
	status := func(method, path, token, body string) int {
		s, _ := open(method, path, token, body)
		return s
	}
	g.Expect(status("POST", "/sessions", "alice", `{"session_id":"a"}`)).To(Equal(201))
	g.Expect(status("GET", "/sessions/a", "alice", "")).To(Equal(200))
	g.Expect(status("GET", "/sessions/a", "bob", "")).To(Equal(404))
	g.Expect(status("GET", "/sessions/a", "root", "")).To(Equal(200))
	g.Expect(status("GET", "/sessions/a", "nobody", "")).To(Equal(401))
	opened, stream := open("GET", "/events", "bob", "")
	g.Expect(opened).To(Equal(200))

	write(line("alice", "token-of-alice") + "bob token-of-bob\n") // no hash
	g.Eventually(errOut.String).WithTimeout(time.Minute).Should(ContainSubstring("the users stay as they are: " + file + ": line 2"))
	g.Expect(status("GET", "/sessions/a", "bob", "")).To(Equal(404))
	write(line("alice", "token-of-alice"))
	_, err := io.Copy(io.Discard, stream) // the stream ends
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(status("GET", "/sessions/a", "bob", "")).To(Equal(401))
	g.Expect(status("GET", "/sessions/a", "alice", "")).To(Equal(200))
	g.Eventually(errOut.String).WithTimeout(time.Minute).Should(ContainSubstring("has changed: 1 tokens"))
	g.Expect(os.Remove(file)).To(Succeed())
	g.Eventually(errOut.String).WithTimeout(time.Minute).Should(ContainSubstring("the users stay as they are: open " + file))
	g.Expect(status("GET", "/sessions/a", "alice", "")).To(Equal(200))
	g.Expect(errOut.String()).NotTo(ContainSubstring("token-of-"))
}
