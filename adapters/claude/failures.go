package claude

import (
	"cmp"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/apierror"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// errorCodes maps the runtime's names of API errors.
var errorCodes = map[string]event.ErrorCode{
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

// terminalReasons maps terminal reasons that are more specific than the API
// error.
var terminalReasons = map[string]event.ErrorCode{
	"prompt_too_long": event.ErrorContext, "blocking_limit": event.ErrorContext,
	"max_turns": event.ErrorLimit, "budget_exhausted": event.ErrorLimit, "structured_output_retry_exhausted": event.ErrorLimit,
	"rapid_refill_breaker": event.ErrorLimit, "model_error": event.ErrorModel,
}

// resultError returns the error of a result. seen is the last API error that an
// assistant line reported in this turn.
func resultError(ln *line, seen *event.Error) event.Error {
	e := event.Error{Message: errorText(ln), Code: event.ErrorUnknown}
	if seen != nil {
		e.Code = seen.Code
		if e.Message == "" {
			e.Message = seen.Message
		}
	}
	if n := ln.APIErrorStatus; n != nil && e.Code == event.ErrorUnknown {
		e.Code = apierror.FromStatus(int(*n))
	}
	if e.Code == event.ErrorUnknown || e.Code == event.ErrorModel {
		e.Code = networkCode(e.Message, e.Code)
	}
	if c, ok := terminalReasons[string(ln.TerminalReason)]; ok {
		e.Code = c
	} else if strings.HasPrefix(string(ln.Subtype), "error_max") {
		e.Code = event.ErrorLimit
	}
	if e.Message == "" {
		e.Message = cmp.Or(string(ln.TerminalReason), string(ln.Subtype), "the turn failed")
	}
	return e
}

// networkCode returns event.ErrorNetwork if the API could not be reached, else
// code. The runtime reports both as server errors.
func networkCode(message string, code event.ErrorCode) event.ErrorCode {
	for _, s := range []string{"Connection refused", "Connection error", "Unable to connect", "Connection lost", "ECONNRE", "ENOTFOUND", "ETIMEDOUT", "fetch failed", "socket"} {
		if strings.Contains(message, s) {
			return event.ErrorNetwork
		}
	}
	return code
}

func errorText(ln *line) string {
	var s []string
	for _, e := range ln.Errors {
		s = append(s, string(e))
	}
	return cmp.Or(strings.Join(s, "\n"), string(ln.Result))
}

// handleAPIError handles an assistant line with an API error. The text is not
// the model's, and only the result decides whether the turn failed.
func (t *translator) handleAPIError(ln *line, s *ledger.Scope, sub bool) {
	msg := ln.Message.Content.joined()
	if sub {
		s.Emit(event.Notice{Level: event.LevelError, Code: event.NoticeWarning, Text: msg})
		return
	}
	if t.stream.running {
		// An older version does not close the broken stream.
		t.retractMessage(s)
		t.stream.running = false
	}
	code, ok := errorCodes[string(ln.APIErrorType)]
	if c, known := errorCodes[string(ln.APIErrorKind)]; known { // why the API could not be reached
		code, ok = c, true
	}
	if !ok || code == event.ErrorInvalid {
		if c, known := errorCodes[string(ln.Error)]; known {
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
