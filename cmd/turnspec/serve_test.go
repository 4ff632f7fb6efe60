package main

import (
	"bufio"
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
)

// curlLine is a line that serve prints: the token, the address, and the body if there
// is one.
var curlLine = regexp.MustCompile(`(?m)^  curl -H 'Authorization: (Bearer \w+)' (?:-N )?(\S+)(?: -d '(.*)')?$`)

// TestServePrintsWhatToDo starts the demo and sends the requests that it prints. What its recording
// does not hold is refused: a denial, and a second message.
func TestServePrintsWhatToDo(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	cmd := exec.Command("turnspec", "serve", "--speed", "1000") // TestMain puts it into PATH
	cmd.Env = append(os.Environ(), "PORT=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cmd.Start()).To(Succeed())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	printed := ""
	for lines := bufio.NewScanner(out); strings.Count(printed, "\n") < 8 && lines.Scan(); {
		printed += lines.Text() + "\n"
	}
	requests := curlLine.FindAllStringSubmatch(printed, -1)
	g.Expect(requests).To(HaveLen(3), printed)
	send := func(authorization, url, body string, refused bool) io.ReadCloser {
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		g.Expect(err).NotTo(HaveOccurred())
		r.Header.Set("Authorization", authorization)
		res, err := http.DefaultClient.Do(r)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(res.StatusCode >= 300).To(Equal(refused), url)
		t.Cleanup(func() { _ = res.Body.Close() })
		return res.Body
	}
	var events io.ReadCloser
	for _, r := range requests {
		events = send(r[1], r[2], r[3], false)
	}
	for lines := bufio.NewScanner(events); lines.Scan(); {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if is && strings.Contains(data, `"type":"permission_request"`) {
			id := regexp.MustCompile(`"request_id":"([^"]+)"`).FindStringSubmatch(data)[1]
			answer := strings.Replace(requests[2][2], "/events", "/permission/"+id, 1)
			reason, err := io.ReadAll(send(requests[0][1], answer, `{"decision":"deny"}`, true))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(reason)).To(ContainSubstring("in its recording the call was allowed"))
			send(requests[0][1], answer, `{"decision":"allow"}`, false)
		}
		if strings.Contains(data, `"type":"done"`) {
			send(requests[1][1], requests[1][2], requests[1][3], true)
			g.Expect(cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	g.Eventually(ended).WithTimeout(time.Minute).Should(Receive(BeNil()))
}

func TestServeRejects(t *testing.T) {
	for args, want := range map[string]string{
		"--runtime none":                      "no runtime",
		"--case none/none":                    "no case",
		"--recover perhaps":                   "use close, resume or leave",
		"--log mysql://db":                    "use postgres:// or nats://",
		"--tokens none":                       "--tokens: open none",
		"--tokens x --no-token":               "none of the others can be",
		"--durable":                           "name a file with --log",
		"--runtime claude --agent-files none": "--agent-files: stat none",
		"--listen 127.0.0.1:abc":              "choose another address",
	} {
		t.Run(args, func(t *testing.T) {
			g := NewWithT(t)
			var errOut strings.Builder
			code := execute(t.Context(), append([]string{"serve"}, strings.Fields(args)...), strings.NewReader(""), io.Discard, &errOut)
			g.Expect(code).To(Equal(exitUsage))
			g.Expect(errOut.String()).To(ContainSubstring(want))
		})
	}
}
