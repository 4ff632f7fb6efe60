package acp

import (
	"cmp"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/apierror"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Codes of errors of JSON-RPC and of the protocol.
const (
	codeInternal       = -32603
	codeMethodNotFound = -32601
	codeAuthRequired   = -32000
)

// Unwrap implements the interface of package errors.
func (e rpcError) Unwrap() error { return adapters.ErrRefused }

// Error returns the words of an error for a reader. Some agents have them in the data.
func (e rpcError) Error() string {
	d := lenient.Decode[errorDetails](e.Data)
	text := string(e.Message)
	for _, s := range []lenient.Str{d.Details, d.Message} {
		if s != "" && !strings.Contains(text, string(s)) {
			text += ": " + string(s)
		}
	}
	return cmp.Or(text, "error "+strconv.Itoa(int(e.Code)))
}

// errorDetails are what some agents say in the data of an error.
type errorDetails struct {
	Service lenient.Str `json:"service"`
	Details lenient.Str `json:"details"`
	Message lenient.Str `json:"message"`
}

// isFailedPrompt reports whether an error of a transcript is that of a turn.
func (t *translator) isFailedPrompt(e rpcError) bool {
	return t.opened && t.agent.failsTurn != nil && t.agent.failsTurn(lenient.Decode[errorDetails](e.Data))
}

// statusWords find the HTTP status in the words of an error.
var statusWords = regexp.MustCompile(`(?i)(?:API Error: |status |error:? )(\d{3})\b|^(\d{3})\b`)

// errorWords are words of errors, with their codes. The first that fit count.
var errorWords = []struct {
	words *regexp.Regexp
	code  event.ErrorCode
}{
	{regexp.MustCompile(`(?i)prompt is too long|context.?window|context.?length`), event.ErrorContext},
	{regexp.MustCompile(`(?i)insufficient_quota|credit balance|billing|quota`), event.ErrorBilling},
	{regexp.MustCompile(`(?i)invalid_api_key|x-api-key|incorrect api key|authentication|unauthorized|please run /login`), event.ErrorAuth},
	{regexp.MustCompile(`(?i)rate.?limit|too many requests|usage limit`), event.ErrorRateLimit},
	{regexp.MustCompile(`max_output_tokens`), event.ErrorLimit},
	{regexp.MustCompile(`(?i)overloaded|at capacity|high demand|service.?unavailable`), event.ErrorOverloaded},
}

var networkWords = regexp.MustCompile(`(?i)connection|network|fetch failed|socket|stream disconnected|timed? out|timeout|unable to connect`)

// errorOf returns the event of a failed turn.
func errorOf(err error) event.Error {
	refused, ok := errors.AsType[rpcError](err)
	if !ok {
		return event.Error{Code: event.ErrorTimeout, Message: err.Error()}
	}
	words := refused.Error()
	return event.Error{Code: codeOf(refused, words), Message: words}
}

func codeOf(e rpcError, words string) event.ErrorCode {
	if e.Code == codeAuthRequired {
		return event.ErrorAuth
	}
	for _, w := range errorWords {
		if w.words.MatchString(words) {
			return w.code
		}
	}
	if m := statusWords.FindStringSubmatch(words); m != nil {
		if status, err := strconv.Atoi(cmp.Or(m[1], m[2])); err == nil && status >= 400 {
			return apierror.FromStatus(status)
		}
	}
	if networkWords.MatchString(words) {
		return event.ErrorNetwork
	}
	return event.ErrorUnknown
}
