package codex

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/apierror"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// errorCodes maps the runtime's names of errors.
var errorCodes = map[string]event.ErrorCode{
	"contextWindowExceeded":       event.ErrorContext,
	"sessionBudgetExceeded":       event.ErrorLimit,
	"usageLimitExceeded":          event.ErrorBilling,
	"rateLimitExceeded":           event.ErrorRateLimit,
	"serverOverloaded":            event.ErrorOverloaded,
	"flexUnavailable":             event.ErrorOverloaded,
	"policyCapacityUnavailable":   event.ErrorOverloaded,
	"internalServerError":         event.ErrorModel,
	"modelNotFound":               event.ErrorModel,
	"badRequest":                  event.ErrorInvalid,
	"cyberPolicy":                 event.ErrorInvalid,
	"misalignmentPolicyViolation": event.ErrorInvalid,
	"inferenceHookDenied":         event.ErrorInvalid,
	"tooManyDenials":              event.ErrorLimit,
	"unauthorized":                event.ErrorAuth,
}

type httpStatus struct {
	Status lenient.Num `json:"httpStatusCode"`
}

// httpErrors are the error kinds that carry an HTTP status of the model's API.
type httpErrors struct {
	Failed     lenient.Opt[httpStatus] `json:"httpConnectionFailed"`
	NoStream   lenient.Opt[httpStatus] `json:"responseStreamConnectionFailed"`
	Broken     lenient.Opt[httpStatus] `json:"responseStreamDisconnected"`
	TooManyTry lenient.Opt[httpStatus] `json:"responseTooManyFailedAttempts"`
}

// errorOf returns the event of a failed turn.
func errorOf(e *turnError) event.Error {
	if e == nil {
		return event.Error{Code: event.ErrorUnknown, Message: "the turn failed"}
	}
	msg := string(e.Message)
	if d := string(e.AdditionalDetails); d != "" && !strings.Contains(msg, d) {
		msg += ": " + d
	}
	if msg == "" {
		msg = "the turn failed"
	}
	return event.Error{Code: codeOf(e.CodexErrorInfo, msg), Message: msg}
}

func codeOf(info jsontext.Value, msg string) event.ErrorCode {
	if len(info) > 0 && info.Kind() == '{' {
		h := lenient.Decode[httpErrors](info)
		for _, s := range []lenient.Opt[httpStatus]{h.Failed, h.NoStream, h.Broken, h.TooManyTry} {
			if s.V != nil {
				if status := int(s.V.Status); status >= 400 {
					return apierror.FromStatus(status)
				}
				return event.ErrorNetwork
			}
		}
		return event.ErrorUnknown
	}
	if len(info) > 0 {
		if c, ok := errorCodes[lenient.Text(info)]; ok {
			return c
		}
	}
	// "other" has no information; the message has a little.
	switch {
	case strings.HasPrefix(msg, "stream disconnected"), strings.Contains(msg, "error sending request"):
		return event.ErrorNetwork
	case strings.Contains(msg, "reason: max_output_tokens"):
		return event.ErrorLimit
	case strings.HasPrefix(msg, "{"), // the body of a 400, unchanged
		strings.Contains(msg, "unexpected status 400"), strings.Contains(msg, "invalid_request_error"):
		return event.ErrorInvalid
	}
	return event.ErrorUnknown
}
