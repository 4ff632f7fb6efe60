package pi

import (
	"cmp"
	"regexp"
	"strconv"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/apierror"
)

// statusWords find the HTTP status in the words of an error: "401 …" or "401: …".
var statusWords = regexp.MustCompile(`^(?:Error: )?(\d{3})\b`)

// errorWords are words of errors, with their codes. The first that fit count.
var errorWords = []struct {
	words *regexp.Regexp
	code  event.ErrorCode
}{
	{contextWords, event.ErrorContext},
	{regexp.MustCompile(`(?i)insufficient_quota|credit balance|billing|exceeded your current quota`), event.ErrorBilling},
	{regexp.MustCompile(`(?i)invalid_api_key|invalid x-api-key|incorrect api key|authentication|no api key`), event.ErrorAuth},
	{regexp.MustCompile(`(?i)rate.?limit|too many requests`), event.ErrorRateLimit},
	{regexp.MustCompile(`(?i)overloaded|service.?unavailable`), event.ErrorOverloaded},
}

var (
	networkWords = regexp.MustCompile(`(?i)connection|network|fetch failed|socket|terminated|ended without|timed? out|timeout|closed`)
	refusalWords = regexp.MustCompile(`(?i)content_filter|refus`)
)

// errorOf returns the event of a failed turn. The runtime states the words of the model's
// API and nothing else.
func errorOf(words string) event.Error {
	return event.Error{Code: codeOf(words), Message: cmp.Or(words, "the turn failed")}
}

func codeOf(words string) event.ErrorCode {
	for _, e := range errorWords {
		if e.words.MatchString(words) {
			return e.code
		}
	}
	if m := statusWords.FindStringSubmatch(words); m != nil {
		if status, err := strconv.Atoi(m[1]); err == nil && status >= 400 {
			return apierror.FromStatus(status)
		}
	}
	switch {
	case networkWords.MatchString(words):
		return event.ErrorNetwork
	case refusalWords.MatchString(words):
		return event.ErrorModel
	}
	return event.ErrorUnknown
}
