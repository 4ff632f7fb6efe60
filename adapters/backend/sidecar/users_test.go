package sidecar_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/backend/exchange"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// tokenLine returns the line of a user.
func tokenLine(name, token string) string {
	return fmt.Sprintf("%s sha256:%x\n", name, sha256.Sum256([]byte(token)))
}

// usersOf returns users whose tokens are "of " and their names.
func usersOf(t *testing.T, names ...string) *sidecar.Users {
	t.Helper()
	u, text := &sidecar.Users{}, ""
	for _, name := range names {
		text += tokenLine(name, "of "+name)
	}
	if err := u.Load([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return u
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// as returns the header of a user of usersOf.
func as(name string) []string { return bearer("of " + name) }

// openAs opens a session of a user.
func (x *server) openAs(user, id string) {
	x.t.Helper()
	if status, answer := x.call("POST", "/sessions", fmt.Sprintf(`{"session_id":%q}`, id), as(user)...); status != http.StatusCreated {
		x.t.Fatalf("open: %d %v", status, answer)
	}
}

// ask sends a request and returns its status and its body. Of a stream, it returns only that it is one.
func (x *server) ask(method, path, body string, header ...string) string {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, x.http.URL+path, strings.NewReader(body))
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
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return strconv.Itoa(res.StatusCode) + " stream"
	}
	b, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", res.StatusCode, b)
}

// bodies are what the routes of a session take.
var bodies = map[string]string{
	"POST /sessions/{id}/message": `{"message":"1"}`, "POST /sessions/{id}/steer": `{"message":"1"}`, "POST /sessions/{id}/do": `{"do":"compact"}`,
	"POST /sessions/{id}/calls/{of}": `{"content":[]}`, "POST /sessions/{id}/permission/{of}": `{"decision":"allow"}`, "POST /sessions/{id}/interrupt/{of}": `{"value":1}`,
}

// TestRoutesKeepToTheOwner walks all routes. One with the id of a session must answer the requests of
// others as those for a session that does not exist, and the ones of the owner in another way. One
// without it must have a test of its own.
func TestRoutesKeepToTheOwner(t *testing.T) {
	others := map[string]func(*testing.T, *server){
		"GET /{$}":        namesNobody("/"),
		"GET /health":     namesNobody("/health"),
		"GET /metrics":    namesNobody("/metrics"),
		"GET /sessions":   listsOwnSessions,
		"GET /events":     feedsOwnSessions,
		"GET /refs/{ref}": resolvesForTheOwner,
		"POST /sessions":  opensNoSessionOfOthers,
		"POST /api/chat":  repliesToNobodyElse("/api/chat", func(id string) string { return strings.Replace(chatBody("m9", "1"), "c1", id, 1) }),
		"POST /ag-ui": repliesToNobodyElse("/ag-ui", func(id string) string {
			return `{"threadId":"` + id + `","runId":"r","messages":[{"id":"m9","role":"user","content":"1"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`
		}),
	}
	c := sidecar.Config{Token: "root"}
	c.Users = usersOf(t, "alice", "bob")
	x := newServer(t, c)
	hash := mediumOf("image/png").SHA256
	n := 0
	for _, pattern := range x.s.Routes() {
		t.Run(strings.ReplaceAll(pattern, "/", "|"), func(t *testing.T) {
			if !strings.Contains(pattern, "{id}") {
				test := others[pattern]
				if test == nil {
					t.Fatal("no test shows that this route keeps to the sessions of the user")
				}
				test(t, x)
				return
			}
			g := NewWithT(t)
			method, path, _ := strings.Cut(pattern, " ")
			path = strings.NewReplacer("{of}", "r1", "{list}", "models", "{hash}", hash).Replace(path)
			at := func(id string) string { return strings.Replace(path, "{id}", id, 1) }
			n++
			live, ended := fmt.Sprint("live", n), fmt.Sprint("ended", n)
			for _, id := range []string{live, ended} {
				x.openAs("alice", id)
				x.call("POST", "/sessions/"+id+"/message", `{"message":"give image/png","message_id":"m1"}`, as("alice")...)
				l := x.listen("/sessions/"+id+"/events", as("alice")...)
				l.until("done")
				l.close()
			}
			x.call("DELETE", "/sessions/"+ended, "", as("alice")...)
			if strings.HasPrefix(pattern, "GET /api/chat") {
				x.call("POST", "/sessions/"+live+"/message", `{"message":"wait"}`, as("alice")...)
			}
			for _, body := range []string{bodies[pattern], `{"no":`} {
				unknown := x.ask(method, at("unknown"), body, as("bob")...)
				want := "404 "
				if strings.HasPrefix(pattern, "GET /api/chat") { // 204 is what its clients expect if no turn runs
					want = "204 "
				}
				g.Expect(unknown).To(HavePrefix(want))
				for _, id := range []string{live, ended} {
					g.Expect(x.ask(method, at(id), body, as("bob")...)).To(Equal(unknown), id)
				}
			}
			for _, header := range [][]string{as("alice"), bearer("root")} {
				g.Expect(x.ask(method, at(live), bodies[pattern], header...)).NotTo(Equal(x.ask(method, at("unknown"), bodies[pattern], as("bob")...)))
			}
		})
	}
}

// namesNobody returns a test that an answer for a user has no name and no session of another one.
func namesNobody(path string) func(*testing.T, *server) {
	return func(t *testing.T, x *server) {
		t.Helper()
		x.openAs("alice", "hers-"+strings.Trim(path, "/"))
		_, _, body := x.get(path, as("bob")...)
		NewWithT(t).Expect(body).NotTo(Or(ContainSubstring("alice"), ContainSubstring("hers-")))
	}
}

func listsOwnSessions(t *testing.T, x *server) {
	t.Helper()
	g := NewWithT(t)
	owners := func(header []string) map[any]any {
		_, answer := x.call("GET", "/sessions", "", header...)
		out := map[any]any{}
		for _, run := range answer["sessions"].([]any) {
			out[run.(map[string]any)["session_id"]] = run.(map[string]any)["owner"]
		}
		return out
	}
	x.openAs("alice", "list-a")
	x.openAs("bob", "list-b")
	x.call("POST", "/sessions", `{"session_id":"list-r"}`, bearer("root")...)
	g.Eventually(func() map[any]any { return owners(bearer("root")) }).WithTimeout(time.Minute).Should(And(
		HaveKeyWithValue("list-a", "alice"), HaveKeyWithValue("list-b", "bob"), HaveKeyWithValue("list-r", BeNil())))
	g.Expect(owners(as("alice"))).To(And(HaveKeyWithValue("list-a", "alice"), Not(HaveKey("list-b")), Not(HaveKey("list-r"))))
	g.Expect(owners(as("bob"))).To(HaveKeyWithValue("list-b", "bob"))
	g.Expect(owners(as("bob"))).To(HaveEach("bob"))
}

func feedsOwnSessions(t *testing.T, x *server) {
	t.Helper()
	g := NewWithT(t)
	x.openAs("alice", "feed-a")
	x.openAs("bob", "feed-b")
	x.call("POST", "/sessions/feed-a/message", `{"message":"wait"}`, as("alice")...) // runs when the listeners come
	bob, root := x.listen("/events", as("bob")...), x.listen("/events", bearer("root")...)
	defer bob.close()
	defer root.close()
	g.Eventually(func() string { f, _ := root.next(); return f.data }).Should(ContainSubstring(`"feed-a"`))
	x.call("POST", "/sessions/feed-a/stop", "", as("alice")...)
	x.call("POST", "/sessions/feed-b/message", `{"message":"1"}`, as("bob")...)
	for _, f := range bob.until("run.completed") {
		g.Expect(f.data).To(ContainSubstring(`"feed-b"`))
	}
}

func opensNoSessionOfOthers(t *testing.T, x *server) {
	t.Helper()
	g := NewWithT(t)
	for _, id := range []string{"open-live", "open-ended"} {
		x.openAs("alice", id)
		x.listen("/sessions/"+id+"/events", as("alice")...).until("session_ready")
	}
	x.call("DELETE", "/sessions/open-ended", "", as("alice")...)
	for _, id := range []string{"open-live", "open-ended"} {
		status, answer := x.call("POST", "/sessions", `{"session_id":"`+id+`"}`, as("bob")...)
		g.Expect(status).To(Equal(http.StatusConflict))
		g.Expect(answer["error"]).To(And(HaveKeyWithValue("code", sidecar.CodeExists), Not(HaveKey("last_seq"))))
		// What the runtime holds of it.
		fork := `{"provider_session_id":"p-` + id + `","params":{"fork":true}}`
		status, answer = x.call("POST", "/sessions", fork, as("bob")...)
		g.Expect(status).To(Equal(http.StatusNotFound))
		g.Expect(code(answer)).To(Equal(sidecar.CodeUnknownID))
		status, _ = x.call("POST", "/sessions", fork, as("alice")...)
		g.Expect(status).To(Equal(http.StatusCreated))
	}
	x.openAs("bob", "open-b")
	x.call("DELETE", "/sessions/open-b", "", as("bob")...)
	status, _ := x.call("POST", "/sessions/open-b/resume", `{"provider_session_id":"p-open-ended"}`, as("bob")...)
	g.Expect(status).To(Equal(http.StatusNotFound))
	status, _ = x.call("POST", "/sessions/open-b/resume", `{}`, as("bob")...)
	g.Expect(status).To(Equal(http.StatusCreated))
}

// resolvesForTheOwner reads an event by its reference.
func resolvesForTheOwner(t *testing.T, x *server) {
	t.Helper()
	g := NewWithT(t)
	x.openAs("alice", "referred")
	x.listen("/sessions/referred/events", as("alice")...).until("session_ready")
	g.Expect(x.ask("GET", "/refs/referred%231", "", as("alice")...)).To(ContainSubstring("session_ready"))
	g.Expect(x.ask("GET", "/refs/referred%231", "", as("bob")...)).To(Equal(x.ask("GET", "/refs/unknown%231", "", as("bob")...)))
}

// repliesToNobodyElse returns a test of a route whose body has the id of a session.
func repliesToNobodyElse(path string, body func(id string) string) func(*testing.T, *server) {
	return func(t *testing.T, x *server) {
		t.Helper()
		g := NewWithT(t)
		live, ended := "reply-live"+path[1:3], "reply-ended"+path[1:3]
		for _, id := range []string{live, ended} {
			x.openAs("alice", id)
			x.listen("/sessions/"+id+"/events", as("alice")...).until("session_ready")
		}
		x.call("DELETE", "/sessions/"+ended, "", as("alice")...)
		for _, id := range []string{live, ended} {
			before, err := x.log.Session(t.Context(), id)
			g.Expect(err).NotTo(HaveOccurred())
			status, answer := x.call("POST", path, body(id), as("bob")...)
			g.Expect(status).To(Equal(http.StatusNotFound), id)
			g.Expect(code(answer)).To(Equal(sidecar.CodeUnknownID), id)
			g.Expect(x.log.Session(t.Context(), id)).To(Equal(before))
			g.Expect(x.ask("POST", path, body(id), as("alice")...)).To(Equal("200 stream"))
		}
		if path == "/api/chat" {
			answers := func(id string) string {
				return `{"id":"` + id + `","messages":[{"id":"a","role":"assistant","parts":[{"type":"dynamic-tool","state":"approval-responded","approval":{"id":"r","approved":true}}]}]}`
			}
			unknown := x.ask("POST", path, answers("unknown"), as("bob")...)
			g.Expect(x.ask("POST", path, answers(live), as("bob")...)).To(Equal(unknown))
			g.Expect(x.ask("POST", path, answers(live), as("alice")...)).NotTo(Equal(unknown))
		}
		g.Expect(x.ask("POST", path, body("of-bob"+path[1:3]), as("bob")...)).To(Equal("200 stream"))
	}
}

// TestOwnersSurvive checks that sessions have their owner after a restart, if they are resumed by
// the server itself too, and on another server.
func TestOwnersSurvive(t *testing.T) {
	for _, how := range []sidecar.Recovery{sidecar.RecoverClose, sidecar.RecoverResume} {
		t.Run(string(how), func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "log.db")
			log, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			// As a killed server leaves it.
			g.Expect(log.PutOwner(t.Context(), "a", "alice")).To(Succeed())
			g.Expect(log.Append(t.Context(), startedTurn("a")...)).To(Succeed())
			g.Expect(log.Append(t.Context(), startedTurn("older")...)).To(Succeed())
			g.Expect(log.Close()).To(Succeed())
			log, err = sqlite.Open(t.Context(), path, sqlite.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { g.Expect(log.Close()).To(Succeed()) })
			x := newServer(t, sidecar.Config{Log: log, Token: "root", Users: usersOf(t, "alice", "bob")})
			g.Expect(x.s.Recover(t.Context(), how)).To(ConsistOf("a", "older"))
			for _, route := range []string{"a", "a/history", "a/chat"} {
				g.Expect(x.ask("GET", "/sessions/"+route, "", as("alice")...)).To(HavePrefix("200 "))
				g.Expect(x.ask("GET", "/sessions/"+route, "", as("bob")...)).To(HavePrefix("404 "))
			}
			g.Expect(x.ask("GET", "/sessions/a", "", as("alice")...)).To(ContainSubstring(`"owner":"alice"`))
			for _, user := range []string{"alice", "bob"} { // no user opened it
				g.Expect(x.ask("GET", "/sessions/older", "", as(user)...)).To(HavePrefix("404 "))
			}
			g.Expect(x.ask("GET", "/sessions/older", "", bearer("root")...)).To(HavePrefix("200 "))
			// Whoever resumes it, it stays hers.
			x.ask("POST", "/sessions/a/resume", "", bearer("root")...)
			g.Expect(x.ask("POST", "/sessions/a/message", `{"message":"1"}`, as("alice")...)).To(HavePrefix("202 "))
			g.Expect(x.ask("POST", "/sessions/a/message", `{"message":"1"}`, as("bob")...)).To(HavePrefix("404 "))
		})
	}
}

