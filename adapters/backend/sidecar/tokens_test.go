package sidecar_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// TestRemovedToken checks that the requests and the streams of a token end when it is removed, and
// those of the user's other token go on.
func TestRemovedToken(t *testing.T) {
	g := NewWithT(t)
	users := &sidecar.Users{}
	kept := tokenLine("alice", "of alice") + tokenLine("bob", "of bob")
	g.Expect(users.Load([]byte("# users\n\n" + kept + tokenLine("alice", "old")))).To(Succeed())
	x := newServer(t, sidecar.Config{Users: users})
	x.openAs("alice", "s")
	stay := x.listen("/sessions/s/events", as("alice")...)
	defer stay.close()
	var ending []*listener
	for _, path := range []string{"/sessions/s/events", "/sessions/s/events?format=wsmessages", "/sessions/s/view", "/events"} {
		ending = append(ending, x.listen(path, bearer("old")...))
	}
	reply := x.listenTo("/api/chat", strings.Replace(chatBody("m1", "wait"), "c1", "s", 1), bearer("old")...)
	socket, status := x.dial("/sessions/s/events", bearer("old")...)
	g.Expect(status).To(Equal(http.StatusSwitchingProtocols))

	g.Expect(users.Load([]byte(kept + "alice secret-in-clear"))).To(MatchError(And(ContainSubstring("line 3"), Not(ContainSubstring("secret")))))
	g.Expect(x.ask("GET", "/sessions/s", "", bearer("old")...)).To(HavePrefix("200 "), "nothing changed")
	g.Expect(users.Load([]byte(kept))).To(Succeed())
	g.Expect(users.Len()).To(Equal(2))
	g.Expect(x.ask("GET", "/sessions/s", "", bearer("old")...)).To(HavePrefix("401 "))
	for _, l := range append(ending, reply) {
		l.until("") // the stream ends
	}
	for err := error(nil); err == nil; {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, _, err = socket.conn.Read(ctx)
		g.Expect(ctx.Err()).NotTo(HaveOccurred(), "the socket is closed")
		cancel()
	}
	x.call("POST", "/sessions/s/stop", "", as("alice")...)
	stay.until("done")
}

// listenTo posts a body and returns the stream of the answer.
func (x *server) listenTo(path, body string, header ...string) *listener {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	x.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.http.URL+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	return x.listenBy(r, cancel, header...)
}

func TestUsersFile(t *testing.T) {
	good := tokenLine("alice", "x")
	for text, want := range map[string]string{
		"":                                     "",
		"# nobody\n":                           "",
		"  " + good:                            "",
		strings.TrimSpace(good):                "",
		good + "bob":                           "line 2: want a name",
		good + "bob token":                     "line 2: the second word",
		"alice":                                "line 1: want a name",
		"alice sha256:00":                      "line 1: the second word",
		strings.TrimSpace(good) + "00":         "line 1: the second word",
		strings.TrimSpace(good) + " more":      "line 1: want a name",
		strings.Replace(good, "sha256", "", 1): "line 1: the second word",
		good + tokenLine("bob", "x"):           "line 2: another line has the same token",
		strings.Replace(good, "alice", strings.Repeat("x", 101), 1): "line 1: the first word",
		strings.Replace(good, "alice", "a\x00b", 1):                 "line 1: the first word",
		strings.Replace(good, "alice", "a\xff", 1):                  "line 1: the first word",
	} {
		err := (&sidecar.Users{}).Load([]byte(text))
		if want == "" {
			NewWithT(t).Expect(err).NotTo(HaveOccurred(), text)
		} else {
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), text)
		}
	}
}

// TestUsersGuard checks which tokens a server with users takes.
func TestUsersGuard(t *testing.T) {
	for _, token := range []string{"", "root"} {
		g := NewWithT(t)
		x := newServer(t, sidecar.Config{Token: token, Users: usersOf(t, "alice")})
		hash := strings.Fields(tokenLine("alice", "of alice"))[1]
		for given, want := range map[string]string{"of alice": "200 ", "of bob": "401 ", "": "401 ", hash: "401 ", strings.TrimPrefix(hash, "sha256:"): "401 ", "alice": "401 ", "root": map[string]string{"": "401 ", "root": "200 "}[token]} {
			g.Expect(x.ask("GET", "/sessions", "", bearer(given)...)).To(HavePrefix(want), given)
			g.Expect(x.ask("GET", "/health", "", "Cookie", "turnspec_token="+given)).To(HavePrefix(want), given)
		}
		g.Expect(x.ask("GET", "/health", "")).To(HavePrefix("401 "))
	}
	x := newServer(t, sidecar.Config{Users: &sidecar.Users{}})
	NewWithT(t).Expect(x.ask("GET", "/health", "")).To(HavePrefix("401 "), "no users are not no token")
}
