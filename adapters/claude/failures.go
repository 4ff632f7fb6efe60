package claude

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// codes maps the runtime's names of API errors.
var codes = map[string]event.ErrorCode{
	"authentication_failed": event.ErrorAuth, "authentication_error": event.ErrorAuth, "permission_error": event.ErrorAuth,
	"oauth_org_not_allowed": event.ErrorAuth,
	"rate_limit":            event.ErrorRateLimit, "rate_limit_error": event.ErrorRateLimit,
	"overloaded": event.ErrorOverloaded, "overloaded_error": event.ErrorOverloaded,
	"server_error": event.ErrorModel, "api_error": event.ErrorModel,
	"billing_error":   event.ErrorBilling,
	"invalid_request": event.ErrorInvalid, "invalid_request_error": event.ErrorInvalid, "request_too_large": event.ErrorContext,
	"model_not_found": event.ErrorModel, "not_found_error": event.ErrorModel,
	"max_output_tokens": event.ErrorLimit, "connection_failed": event.ErrorNetwork, "timeout_error": event.ErrorNetwork,
}

// reasons maps terminal reasons that say more than the API's error.
var reasons = map[string]event.ErrorCode{
	"prompt_too_long": event.ErrorContext, "blocking_limit": event.ErrorContext,
	"max_turns": event.ErrorLimit, "budget_exhausted": event.ErrorLimit, "structured_output_retry_exhausted": event.ErrorLimit,
	"rapid_refill_breaker": event.ErrorLimit, "model_error": event.ErrorModel,
}

// resultError is the error of a result. seen is the last API error that an
// assistant line told in this turn.
func resultError(ln *line, seen *event.Error) event.Error {
	e := event.Error{Message: errorsOf(ln), Code: event.ErrorUnknown}
	if seen != nil {
		e.Code = seen.Code
		if e.Message == "" {
			e.Message = seen.Message
		}
	}
	if n := ln.APIErrorStatus; n != nil && e.Code == event.ErrorUnknown {
		e.Code = statusCode(int(*n))
	}
	if e.Code == event.ErrorUnknown || e.Code == event.ErrorModel {
		e.Code = networkCode(e.Message, e.Code)
	}
	if c, ok := reasons[string(ln.TerminalReason)]; ok {
		e.Code = c
	} else if strings.HasPrefix(string(ln.Subtype), "error_max") {
		e.Code = event.ErrorLimit
	}
	if e.Message == "" {
		e.Message = first(string(ln.TerminalReason), string(ln.Subtype), "the turn failed")
	}
	return e
}

func statusCode(n int) event.ErrorCode {
	switch {
	case n == 401, n == 403:
		return event.ErrorAuth
	case n == 402:
		return event.ErrorBilling
	case n == 404:
		return event.ErrorModel
	case n == 429:
		return event.ErrorRateLimit
	case n == 413:
		return event.ErrorContext
	case n == 503, n == 529:
		return event.ErrorOverloaded
	case n >= 500:
		return event.ErrorModel
	case n >= 400:
		return event.ErrorInvalid
	}
	return event.ErrorUnknown
}

// networkCode tells an API that could not be reached from one that failed: the
// runtime calls both a server error.
func networkCode(message string, code event.ErrorCode) event.ErrorCode {
	for _, s := range []string{"Connection refused", "Connection error", "Unable to connect", "Connection lost", "ECONNRE", "ENOTFOUND", "ETIMEDOUT", "fetch failed", "socket"} {
		if strings.Contains(message, s) {
			return event.ErrorNetwork
		}
	}
	return code
}

func errorsOf(ln *line) string {
	var s []string
	for _, e := range ln.Errors {
		s = append(s, string(e))
	}
	return first(strings.Join(s, "\n"), string(ln.Result))
}

// apiError handles an assistant line that carries an API error. It is not the
// model's text and ends nothing: the result tells whether the turn failed.
func (t *translator) apiError(ln *line, s *ledger.Scope, sub bool) {
	msg := ln.Message.Content.joined()
	if sub {
		s.Emit(event.Notice{Level: event.LevelError, Code: event.NoticeWarning, Text: msg})
		return
	}
	if t.open.running {
		// An older version leaves the stream that broke unclosed.
		t.retract(s)
		t.open.running = false
	}
	code, ok := codes[string(ln.APIErrorType)]
	if c, known := codes[string(ln.APIErrorKind)]; known { // how the API was missed
		code, ok = c, true
	}
	if !ok || code == event.ErrorInvalid {
		if c, known := codes[string(ln.Error)]; known {
			code = c
		} else if !ok {
			code = event.ErrorUnknown
		}
	}
	if f := t.turn.failure; f != nil {
		s.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: f.Message})
	}
	t.turn.failure = &event.Error{Message: msg, Code: networkCode(msg, code)}
}
