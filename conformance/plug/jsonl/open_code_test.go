package jsonl

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug"
)

// TestOpenCode checks that an open may fail with each code of the protocol, and with no
// other.
func TestOpenCode(t *testing.T) {
	for code, want := range map[string]event.ErrorCode{
		"refused": event.ErrorInvalid, "unknown_id": event.ErrorInvalid, "invalid_request": event.ErrorInvalid,
		"start_failure": event.ErrorStartFailure, "timeout": event.ErrorTimeout, "no_such_code": "",
	} {
		if got := openCode(&plug.RefusalError{Code: code, Err: plug.RefusalErrors[code]}); got != want {
			t.Errorf("%s: code %q, want %q", code, got, want)
		}
	}
}
