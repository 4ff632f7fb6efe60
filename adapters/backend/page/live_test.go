package page_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/window"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
)

// asking is an adapter whose sessions emit events when a test tells them to, and remember
// what clients do.
type asking struct {
	mu     sync.Mutex
	opened []*askingSession
}

func (*asking) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{Runtime: "asking", Permissions: true}
}

func (a *asking) Open(_ context.Context, o adapters.Options) (adapters.Session, error) {
	s := &askingSession{id: o.SessionID, events: make(chan event.Event), done: make(chan string, 16)}
	a.mu.Lock()
	a.opened = append(a.opened, s)
	a.mu.Unlock()
	go s.emit(0, event.SessionReady{SessionID: s.id, Runtime: "asking"})
	return s, nil
}

type askingSession struct {
	id     string
	events chan event.Event
	done   chan string // what clients did

	mu     sync.Mutex
	seq    int64
	closed bool
}

func (s *askingSession) emit(turn int, data ...event.Data) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range data {
		s.seq++
		s.events <- event.Event{Data: d, TS: time.Now().UTC(), Seq: s.seq, SessionID: s.id, Turn: turn}
	}
}

func (s *askingSession) Events() <-chan event.Event { return s.events }

func (s *askingSession) Send(_ context.Context, m adapters.Message) error {
	go s.emit(1, event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{m.ID}}, event.UserMessage{MessageID: m.ID, Text: m.Text, Via: event.ViaTurn},
		event.Delta{Text: "I ask **first**", MessageID: "a", BlockID: "b1"},
		event.ToolStart{ToolUseID: "t1", Tool: "Bash", Command: "make", Input: event.Raw(`{"command":"make"}`)},
		event.PermissionRequest{RequestID: "q/1", ToolUseID: "t1", ToolName: "Bash", ToolInput: event.Raw(`{"command":"make"}`)})
	s.done <- "send " + m.Text
	return nil
}

func (s *askingSession) Stop(context.Context) error {
	s.done <- "stop"
	go s.emit(1, event.BlockEnd{BlockID: "b1", Status: event.BlockInterrupted}, event.ToolResult{ToolUseID: "t1", Status: event.ToolInterrupted}, event.Done{Stopped: true})
	return nil
}

func (s *askingSession) Answer(_ context.Context, id string, a adapters.Answer) error {
	s.done <- fmt.Sprintf("answer %s %s%s%s", id, a.Decision, a.Scope, string(a.Value))
	if a.Value != nil {
		go s.emit(1, event.InterruptResolved{InterruptID: id, Value: a.Value, By: event.ByUser})
		return nil
	}
	go s.emit(1, event.PermissionResolved{RequestID: id, ToolName: "Bash", Allowed: true, Decision: a.Decision, By: event.ByUser},
		event.ToolOutput{ToolUseID: "t1", Text: "cc main.c\n"},
		event.Interrupt{InterruptID: "i1", ComponentName: "AskUserQuestion", Surface: "chat", Props: event.Raw(`{"questions":[{"question":"Which database?","options":[{"label":"SQLite"},{"label":"Postgres"}]}]}`)})
	return nil
}

func (s *askingSession) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.seq++
	s.events <- event.Event{Data: event.SessionEnd{Reason: "closed"}, TS: time.Now().UTC(), Seq: s.seq, SessionID: s.id}
	close(s.events)
	return nil
}

// did waits for what a client does next.
func (s *askingSession) did(t *testing.T) string {
	t.Helper()
	select {
	case what := <-s.done:
		return what
	case <-time.After(browserLimit):
		t.Fatal("no client did anything")
		return ""
	}
}

