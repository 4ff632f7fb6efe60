package standin

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// TestServesHTTP lets an HTTP client perform a turn with the stand-in of a server, which
// SIGTERM ends as it ends the server.
func TestServesHTTP(t *testing.T) {
	g := NewWithT(t)
	c, err := fixtures.Embedded().LoadCase("opencode/1.18.33/text/plain")
	g.Expect(err).NotTo(HaveOccurred())
	argv := []string{"opencode", "serve", "--port=0"}
	printed, stdout := io.Pipe()
	front, err := listenHTTP(runtimes.Find(c.Runtime), c.Version, argv, stdout)
	g.Expect(err).NotTo(HaveOccurred())
	signals, exited := make(chan proc.Signal), make(chan proc.Exit, 1)
	var play *Play
	go func() {
		var e proc.Exit
		e, play = serve(t.Context(), c, Options{}, argv, front.endAtTERM(signals), front.requests, front.replies, io.Discard)
		exited <- front.close(e)
	}()
	line, err := bufio.NewReader(printed).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	base, ok := strings.CutPrefix(strings.TrimSpace(line), "opencode server listening on ")
	g.Expect(ok).To(BeTrue(), line)

	events, err := http.Get(base + "/event")
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = events.Body.Close() }()
	g.Expect(events.Header.Get("Content-Type")).To(Equal("text/event-stream"))
	post := func(path, body string) (int, string) {
		resp, err := http.Post(base+path, "application/json", strings.NewReader(body))
		g.Expect(err).NotTo(HaveOccurred())
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		g.Expect(err).NotTo(HaveOccurred())
		return resp.StatusCode, string(b)
	}
	status, body := post("/session", `{"permission":[{"permission":"*","pattern":"*","action":"allow"}],"title":"Three rivers"}`)
	g.Expect(status).To(Equal(http.StatusOK), body)
	_, session, _ := strings.Cut(body, `"id":"`)
	session, _, _ = strings.Cut(session, `"`)
	status, body = post("/session/"+session+"/prompt_async", `{"parts":[{"type":"text","text":"Name three rivers."}]}`)
	g.Expect(status).To(Equal(http.StatusNoContent), body)
	var text strings.Builder
	in := bufio.NewScanner(events.Body)
	for in.Scan() && !strings.Contains(in.Text(), `"session.idle"`) {
		if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
			text.WriteString(TextDelta("opencode", []byte(`{"id":1,"data":`+data+`}`)))
		}
	}
	g.Expect(in.Err()).NotTo(HaveOccurred())
	g.Expect(text.String()).To(Equal("The Danube, the Nile and the Mekong."))

	signals <- proc.SIGTERM
	g.Expect(<-exited).To(Equal(proc.Exit{Code: -1, Signal: proc.SIGTERM}))
	g.Expect(play.Unrecorded()).To(BeEmpty())
	g.Expect(play.Violations()).To(BeEmpty())
}

// A runtime that reads stdin serves no HTTP.
func TestServesNoHTTP(t *testing.T) {
	_, err := listenHTTP(runtimes.Find("codex"), "1", []string{"codex"}, io.Discard)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("codex serves no HTTP")))
}
