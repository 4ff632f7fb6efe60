package httplines_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/httplines"
)

// TestBrokenServers lets a server write lines of the wrong form while two requests run. What
// fails is the request that is concerned, or both if any may be, and nothing hangs. The test
// runs in a bubble, where a hang is a failure.
func TestBrokenServers(t *testing.T) {
	const (
		head = `{"id":1,"status":200,"stream":true}`
		good = `{"id":2,"status":200,"body":{"ok":true}}`
	)
	for _, c := range []struct {
		name, lines, first, second string
		bad                        int
	}{
		{name: "all is well", lines: head + "\n" + `{"id":1,"data":1}` + "\n" + `{"id":1,"end":true}` + "\n" + good, first: "data: 1\n\n", second: `{"ok":true}`},
		{name: "garbage", lines: "rain\n" + head + "\nrain\n" + `{"id":1,"end":true}` + "\n" + good, first: "", second: `{"ok":true}`, bad: 2},
		{name: "an array", lines: "[]\n" + head + "\n" + `{"id":1,"end":true}` + "\n" + good, second: `{"ok":true}`, bad: 1},
		{name: "unknown id", lines: `{"id":9,"status":200}` + "\n" + head + "\n" + `{"id":1,"end":true}` + "\n" + good, second: `{"ok":true}`, bad: 1},
		{name: "no id", lines: `{"status":200}` + "\n" + head + "\n" + `{"id":1,"end":true}` + "\n" + good, second: `{"ok":true}`, bad: 1},
		{name: "a status that is text", lines: `{"id":1,"status":"200"}` + "\n" + good, first: "error", second: `{"ok":true}`},
		{name: "no status", lines: `{"id":1,"data":1}` + "\n" + good, first: "error", second: `{"ok":true}`},
		{name: "two statuses", lines: head + "\n" + head + "\n" + good, first: "error", second: `{"ok":true}`},
		{name: "a part without data", lines: head + "\n" + `{"id":1}` + "\n" + `{"id":1,"end":true}` + "\n" + good, second: `{"ok":true}`, bad: 1},
		{name: "a part that does not parse", lines: head + "\n" + `{"id":1,"data":1,"event":[]}` + "\n" + good, first: "error", second: `{"ok":true}`},
		{name: "an error", lines: `{"id":1,"error":"connection reset"}` + "\n" + good, first: "error", second: `{"ok":true}`},
		{name: "an error in the stream", lines: head + "\n" + `{"id":1,"data":1}` + "\n" + `{"id":1,"error":"cut"}` + "\n" + good, first: "data: 1\n\nerror", second: `{"ok":true}`},
		{name: "a reply after its end", lines: head + "\n" + `{"id":1,"end":true}` + "\n" + `{"id":1,"data":7}` + "\n" + good, second: `{"ok":true}`},
		{name: "an end before the replies", lines: "", first: "error", second: "error"},
		{name: "an end in a stream", lines: head + "\n" + `{"id":1,"data":1}`, first: "data: 1\n\nerror", second: "error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var first, second string
			bad := 0
			synctest.Test(t, func(t *testing.T) {
				tr := httplines.NewTransport(func([]byte) error { return nil })
				tr.BadLine = func([]byte, error) { bad++ }
				a, b := startGet(t, tr), startGet(t, tr)
				if err := tr.Read(strings.NewReader(c.lines)); err != nil {
					t.Error(err)
				}
				first, second = <-a, <-b
			})
			g.Expect(first).To(gomega.Equal(c.first))
			g.Expect(second).To(gomega.Equal(c.second))
			g.Expect(bad).To(gomega.Equal(c.bad))
		})
	}
}

// startGet sends a request, and returns when it was written. The channel gets the body, and
// "error" if the request or its body fails.
func startGet(t *testing.T, tr *httplines.Transport) <-chan string {
	t.Helper()
	out := make(chan string, 1)
	go func() {
		resp, err := (&http.Client{Transport: tr}).Get("http://lines/v1")
		if err != nil {
			out <- "error"
			return
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			b = append(b, "error"...)
		}
		out <- string(b)
	}()
	synctest.Wait()
	return out
}

// TestWithoutBadLine: a line that cannot be read fails each request, because any of them may
// have lost it.
func TestWithoutBadLine(t *testing.T) {
	g := gomega.NewWithT(t)
	var first, second string
	var err error
	synctest.Test(t, func(t *testing.T) {
		tr := httplines.NewTransport(func([]byte) error { return nil })
		a, b := startGet(t, tr), startGet(t, tr)
		err = tr.Read(strings.NewReader("rain\n"))
		first, second = <-a, <-b
	})
	g.Expect(err).To(gomega.MatchError(httplines.ErrLine))
	g.Expect([]string{first, second}).To(gomega.Equal([]string{"error", "error"}))
}

// TestSlowReader: the lines of a stream wait for a reader that is far behind.
func TestSlowReader(t *testing.T) {
	g := gomega.NewWithT(t)
	var blocked, unblocked bool
	var n int64
	synctest.Test(t, func(t *testing.T) {
		tr := httplines.NewTransport(func([]byte) error { return nil })
		bodies := make(chan io.ReadCloser, 1)
		go func() {
			resp, err := (&http.Client{Transport: tr}).Get("http://lines/v1") //nolint:bodyclose // the receiver closes it
			if err != nil {
				t.Error(err)
				close(bodies)
				return
			}
			bodies <- resp.Body
		}()
		synctest.Wait()
		_ = tr.Handle([]byte(`{"id":1,"status":200,"stream":true}`))
		done := make(chan bool)
		go func() {
			part := `{"id":1,"data":"` + strings.Repeat("x", 64<<10) + `"}`
			for range 40 {
				_ = tr.Handle([]byte(part))
			}
			_ = tr.Handle([]byte(`{"id":1,"end":true}`))
			close(done)
		}()
		body := <-bodies
		time.Sleep(time.Second)
		select {
		case <-done:
		default:
			blocked = true
		}
		n, _ = io.Copy(io.Discard, body)
		<-done
		unblocked = true
		_ = body.Close()
	})
	g.Expect(blocked).To(gomega.BeTrue(), "40 parts of 64 KiB were buffered")
	g.Expect(unblocked).To(gomega.BeTrue())
	g.Expect(n).To(gomega.BeNumerically(">", 40*64<<10))
}
