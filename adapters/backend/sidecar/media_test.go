package sidecar_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
)

// give lets a session give a medium of a type, and returns its hash when its turn has ended.
func (x *server) give(id, kind string) string {
	x.t.Helper()
	l := x.listen("/sessions/" + id + "/events")
	defer l.close()
	if status, answer := x.call("POST", "/sessions/"+id+"/message", fmt.Sprintf(`{"message":%q,"message_id":%q}`, "give "+kind, kind)); status != http.StatusAccepted {
		x.t.Fatalf("give: %d %v", status, answer)
	}
	for range 1 + len(x.given) {
		l.until("done")
	}
	x.given = append(x.given, kind)
	return mediumOf(kind).SHA256
}

// get returns the status, the header and the body of an answer.
func (x *server) get(path string, header ...string) (int, http.Header, string) {
	x.t.Helper()
	r, err := http.NewRequest(http.MethodGet, x.http.URL+path, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

func TestMedia(t *testing.T) {
	x := newServer(t, sidecar.Config{})
	x.open("s")
	for _, c := range []struct{ kind, contentType, disposition string }{
		{"image/png", "image/png", "inline"},
		{"IMAGE/JPEG; a=b", "image/jpeg", "inline"},
		{"audio/wav", "audio/wav", "inline"},
		{"image/svg+xml", "image/svg+xml", "attachment"},
		{"text/html; charset=utf-8", "text/html; charset=utf-8", "attachment"},
		{"application/pdf", "application/pdf", "attachment"},
		{"no type", "application/octet-stream", "attachment"},
		{"image", "application/octet-stream", "attachment"},
		{"image/png\r\nX-Injected: 1", "application/octet-stream", "attachment"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			g := NewWithT(t)
			hash := x.give("s", c.kind)
			status, h, body := x.get("/sessions/s/media/" + hash)
			g.Expect(status).To(Equal(http.StatusOK))
			g.Expect(body).To(Equal(c.kind))
			g.Expect(h).NotTo(HaveKey("X-Injected"))
			for name, want := range map[string]string{
				"Content-Type": c.contentType, "Content-Disposition": c.disposition, "X-Content-Type-Options": "nosniff",
				"Content-Security-Policy": "default-src 'none'; sandbox", "Cross-Origin-Resource-Policy": "same-origin",
				"Cache-Control": "private, max-age=31536000, immutable", "ETag": `"` + hash + `"`, "Content-Length": fmt.Sprint(len(c.kind)),
			} {
				g.Expect(h.Get(name)).To(Equal(want), name)
			}
			status, _, body = x.get("/sessions/s/media/"+hash, "If-None-Match", `"`+hash+`"`)
			g.Expect(status).To(Equal(http.StatusNotModified))
			g.Expect(body).To(BeEmpty())
			status, _, body = x.get("/sessions/s/media/"+hash, "Range", "bytes=1-2")
			g.Expect(status).To(Equal(http.StatusPartialContent))
			g.Expect(body).To(Equal(c.kind[1:3]))
		})
	}
}

func TestMediaRefusals(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	x.open("t")
	hash := x.give("s", "image/png")
	for _, path := range []string{"/sessions/t/media/" + hash, "/sessions/s/media/" + mediumOf("image/gif").SHA256, "/sessions/s/media/" + hash[:8], "/sessions/s/media/x"} {
		status, answer := x.call("GET", path, "")
		g.Expect(status).To(Equal(404), path)
		g.Expect(code(answer)).To(Equal(sidecar.CodeUnknownMedia), path)
	}
	status, answer := x.call("GET", "/sessions/none/media/"+hash, "")
	g.Expect(status).To(Equal(404))
	g.Expect(code(answer)).To(Equal(sidecar.CodeUnknownID))
	status, _ = x.call("POST", "/sessions/s/media/"+hash, "{}")
	g.Expect(status).To(Equal(405))

	status, _ = x.call("DELETE", "/sessions/s", "")
	g.Expect(status).To(Equal(200))
	status, _, _ = x.get("/sessions/s/media/" + hash)
	g.Expect(status).To(Equal(200), "also after the session ended")
}

// TestMediaOfANewSession checks that a session is known before its first event is stored.
func TestMediaOfANewSession(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.adapter.hold = make(chan struct{})
	x.open("s")
	status, answer := x.call("GET", "/sessions/s/media/"+mediumOf("image/png").SHA256, "")
	close(x.adapter.hold)
	g.Expect(status).To(Equal(404))
	g.Expect(code(answer)).To(Equal(sidecar.CodeUnknownMedia))
}

// TestMediaGuard checks that media need what other routes need.
func TestMediaGuard(t *testing.T) {
	x := newServer(t, sidecar.Config{Token: "secret"})
	for _, c := range []struct {
		status int
		header []string
	}{
		{401, nil},
		{403, []string{"Authorization", "Bearer secret", "Origin", "http://attacker.example"}},
		{403, []string{"Authorization", "Bearer secret", "Host", "attacker.example"}},
		{404, []string{"Authorization", "Bearer secret"}},
	} {
		if status, _ := x.call("GET", "/sessions/s/media/"+mediumOf("image/png").SHA256, "", c.header...); status != c.status {
			t.Errorf("%v: %d, want %d", c.header, status, c.status)
		}
	}
}

// noMedia is a log that stores no media.
type noMedia struct{ eventlog.Memory }

func (*noMedia) PutMedia(context.Context, string, event.Media, []byte) error {
	return eventlog.ErrReadOnly
}

// TestMediaFailed checks that a session goes on if its media cannot be stored, and that the
// function of the server's options receives them all the same.
func TestMediaFailed(t *testing.T) {
	g := NewWithT(t)
	var mu sync.Mutex
	var seen, failed []string
	x := newServer(t, sidecar.Config{
		Log: &noMedia{},
		Base: adapters.Options{Media: func(_ event.Media, data []byte) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, string(data))
		}},
		MediaFailed: func(session string, m event.Media, err error) {
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, fmt.Sprint(session, " ", m.MIME, " ", err))
		},
	})
	x.open("s")
	hash := x.give("s", "image/png")
	status, answer := x.call("GET", "/sessions/s/media/"+hash, "")
	g.Expect(status).To(Equal(404))
	g.Expect(code(answer)).To(Equal(sidecar.CodeUnknownMedia))
	mu.Lock()
	defer mu.Unlock()
	g.Expect(seen).To(Equal([]string{"image/png"}))
	g.Expect(failed).To(ConsistOf(HavePrefix("s image/png ")))
}
