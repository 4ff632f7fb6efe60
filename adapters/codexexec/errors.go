package codexexec

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/apierror"
)

// lastStatus is how the runtime names the status of a request to the model.
var lastStatus = regexp.MustCompile(`(?:last status:|unexpected status|status code) (\d{3})`)

// phrases are parts of the runtime's messages, which are all that the wire has of an error.
var phrases = []struct {
	part string
	code event.ErrorCode
}{
	{"context window", event.ErrorContext},
	{"usage limit", event.ErrorBilling},
	{"Quota exceeded", event.ErrorBilling},
	{"at capacity", event.ErrorOverloaded},
	{"high demand", event.ErrorOverloaded},
	{"Rate limit", event.ErrorRateLimit},
	{"reason: max_output_tokens", event.ErrorLimit},
	{"invalid_request_error", event.ErrorInvalid},
	{"stream disconnected", event.ErrorNetwork},
	{"error sending request", event.ErrorNetwork},
}

// errorOf returns the event of a failed turn.
func errorOf(msg string) event.Error {
	if msg == "" {
		msg = "the turn failed"
	}
	d := event.Error{Code: event.ErrorUnknown, Message: msg}
	if m := lastStatus.FindStringSubmatch(msg); m != nil {
		status, _ := strconv.Atoi(m[1])
		d.Code = apierror.FromStatus(status)
		return d
	}
	for _, p := range phrases {
		if strings.Contains(msg, p.part) {
			d.Code = p.code
			return d
		}
	}
	if strings.HasPrefix(msg, "{") { // the body of a 400, unchanged
		d.Code = event.ErrorInvalid
	}
	return d
}
