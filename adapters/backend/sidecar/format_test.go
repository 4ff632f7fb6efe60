package sidecar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/dialect/dialects"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// messagesOf returns the messages of a stored session, each with its id.
func messagesOf(t *testing.T, log eventlog.Log, d dialects.Dialect) (out []frame) {
	t.Helper()
	translate := d.New()
	for e, err := range eventlog.All(t.Context(), log, "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range translate(e) {
			out = append(out, frame{id: fmt.Sprintf("%d.%d", e.Seq, i+1), data: string(m.Line)})
		}
	}
	return out
}

// TestFormats reads a stored session in each dialect, in one piece and again after each message.
func TestFormats(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	for _, text := range []string{"3", "0", "2"} {
		x.call("POST", "/sessions/s/message", `{"message":"`+text+`"}`)
		x.listen("/sessions/s/events").until("done")
		g.Eventually(func() any { _, run := x.call("GET", "/sessions/s", ""); return run["state"] }).Should(Equal("completed"))
	}
	x.call("DELETE", "/sessions/s", "")
	for _, name := range dialects.Names() {
		d, _ := dialects.Of(name)
		want := messagesOf(t, x.log, d)
		for i := range want {
			var got []frame
			header := []string{"Last-Event-ID", "0"}
			if i > 0 {
				header[1] = want[i-1].id
			}
			for len(got) < len(want)-i {
				l := x.listen("/sessions/s/events?format="+name, header...)
				all := l.until("")
				g.Expect(all).NotTo(BeEmpty(), name)
				all = slices.DeleteFunc(all, func(f frame) bool { return f.data == d.AfterStream })
				got = append(got, all...)
				header[1] = got[len(got)-1].id
				l.close()
			}
			g.Expect(got).To(Equal(want[i:]), "%s after message %d", name, i)
		}
	}
}

// TestFormatOfTheRunningTurn lets a listener attach to a turn, and leave with it.
func TestFormatOfTheRunningTurn(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	status, _ := x.call("GET", "/sessions/s/events?format=uistream", "")
	g.Expect(status).To(Equal(204), "no turn runs")
	x.call("POST", "/sessions/s/message", `{"message":"2"}`)
	x.listen("/sessions/s/events").until("done")
	x.call("POST", "/sessions/s/message", `{"message":"wait","message_id":"m2"}`)
	l := x.listen("/sessions/s/events?format=uistream")
	g.Expect(l.res.Header.Get("X-Vercel-Ai-Ui-Message-Stream")).To(Equal("v1"))
	first, _ := l.next()
	g.Expect(first.data).To(HavePrefix(`{"type":"start","messageId":"s/2"`))
	x.call("POST", "/sessions/s/stop", "")
	all := l.until("")
	g.Expect(all[len(all)-1].data).To(Equal("[DONE]"))
	g.Expect(all[len(all)-2].data).To(HavePrefix(`{"type":"finish"`))
	g.Expect(strings.Count(fmt.Sprint(all), "tool-input-available")).To(Equal(1))

	status, answer := x.call("GET", "/sessions/s/events?format=html", "")
	g.Expect(status).To(Equal(400))
	g.Expect(code(answer)).To(Equal(sidecar.CodeInvalid))
	for _, cursor := range []string{"x", "1.x", "-1", "0.1", "1.-1"} {
		status, _ = x.call("GET", "/sessions/s/events?format=agui&after="+cursor, "")
		g.Expect(status).To(Equal(400), cursor)
	}
	status, _ = x.call("GET", "/sessions/s/events?format=agui&after=999", "")
	g.Expect(status).To(Equal(409))
}

// TestFormatByAccept chooses a dialect by Accept. The address is preferred.
func TestFormatByAccept(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{})
	x.open("s")
	x.call("POST", "/sessions/s/message", `{"message":"1"}`)
	x.listen("/sessions/s/events").until("done")
	x.call("DELETE", "/sessions/s", "")
	for _, c := range []struct{ query, accept, first string }{
		{"", "", `{"type":"session_ready"`},
		{"", "text/event-stream", `{"type":"session_ready"`},
		{"", "text/event-stream; q=0.5, */*", `{"type":"session_ready"`},
		{"", "text/event-stream; format=agui", `{"type":"RUN_STARTED"`},
		{"", `application/json, TEXT/Event-Stream; Format="uistream"; q=0.9`, `{"type":"start"`},
		{"", "text/event-stream; format=wsmessages, text/event-stream", `{"type":"text_delta"`},
		{"?format=agentui", "text/event-stream; format=agui", `{"type":"session.opened"`},
	} {
		l := x.listen("/sessions/s/events"+c.query, "Accept", c.accept, "Last-Event-ID", "0")
		first, _ := l.next()
		g.Expect(first.data).To(HavePrefix(c.first), "%+v", c)
		g.Expect(l.res.Header.Values("Vary")).To(ContainElement("Accept"))
		l.close()
	}
	status, answer := x.call("GET", "/sessions/s/events", "", "Accept", "text/event-stream; format=html")
	g.Expect(status).To(Equal(400))
	g.Expect(code(answer)).To(Equal(sidecar.CodeInvalid))
}