// startedTurn are the events of a session whose turn runs.
func startedTurn(id string) []event.Event {
	var out []event.Event
	for i, d := range []event.Data{
		event.SessionReady{SessionID: id, Runtime: "scripted", ProviderSessionID: "p-" + id}, event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{"m1"}},
	} {
		out = append(out, event.Event{Data: d, TS: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seq: int64(i + 1), SessionID: id, Turn: i})
	}
	return out
}

// A user's session is known to another server before its first event is stored, and to that user alone.
func TestOtherServerKeepsToTheOwner(t *testing.T) {
	g := NewWithT(t)
	log, leases, stores := &eventlog.Memory{}, &lease.Memory{}, make(chan struct{})
	defer close(stores)
	var servers []*server
	for i, log := range []eventlog.Log{delayed{log, stores}, log} {
		x := newServer(t, sidecar.Config{Log: log, Users: usersOf(t, "alice", "bob")})
		name := strconv.Itoa(i)
		g.Expect(x.s.Join(t.Context(), sidecar.Shared{Leases: leases, Self: lease.Server{Name: name, URL: "http://server" + name}, TTL: time.Minute})).To(Succeed())
		servers = append(servers, x)
	}
	servers[0].openAs("alice", "s")
	status, answer := servers[0].call("POST", "/sessions", `{"session_id":"s"}`, as("bob")...)
	g.Expect(status).To(Equal(http.StatusConflict), "%v", answer)
	status, _ = servers[0].call("POST", "/sessions", `{"session_id":"s"}`, as("alice")...)
	g.Expect(status).To(Equal(http.StatusOK), "a repeated request")
	other := servers[1]
	g.Expect(other.ask("GET", "/sessions/s/history", "", as("alice")...)).To(HavePrefix("200 "))
	g.Expect(other.ask("POST", "/sessions/s/stop", "", as("alice")...)).To(HavePrefix("421 "))
	g.Expect(other.ask("GET", "/sessions/s/history", "", as("bob")...)).To(HavePrefix("404 "))
	g.Expect(other.ask("POST", "/sessions/s/stop", "", as("bob")...)).To(HavePrefix("404 "))
	g.Expect(other.ask("POST", "/sessions", `{"session_id":"s"}`, as("bob")...)).To(And(HavePrefix("409 "), Not(ContainSubstring("server"))))
}

