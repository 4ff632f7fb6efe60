package chat

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/apierror"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// failure is a request that failed.
type failure struct {
	code      event.ErrorCode
	message   string
	retryable bool
	after     time.Duration // as the server asks for; 0: it does not
}

// apiError is an error of the API, in a reply or in a stream.
type apiError struct {
	Message lenient.Str `json:"message"`
	Type    lenient.Str `json:"type"`
	Code    lenient.Str `json:"code"` // a word, or a status
}

// errorOf reads an error of the API: an object, a list of one, or the words alone.
func errorOf(v jsontext.Value) apiError {
	var e struct {
		apiError
		Error  jsontext.Value `json:"error"` // it is nested once more
		Detail lenient.Str    `json:"detail"`
	}
	switch v.Kind() {
	case '[':
		var list []jsontext.Value
		if _ = json.Unmarshal(v, &list, lenient.Options); len(list) > 0 {
			return errorOf(list[0])
		}
	case '"':
		_ = json.Unmarshal(v, &e.Message, lenient.Options) // the decoder has checked the string
	case '{':
		_ = json.Unmarshal(v, &e, lenient.Options) // an error of another form has no words
		if hasValue(e.Error) {
			return errorOf(e.Error)
		}
		e.Message = cmp.Or(e.Message, e.Detail)
	}
	return e.apiError
}

// codes are the types and codes of errors of the API. Another attempt is of no use after
// those of them that are permanent.
var codes = map[string]struct {
	code      event.ErrorCode
	permanent bool
	general   bool // it is the type of errors of several statuses
}{
	"insufficient_quota":      {event.ErrorBilling, true, false},
	"usage_limit_reached":     {event.ErrorRateLimit, true, false},
	"invalid_api_key":         {event.ErrorAuth, true, false},
	"authentication_error":    {event.ErrorAuth, true, false},
	"permission_error":        {event.ErrorAuth, true, false},
	"context_length_exceeded": {event.ErrorContext, true, false},
	"invalid_request_error":   {event.ErrorInvalid, true, true},
	"rate_limit_exceeded":     {event.ErrorRateLimit, false, false},
	"server_is_overloaded":    {event.ErrorOverloaded, false, false},
	"overloaded_error":        {event.ErrorOverloaded, false, false},
	"server_error":            {event.ErrorModel, false, true},
}

// connectionFailed returns the failure of a request whose reply could not be read.
func connectionFailed(err error) *failure {
	return &failure{code: event.ErrorNetwork, message: "the connection to the model failed: " + err.Error(), retryable: true}
}

// statusFailure returns what a status means that reports a failure.
func statusFailure(l *replyLine) *failure {
	e := errorOf(l.Body)
	if l.Text != nil {
		e.Message = lenient.Str(fmt.Sprintf("%.200s", strings.TrimSpace(*l.Text)))
	}
	f := fromAPI(e, l.Status)
	f.after = retryAfter(l)
	return f
}

// streamFailure returns what an error in a stream means.
func streamFailure(v jsontext.Value) *failure {
	e := errorOf(v)
	status, _ := strconv.Atoi(string(e.Code))
	if e.Message == "" && status == 0 {
		e.Message = lenient.Str(fmt.Sprintf("the model's server reported an error: %.200s", v))
	}
	f := fromAPI(e, status)
	f.retryable = f.retryable || status == 0 && !isPermanent(e)
	return f
}

// fromAPI returns what an error of the API with a status means; 0 if it has none.
func fromAPI(e apiError, status int) *failure {
	f := &failure{code: apierror.FromStatus(status), message: cmp.Or(string(e.Message), fmt.Sprintf("the model's server replied with status %d", status))}
	for _, word := range words(e) {
		// A status says more than a type that fits many errors.
		if k, ok := codes[word]; ok && (!k.general || status == 0) {
			f.code = k.code
			break
		}
	}
	f.retryable = !isPermanent(e) && (status == http.StatusRequestTimeout || status == http.StatusConflict || status == http.StatusTooManyRequests ||
		status >= http.StatusInternalServerError)
	return f
}

// words are the code and the type of an error, the more exact one first.
func words(e apiError) []string { return []string{string(e.Code), string(e.Type)} }

func isPermanent(e apiError) bool {
	return slices.ContainsFunc(words(e), func(word string) bool { return codes[word].permanent })
}

// retryAfter is how long a server wants its clients to wait; 0 if it does not say so in
// seconds or milliseconds.
func retryAfter(l *replyLine) time.Duration {
	for _, x := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(l.header(x.name), 64); err == nil && n > 0 && n < math.MaxInt32 {
			return time.Duration(n * float64(x.unit))
		}
	}
	return 0
}

const (
	// maxRetries is how often a request is sent again.
	maxRetries = 2
	// firstWait is the pause before the first retry, which doubles before each further one.
	firstWait = 250 * time.Millisecond
	// maxWait bounds what a server may ask for.
	maxWait = time.Minute
)

// requestFailed sends the request again after a pause, or ends the turn. A transcript shows
// later whether the request was sent again.
func (t *translator) requestFailed(f *failure) {
	switch {
	case !f.retryable || t.attempts >= maxRetries:
		t.failTurn(f)
	case t.live == nil:
		t.failed = f
	default:
		c := t.live
		wait := min(cmp.Or(f.after, firstWait<<t.attempts), maxWait)
		t.retry(f)
		c.cancelRetry = c.host.After(wait, func() {
			c.cancelRetry = nil
			c.post()
		})
	}
}

// failTurn ends the turn with a failure.
func (t *translator) failTurn(f *failure) {
	t.emitUsage()
	t.l.Error(event.Error{Code: f.code, Message: f.message})
	t.reply, t.failed = reply{}, nil
	if t.live != nil {
		t.live.takeMessage()
	}
}

// retry retracts what the reply has said, because the request is sent again.
func (t *translator) retry(f *failure) {
	t.attempts++
	t.endBlocks(event.BlockRetracted)
	t.l.Notice(event.LevelWarning, event.NoticeRetry, f.message, nil)
	t.reply, t.failed = reply{}, nil
}
