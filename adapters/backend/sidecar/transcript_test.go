package sidecar_test

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// TestTranscriptOf opens a session that goes on with what the log holds of another one, which may have ended. For
// the sessions of others it is refused as for one that does not exist.
func TestTranscriptOf(t *testing.T) {
	g := NewWithT(t)
	x := newServer(t, sidecar.Config{Users: usersOf(t, "alice", "bob")})
	chat := func(id, text string) {
		status, refusal := x.call(http.MethodPost, "/sessions", `{"session_id":"`+id+`","params":{"workingDir":"/w"}}`, as("alice")...)
		g.Expect(status).To(Equal(http.StatusCreated), "%v", refusal)
		for m := range strings.FieldsSeq(text) {
			x.call(http.MethodPost, "/sessions/"+id+"/message", `{"message":"`+m+`"}`, as("alice")...)
		}
		l := x.listen("/sessions/"+id+"/events", as("alice")...)
		for range strings.FieldsSeq(text) {
			l.until("done")
		}
		l.close()
		x.call(http.MethodDelete, "/sessions/"+id, "", as("alice")...)
	}
	chat("first", "2")
	open := func(user, from string) (int, map[string]any) {
		return x.call(http.MethodPost, "/sessions", `{"params":{"instructions":"Be brief.","transcriptOf":"`+from+`"}}`, as(user)...)
	}
	status, refusal := open("alice", "first")
	g.Expect(status).To(Equal(http.StatusCreated), "%v", refusal)
	got := x.adapter.opened[len(x.adapter.opened)-1]
	g.Expect(got.Instructions).To(And(HavePrefix("Be brief.\n\nThis conversation began in another session, on scripted."), HaveSuffix("<transcript>\nuser: 2\nassistant: 0 1 \n</transcript>")))
	g.Expect(got.Dir).To(Equal("/w"))
	g.Expect(got.Resume).To(BeEmpty())
	for user, from := range map[string]string{"bob": "first", "alice": "none"} {
		status, refusal := open(user, from)
		g.Expect(status).To(Equal(http.StatusNotFound), "%v", refusal)
		g.Expect(code(refusal)).To(Equal(sidecar.CodeUnknownID))
	}

	chat("long", "20000")
	_, _ = open("alice", "long")
	long := x.adapter.opened[len(x.adapter.opened)-1].Instructions
	g.Expect(len(long)).To(BeNumerically("~", 64<<10, 1<<10))
	g.Expect(long).To(And(ContainSubstring("(Older messages are left out.)\n… "), HaveSuffix("19998 19999 \n</transcript>")))
}