// listing is an adapter whose sessions list those that the runtime has stored.
type listing struct{ scripted }

func (*listing) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{Runtime: "listing", Can: op.SetOf(op.List)}
}

func (a *listing) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	s, err := a.scripted.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &listingSession{s.(*session)}, nil
}

type listingSession struct{ *session }

func (*listingSession) List(context.Context, adapters.List) ([]adapters.Listed, error) {
	return []adapters.Listed{{ID: "p-a"}, {ID: "p-b"}, {ID: "p-of-nobody"}}, nil
}

// TestListsOwnSessionsOfTheRuntime checks that a user does not learn which sessions of others the runtime has.
func TestListsOwnSessionsOfTheRuntime(t *testing.T) {
	g := NewWithT(t)
	log := &eventlog.Memory{}
	s := sidecar.New(sidecar.Config{Log: log, Token: "root", Users: usersOf(t, "alice", "bob"), Adapters: map[string]adapters.Adapter{"listing": &listing{}}})
	x := serverOf(t, s, log)
	x.openAs("alice", "a")
	x.openAs("bob", "b")
	for _, id := range []string{"a", "b"} {
		x.listen("/sessions/"+id+"/events", bearer("root")...).until("session_ready")
	}
	for header, want := range map[string][]string{"of alice": {"p-a"}, "root": {"p-a", "p-b", "p-of-nobody"}} {
		for _, answer := range []string{
			x.ask("GET", "/sessions/a/lists/sessions", "", bearer(header)...),
			x.ask("POST", "/sessions/a/do", `{"do":"list","list":"sessions"}`, bearer(header)...),
		} {
			for _, id := range []string{"p-a", "p-b", "p-of-nobody"} {
				g.Expect(strings.Contains(answer, `"`+id+`"`)).To(Equal(strings.Contains(strings.Join(want, " ")+" ", id+" ")), "%s: %s", header, answer)
			}
		}
		g.Expect(x.ask("GET", "/sessions/a/lists/models", "", bearer(header)...)).To(ContainSubstring("p-b"), "other lists are whole")
	}
}

