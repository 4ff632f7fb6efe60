package sse_test

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// brokenSidecars are the server of this module with one defect each, and the
// check that must fail.
var brokenSidecars = map[string]struct {
	wrap       func(http.Handler) http.Handler
	fails      string
	unrecorded bool // the runtime is sent what the client did not do: that is a failure of its own, and other checks give no verdict
	on         string
}{
	"loses the event after a cursor": {wrap: changeReturns(func(n int, frame string) string {
		if n == 0 {
			return ""
		}
		return frame
	}), fails: "server.resume"},
	"repeats the event of a cursor": {wrap: changeReturns(func(n int, frame string) string {
		if n == 0 {
			return frame + frame
		}
		return frame
	}), fails: "server.resume"},
	"gives its events no ids": {wrap: changeStreams(func(_ int, frame string) string {
		_, rest, _ := strings.Cut(frame, "\n")
		return rest
	}), fails: "server.resume"},
	"begins again at an unknown cursor": {wrap: changeRequests(func(r *http.Request) {
		if len(r.Header.Get("Last-Event-ID")) > 3 {
			r.Header.Del("Last-Event-ID")
		}
	}), fails: "server.cursor"},
	"runs a repeated message": {wrap: changeBodies("/message", func(body string, n int) string {
		if n > 0 {
			return strings.Replace(body, `"message_id":"`, `"message_id":"again-`, 1)
		}
		return body
	}), fails: "server.once", unrecorded: true},
	"forgets an option": {wrap: changeBodies("/sessions", func(body string, _ int) string {
		return strings.Replace(body, `,"effort":"high"`, "", 1)
	}), fails: "session.open-options", on: "session/opened-with-an-effort"},
	"sends no comments":                {wrap: withoutComments, fails: "server.heartbeat"},
	"ends the listening of browsers":   {wrap: answerIdleWith204, fails: "server.no-content"},
	"ends a session without listeners": {wrap: endWithoutListeners, fails: "server.without-listeners", on: "text/plain"},
	"trusts each page":                 {wrap: changeRequests(func(r *http.Request) { r.Header.Del("Origin") }), fails: "server.guard"},
	"trusts each name":                 {wrap: changeRequests(func(r *http.Request) { r.Host = "localhost" }), fails: "server.guard"},
	"reads large bodies": {wrap: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > 1<<20 {
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(http.StatusNotFound)
				return
			}
			next.ServeHTTP(w, r)
		})
	}, fails: "server.guard"},
	"serves no media": {wrap: changeMedia(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusNotFound) }),
		fails: "server.media", on: "image/looked-at"},
	"serves the first bytes of media": {wrap: changeMedia(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.Header.Set("Range", "bytes=0-9")
		next.ServeHTTP(alwaysOK{w}, r)
	}), fails: "server.media", on: "image/looked-at"},
	"serves all media as bytes": {wrap: changeMedia(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(changedHeader{w, "Content-Type", "application/octet-stream"}, r)
	}), fails: "server.media", on: "image/looked-at"},
	"lets browsers guess the types of media": {wrap: changeMedia(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(changedHeader{w, "X-Content-Type-Options", ""}, r)
	}), fails: "server.media", on: "image/looked-at"},
	"serves media of other sessions": {wrap: changeMedia(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		r.URL.Path = strings.Replace(r.URL.Path, "-other/", "/", 1)
		next.ServeHTTP(w, r)
	}), fails: "server.media", on: "image/looked-at"},
	"answers each hash": {wrap: changeMedia(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "0000") {
			w = alwaysOK{w}
		}
		next.ServeHTTP(w, r)
	}), fails: "server.media", on: "image/looked-at"},
}

// changeMedia changes the answers with media.
func changeMedia(serve func(w http.ResponseWriter, r *http.Request, next http.Handler)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.URL.Path, "/media/") {
				next.ServeHTTP(w, r)
				return
			}
			serve(w, r, next)
		})
	}
}

// alwaysOK answers with 200.
type alwaysOK struct{ http.ResponseWriter }

func (a alwaysOK) WriteHeader(int) { a.ResponseWriter.WriteHeader(http.StatusOK) }

