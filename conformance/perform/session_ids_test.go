package perform_test

import (
	"testing"

	"github.com/turnspec/turnspec/conformance/perform"
)

func TestSessionID(t *testing.T) {
	for _, x := range []struct{ runtime, line, want string }{
		{"claude", `{"type":"system","subtype":"init","session_id":"s"}`, "s"},
		{"claude", `{"type":"stream_event","session_id":"s"}`, ""},
		{"codex", `{"id":2,"result":{"thread":{"id":"t"}}}`, "t"},
		{"codex", `{"id":2,"result":{}}`, ""},
		{"codex", `no JSON`, ""},
		{"unknown", `{"id":2,"result":{"thread":{"id":"t"}}}`, ""},
	} {
		if got := perform.SessionID(x.runtime, []byte(x.line)); got != x.want {
			t.Errorf("%s %s: %q, want %q", x.runtime, x.line, got, x.want)
		}
	}
}