// TestAgentsKeepToTheOwner lets the agent of one user ask sessions of another one.
func TestAgentsKeepToTheOwner(t *testing.T) {
	g := NewWithT(t)
	log := &eventlog.Memory{}
	s := sidecar.New(sidecar.Config{
		Log: log, Token: "root", Users: usersOf(t, "alice", "bob"), Agents: &exchange.Config{},
		Adapters: map[string]adapters.Adapter{"calling": &calling{}, "scripted": &scripted{}},
	})
	x := serverOf(t, s, log)
	for user, id := range map[string]string{"alice": "a", "bob": "b"} {
		status, _ := x.call("POST", "/sessions", `{"session_id":"`+id+`","runtime":"calling"}`, as(user)...)
		g.Expect(status).To(Equal(http.StatusCreated))
	}
	for user, id := range map[string]string{"alice": "hers", "bob": "a-scripted"} { // bob's has the id of the one that alice's agent would open
		status, _ := x.call("POST", "/sessions", `{"session_id":"`+id+`","runtime":"scripted"}`, as(user)...)
		g.Expect(status).To(Equal(http.StatusCreated))
	}
	x.listen("/sessions/hers/events", as("alice")...).until("session_ready")
	turn := 0
	asks := func(user, from, to string) string {
		turn++
		_, answer := x.call("POST", "/sessions/"+from+"/message", fmt.Sprintf(`{"message_id":"m%d","message":%q}`, turn, `{"to":"`+to+`","message":"3","wait":true}`), as(user)...)
		after, _ := answer["after"].(float64)
		l := x.listen(fmt.Sprintf("/sessions/%s/events?after=%d", from, int(after)), as(user)...)
		defer l.close()
		for _, f := range l.until("done") {
			if f.name == "tool_result" {
				return f.data
			}
		}
		return "no result"
	}
	for _, other := range []string{"hers", "a"} {
		g.Expect(asks("bob", "b", other)).To(ContainSubstring(string(exchange.CodeUnknown)))
	}
	before, err := log.Session(t.Context(), "hers")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(before.Last.Turn).To(BeZero())
	g.Expect(asks("alice", "a", "hers")).To(ContainSubstring("completed"))
	g.Expect(asks("alice", "a", "scripted")).To(And(ContainSubstring(string(exchange.CodeOpen)), Not(ContainSubstring("completed"))))
	g.Expect(asks("bob", "b", "scripted")).To(ContainSubstring("completed"))
	g.Expect(log.Owner(t.Context(), "b-scripted")).To(Equal("bob"), "what an agent opens belongs to its user")
}