// changedHeader sets a header of an answer.
type changedHeader struct {
	http.ResponseWriter
	name, value string
}

func (c changedHeader) WriteHeader(status int) {
	c.Header().Set(c.name, c.value)
	c.ResponseWriter.WriteHeader(status)
}

// changeRequests changes each request.
func changeRequests(change func(*http.Request)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			change(r)
			next.ServeHTTP(w, r)
		})
	}
}

// changeBodies changes the bodies of the n-th requests to a path that ends so.
func changeBodies(path string, change func(body string, n int) string) func(http.Handler) http.Handler {
	n := 0 // requests of a session come one after the other
	return changeRequests(func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, path) {
			b, _ := io.ReadAll(r.Body)
			text := change(string(b), n)
			n++
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		}
	})
}

// changeReturns changes the n-th event of each stream that continues after a cursor.
func changeReturns(change func(n int, frame string) string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		changed := changeStreams(change)(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Last-Event-ID") == "" {
				next.ServeHTTP(w, r)
				return
			}
			changed.ServeHTTP(w, r)
		})
	}
}

// changeStreams changes the n-th event of each stream.
func changeStreams(change func(n int, frame string) string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/events") {
				next.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(&changedStream{ResponseWriter: w, change: change}, r)
		})
	}
}

// changedStream writes changed events.
type changedStream struct {
	http.ResponseWriter
	change func(n int, frame string) string
	n      int
	rest   bytes.Buffer
}

// Unwrap lets http.ResponseController flush.
func (c *changedStream) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *changedStream) Write(b []byte) (int, error) {
	c.rest.Write(b)
	for {
		frame, rest, whole := strings.Cut(c.rest.String(), "\n\n")
		if !whole {
			return len(b), nil
		}
		frame += "\n\n"
		c.rest.Reset()
		c.rest.WriteString(rest)
		if !strings.HasPrefix(frame, ":") {
			frame = c.change(c.n, frame)
			c.n++
		}
		if _, err := io.WriteString(c.ResponseWriter, frame); err != nil {
			return 0, err
		}
	}
}

// TestBrokenSidecarsFailServerChecks proves the checks of the server topic.
func TestBrokenSidecarsFailServerChecks(t *testing.T) {
	t.Parallel()
	for name, b := range brokenSidecars {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			var failed map[string][]string
			for range 3 { // on a busy machine a server may notice too late that its listeners have left
				failed, _ = judged(t, of(t, name, "claude"), noFaults, "claude/newest/"+cmp.Or(b.on, "tool/text-tool-text-three-rounds"))
				if failed[b.fails] != nil {
					break
				}
			}
			g.Expect(failed).To(HaveKey(b.fails))
			delete(failed, b.fails)
			for id, problems := range failed {
				if b.unrecorded && (strings.Contains(problems[0], "unrecorded") || id == "wire.valid-input") {
					delete(failed, id)
				}
			}
			g.Expect(failed).To(BeEmpty(), "it has one defect")
		})
	}
}

// TestServerChecksPass checks that the server of this module is judged by each of them.
func TestServerChecksPass(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	failed, passed := judged(t, of(t, "served", "claude"), noFaults, "claude/newest/tool/text-tool-text-three-rounds", "claude/newest/stop/mid-text", "claude/newest/session/resume-in-a-new-process", "claude/newest/text/plain")
	g.Expect(failed).To(BeEmpty())
	for _, id := range []string{"server.resume", "server.cursor", "server.no-content", "server.heartbeat", "server.once", "server.guard"} {
		g.Expect(passed).To(HaveKeyWithValue(id, 4))
	}
	for _, id := range []string{"server.without-listeners", "process.sigterm", "process.sigint", "process.sighup"} {
		g.Expect(passed).To(HaveKeyWithValue(id, 1))
	}
	failed, passed = judged(t, of(t, "served", "claude"), noFaults, "claude/newest/image/looked-at", "claude/newest/mcp/gives-an-image")
	g.Expect(failed).To(BeEmpty())
	g.Expect(passed).To(HaveKeyWithValue("server.media", 2))
}
