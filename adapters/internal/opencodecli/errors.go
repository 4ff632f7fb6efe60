package opencodecli

import (
	"cmp"
	"regexp"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/apierror"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Aborted is the name of the error of a turn that the client has stopped.
const Aborted = "MessageAbortedError"

// errorNames are the codes of errors by their names.
var errorNames = map[lenient.Str]event.ErrorCode{
	"ProviderAuthError":        event.ErrorAuth,
	"MessageOutputLengthError": event.ErrorLimit,
	"StructuredOutputError":    event.ErrorModel,
	"ContextOverflowError":     event.ErrorContext,
	"ContentFilterError":       event.ErrorModel,
}

// errorWords are words of errors, with their codes. The first that fit count.
var errorWords = []struct {
	words *regexp.Regexp
	code  event.ErrorCode
}{
	{regexp.MustCompile(`(?i)prompt is too long|context.?(window|length)|maximum context|too many tokens|request_too_large`), event.ErrorContext},
	{regexp.MustCompile(`(?i)insufficient_quota|credit balance|billing|exceeded your current quota`), event.ErrorBilling},
	{regexp.MustCompile(`(?i)invalid_api_key|incorrect api key|authentication`), event.ErrorAuth},
	{regexp.MustCompile(`(?i)rate.?limit|too many requests`), event.ErrorRateLimit},
	{regexp.MustCompile(`(?i)overloaded|service.?unavailable`), event.ErrorOverloaded},
}

var networkWords = regexp.MustCompile(`(?i)connection|connect|network|fetch failed|socket|terminated|timed? out|timeout|closed|without a finish reason`)

// ErrorOf returns the event of a failed turn.
func ErrorOf(f Failure) event.Error {
	return event.Error{Code: codeOf(f), Message: cmp.Or(string(f.Data.Message), string(f.Name), "the turn failed")}
}

func codeOf(f Failure) event.ErrorCode {
	if code, ok := errorNames[f.Name]; ok {
		return code
	}
	for _, e := range errorWords {
		if e.words.MatchString(string(f.Data.Message)) || e.words.MatchString(string(f.Data.Body)) {
			return e.code
		}
	}
	if f.Data.Status >= 400 {
		return apierror.FromStatus(int(f.Data.Status))
	}
	if networkWords.MatchString(string(f.Data.Message)) {
		return event.ErrorNetwork
	}
	return event.ErrorUnknown
}
