package chat

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/apierror"
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
	Message string         `json:"message"`
	Type    string         `json:"type"`
	Code    jsontext.Value `json:"code"` // a word, a number or null
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

// failureOf returns what an error of a request means, or nil for no error.
func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*openai.Error](err); ok {
		f := fromAPI(apiError{Message: e.Message, Type: e.Type, Code: jsontext.Value(strconv.Quote(e.Code))}, e.StatusCode)
		if e.Response != nil {
			f.after = retryAfter(e.Response.Header)
		}
		return f
	}
	if e, ok := errors.AsType[*ssestream.StreamError](err); ok {
		var body struct {
			Error apiError `json:"error"`
		}
		_ = json.Unmarshal(e.Event.Data, &body, lenient) // an error of another form has no words
		status, _ := strconv.Atoi(string(body.Error.Code))
		f := fromAPI(body.Error, status)
		f.retryable = f.retryable || status == 0 && !isPermanent(body.Error)
		return f
	}
	return &failure{code: event.ErrorNetwork, message: "the connection to the model failed: " + innermost(err).Error(), retryable: true}
}

// fromAPI returns what an error of the API with a status means; 0 if it has none.
func fromAPI(e apiError, status int) *failure {
	f := &failure{code: apierror.FromStatus(status), message: cmp.Or(e.Message, fmt.Sprintf("the model's server replied with status %d", status))}
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
func words(e apiError) []string {
	var code string
	_ = json.Unmarshal(e.Code, &code, lenient) // a number is a status
	return []string{code, e.Type}
}

func isPermanent(e apiError) bool {
	return slices.ContainsFunc(words(e), func(word string) bool { return codes[word].permanent })
}

// innermost is the reason of an error, without the address of the server.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// retryAfter is how long a server wants its clients to wait; 0 if it does not say so in
// seconds or milliseconds.
func retryAfter(h http.Header) time.Duration {
	for _, x := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.ParseFloat(h.Get(x.name), 64); err == nil && n > 0 && n < math.MaxInt32 {
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

// requestFailed sends the request again after a pause, or ends the turn.
func (t *translator) requestFailed(f *failure) {
	if !f.retryable || t.attempts >= maxRetries {
		t.emitUsage()
		t.l.Error(event.Error{Code: f.code, Message: f.message})
		t.reply = reply{}
		if t.live != nil {
			t.live.takeMessage()
		}
		return
	}
	wait := min(cmp.Or(f.after, firstWait<<t.attempts), maxWait)
	t.attempts++
	t.endBlocks(event.BlockRetracted)
	t.notice(event.LevelWarning, event.NoticeRetry, f.message, nil)
	t.reply = reply{}
	if c := t.live; c != nil {
		c.cancelRetry = c.host.After(wait, func() {
			c.cancelRetry = nil
			c.post()
		})
	}
}