// TestPageDrivesASession opens a session in a tab, sends a message, answers and stops, and
// checks that a second tab and a reload show the same. A page of an allowed origin, but of no
// other one, reads the session too.
func TestPageDrivesASession(t *testing.T) {
	g := NewWithT(t)
	b := startBrowser(t)
	a := &asking{}
	blank := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<script>globalThis.turnspec = true</script>")
	})
	allowed, foreign := httptest.NewServer(blank), httptest.NewServer(blank)
	t.Cleanup(allowed.Close)
	t.Cleanup(foreign.Close)
	var requested sync.Map // addresses, as a log of the server would hold them
	s := sidecar.New(sidecar.Config{Adapters: map[string]adapters.Adapter{"asking": a}, Log: window.Keep(&eventlog.Memory{}), Token: "secret-token", Origins: []string{allowed.URL}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested.Store(r.URL.String(), true)
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		_ = s.Shutdown(context.WithoutCancel(t.Context()))
		server.Close()
	})

	one := b.newTab()
	one.open(server.URL + "/")
	one.until(`!document.querySelector("#token").hidden`)
	eval[bool](one, `(document.querySelector("#token-text").value = "secret-token", document.querySelector("#token").requestSubmit(), true)`)
	one.until(`document.querySelector("#token").hidden && document.querySelector("#runtime").options.length === 1`)
	eval[bool](one, `(document.querySelector("#open").requestSubmit(), true)`)
	one.until(`!document.querySelector("#composer").hidden && document.querySelector("#facts").textContent === "asking"`)
	session := a.opened[0]
	eval[bool](one, `(document.querySelector("#text").value = "Build it", document.querySelector("#composer").requestSubmit(), true)`)
	g.Expect(session.did(t)).To(Equal("send Build it"))
	one.until(`document.querySelector("#messages form[data-answer=permission]") !== null && document.querySelector("#messages strong") !== null`)

	two := b.newTab()
	two.open(server.URL + "/#token=secret-token&session=" + session.id)
	same := func(what string) {
		t.Helper()
		two.until(what)
		one.until(what)
		const drawn = `["title", "messages", "surfaces", "facts", "status"].map((id) => document.getElementById(id).innerHTML).join("\n")`
		g.Expect(eval[string](two, drawn)).To(Equal(eval[string](one, drawn)))
	}
	same(`document.querySelector("#messages form[data-answer=permission]") !== null && document.querySelector("#title").textContent === "Build it"`)
	if dir := os.Getenv("TURNSPEC_SCREENSHOTS"); dir != "" {
		two.look(1000, 700, "light")
		two.screenshot(filepath.Join(dir, "live.png"))
		two.look(380, 700, "dark")
		two.screenshot(filepath.Join(dir, "live-narrow.png"))
	}
	g.Expect(eval[string](two, `location.href`)).NotTo(ContainSubstring("secret-token"))
	eval[bool](two, `(document.querySelector("#messages button[value=session]").click(), true)`)
	g.Expect(session.did(t)).To(Equal("answer q/1 allowsession"))
	same(`document.querySelector("#messages form[data-answer=interrupt]") !== null`)
	eval[bool](one, `(document.querySelector("#messages input[value=Postgres]").click(), document.querySelector("#messages button[value=answer]").click(), true)`)
	g.Expect(session.did(t)).To(Equal(`answer i1 {"Which database?":"Postgres"}`))
	same(`document.querySelector("#messages [data-status=answered]") !== null`)

	server.CloseClientConnections() // both reconnect
	session.emit(1, event.Delta{Text: " and go on", MessageID: "a", BlockID: "b1"})
	same(`document.querySelector("#messages").textContent.includes("I ask first and go on")`)
	two.must("Page.reload", nil, nil)
	two.until(`globalThis.turnspec !== undefined && document.querySelector("#messages article") !== null`)
	same(`document.querySelector("#messages").textContent.includes("I ask first and go on")`)
	eval[bool](one, `(document.querySelector("#stop").click(), true)`)
	g.Expect(session.did(t)).To(Equal("stop"))
	same(`document.querySelector("#messages").textContent.includes("Stopped")`)
	stream := `(async () => {
		const r = await fetch("` + server.URL + `/sessions/` + session.id + `/events", {headers: {Authorization: "Bearer secret-token", "Last-Event-ID": "2"}});
		const reader = r.body.getReader();
		for (let text = ""; !text.includes("I ask"); ) {
			const { value, done } = await reader.read();
			if (done) return "the stream ended: " + text;
			text += new TextDecoder().decode(value);
		}
		return String(r.status);
	})().catch(String)`
	for page, want := range map[string]string{allowed.URL: "200", foreign.URL: "TypeError: Failed to fetch"} {
		other := b.newTab()
		other.open(page)
		g.Expect(eval[string](other, stream)).To(Equal(want))
	}
	requested.Range(func(address, _ any) bool {
		g.Expect(address).NotTo(ContainSubstring("secret-token"))
		return true
	})
}

// TestPageIsServed checks the answer that holds the page.
func TestPageIsServed(t *testing.T) {
	g := NewWithT(t)
	s := sidecar.New(sidecar.Config{Adapters: map[string]adapters.Adapter{"asking": &asking{}}, Log: &eventlog.Memory{}, Token: "secret"})
	get := func(path, host string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = host
		s.ServeHTTP(w, r)
		return w
	}
	w := get("/", "localhost")
	g.Expect(w.Code).To(Equal(http.StatusOK))
	policy := w.Header().Get("Content-Security-Policy")
	g.Expect(policy).To(And(HavePrefix("default-src 'none'; script-src 'sha256-"), ContainSubstring("frame-ancestors 'none'"), ContainSubstring("form-action 'none'"), Not(ContainSubstring("unsafe"))))
	g.Expect(w.Body.String()).NotTo(ContainSubstring("secret"))
	g.Expect(strings.Count(w.Body.String(), "\n")).To(BeNumerically(">", 300))
	g.Expect(get("/", "attacker.example").Code).To(Equal(http.StatusForbidden))
	g.Expect(get("/sessions", "localhost").Code).To(Equal(http.StatusUnauthorized))
	g.Expect(get("/other", "localhost").Code).To(Equal(http.StatusUnauthorized))
}
