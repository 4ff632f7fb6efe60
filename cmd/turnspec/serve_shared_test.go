package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v3"

	"github.com/turnspec/turnspec/adapters/backend/eventlog/testserver"
)

// sharedServer is a `turnspec serve`, such as one that shares its log with others.
type sharedServer struct {
	t   *testing.T
	cmd *exec.Cmd
	url string
}

func startShared(t *testing.T, log string, args ...string) sharedServer {
	t.Helper()
	return startServer(t, exec.Command("turnspec", append([]string{"serve", "--speed", "1000", "--no-token", "--lease", "3s", "--log", log}, args...)...))
}

// startServer starts a `turnspec serve`, and returns when it listens.
func startServer(t *testing.T, cmd *exec.Cmd, env ...string) sharedServer {
	t.Helper()
	return startServerInto(t, os.Stderr, cmd, env...)
}

// startServerInto is startServer with another place for what the server prints on stderr.
func startServerInto(t *testing.T, errOut io.Writer, cmd *exec.Cmd, env ...string) sharedServer {
	t.Helper()
	cmd.Env, cmd.Stderr = append(append(os.Environ(), "PORT=0"), env...), errOut
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Scan()
	url := regexp.MustCompile(`http://[^,\s]+`).FindString(lines.Text())
	if url == "" {
		t.Fatalf("serve printed %q", lines.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return sharedServer{t, cmd, url}
}

// call sends a request and returns the status and the answer.
func (s sharedServer) call(method, path, body string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// listen returns the lines of a stream of events, until it ends.
func (s sharedServer) listen(path string) *bufio.Scanner {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(res.Body)
		s.t.Fatalf("%s: %s %s", path, res.Status, b)
	}
	return bufio.NewScanner(res.Body)
}

// TestDeployedCommands parses the commands of the files for docker compose and systemd.
func TestDeployedCommands(t *testing.T) {
	g := NewWithT(t)
	var compose struct {
		Services map[string]struct{ Command []string }
	}
	b, err := os.ReadFile("../../adapters/backend/sidecar/deploy/compose.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(yaml.Unmarshal(b, &compose)).To(Succeed())
	unit, err := os.ReadFile("../../adapters/backend/sidecar/deploy/turnspec.service")
	g.Expect(err).NotTo(HaveOccurred())
	start := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/turnspec (.*)$`).FindSubmatch(unit)
	g.Expect(start).To(HaveLen(2))
	commands := [][]string{strings.Fields(string(start[1]))}
	for _, s := range compose.Services {
		if len(s.Command) > 0 {
			commands = append(commands, s.Command)
		}
	}
	g.Expect(commands).To(HaveLen(3))
	for _, c := range commands {
		g.Expect(c[0]).To(Equal("serve"))
		g.Expect(serveCmd().ParseFlags(c[1:])).To(Succeed())
	}
}

// TestSharedLog kills the server that runs a session in the middle of a turn. Another
// server ends the session, with a typed error, and its listener receives each event once.
func TestSharedLog(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"postgres", "nats"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var log string
			if name == "nats" {
				log = testserver.StartNATS(t).URL()
			} else {
				log = testserver.StartPostgres(t).NewSchema()
			}
			runs, other := startShared(t, log), startShared(t, log)
			status, answer := runs.call("POST", "/sessions", `{"session_id":"s"}`)
			g.Expect(status).To(Equal(http.StatusCreated), answer)
			status, answer = runs.call("POST", "/sessions/s/message", `{"message":"anything"}`)
			g.Expect(status).To(Equal(http.StatusAccepted), answer)
			status, answer = other.call("POST", "/sessions/s/stop", "{}")
			g.Expect(status).To(Equal(http.StatusMisdirectedRequest), answer)
			g.Expect(answer).To(And(ContainSubstring(`"elsewhere"`), ContainSubstring(runs.url)))

			// Another server knows a session before its first event is stored.
			status, answer = other.call("GET", "/sessions/s/history", "")
			g.Expect(status).To(Equal(http.StatusOK), answer)

			var killed time.Time
			seen, last := "", 0
			for lines := other.listen("/sessions/s/events?after=0"); lines.Scan(); {
				if id, is := strings.CutPrefix(lines.Text(), "id: "); is {
					last++
					g.Expect(id).To(Equal(fmt.Sprint(last)))
				}
				if event, is := strings.CutPrefix(lines.Text(), "event: "); is {
					seen += event + " "
				}
				if killed.IsZero() && strings.Contains(lines.Text(), `"type":"permission_request"`) {
					killed = time.Now()
					g.Expect(runs.cmd.Process.Signal(syscall.SIGKILL)).To(Succeed())
				}
			}
			g.Expect(killed).NotTo(BeZero(), seen)
			g.Expect(seen).To(HaveSuffix("error session_end "))
			g.Expect(time.Since(killed)).To(BeNumerically("<", 20*time.Second)) // a second and a half on an idle machine
			_, answer = other.call("GET", "/sessions/s", "")
			g.Expect(answer).To(ContainSubstring(`"failed"`))
			_, answer = other.call("GET", "/sessions/s/history", "")
			g.Expect(answer).To(ContainSubstring(`"crash"`))
		})
	}
}
