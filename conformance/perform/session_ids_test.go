package perform_test

import (
	"testing"

	"github.com/turnspec/turnspec/conformance/perform"
)

func TestSessionID(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"system","subtype":"init","session_id":"s"}`: "s",
		`{"id":2,"result":{"thread":{"id":"t"}}}`:             "t",
		`{"type":"stream_event","session_id":"s"}`:            "",
		`{"id":2,"result":{}}`:                                "",
		`no JSON`:                                             "",
	} {
		if got := perform.SessionID([]byte(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
