package pi

import (
	"errors"
	"regexp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// retryWait is how long the end of a turn waits for auto_retry_start or auto_retry_end, one
// of which the older dialect writes at once after the end of a run whose error it would
// repeat. They are missing only if the user has switched retries off.
const retryWait = 500 * time.Millisecond

// awaitRetry keeps the turn open until the runtime has written whether it tries again.
func (t *translator) awaitRetry() {
	if t.live == nil || t.cancelWait != nil {
		return
	}
	t.cancelWait = func() {}
	waiting := t.outcome
	// Only a runtime that still writes can have nothing more to say about it.
	t.live.send(command{Type: "get_last_assistant_text"}, true, func(_ jsontext.Value, err error) {
		if t.outcome != waiting || t.cancelWait == nil || errors.Is(err, session.ErrTimeout) {
			return
		}
		t.cancelWait = t.live.host.After(retryWait, func() {
			t.cancelWait = nil
			t.finishTurn()
		})
	})
}

func (t *translator) stopWaiting() {
	if t.cancelWait != nil {
		t.cancelWait()
		t.cancelWait = nil
	}
}

// retryStarted handles auto_retry_start: the last message of the model does not count.
func (t *translator) retryStarted() {
	t.stopWaiting()
	if t.l.Turn() == nil {
		return
	}
	t.endBlocks(event.BlockRetracted)
	t.retrying = true
	t.l.Notice(event.LevelWarning, event.NoticeRetry, string(t.m.ErrorMessage), nil)
}

// retryEnded handles auto_retry_end. After the last attempt of the older dialect, the turn
// ends here, after the end of its last run.
func (t *translator) retryEnded() {
	t.retrying = false
	if lenient.IsTrue(t.m.Success) || t.l.Turn() == nil {
		return
	}
	if t.outcome == nil {
		t.outcome = &outcome{reason: "error", err: string(t.m.FinalError)}
	}
	if t.m.FinalError == cancelled {
		t.outcome.reason = "aborted"
	}
	if !t.settles { // in the newer dialect agent_settled follows
		t.finishTurn()
	}
}

// cancelled is the error of a retry that an abort has ended.
const cancelled = "Retry cancelled"

// The words of errors after which the older dialect tries again.
var (
	retryWords = regexp.MustCompile(`(?i)overloaded|provider.?returned.?error|rate.?limit|too many requests|429|50[0234]|service.?unavailable|server.?error|` +
		`internal.?error|network.?error|connection.?(error|refused|lost)|websocket.?(closed|error)|other side closed|fetch failed|upstream.?connect|` +
		`reset before headers|socket hang up|ended without|http2 request|timed? out|timeout|terminated|retry delay`)
	contextWords = regexp.MustCompile(`(?i)prompt is too long|context.?(window|length)|maximum context|too many tokens|token limit exceeded|request_too_large`)
	abortWords   = regexp.MustCompile(`(?i)\b(request|operation) was aborted`)
)

func isRetryable(words string) bool {
	return retryWords.MatchString(words) && !contextWords.MatchString(words)
}

// stopped reports whether an abort has ended the run. If it came between two requests to the
// model, the newer dialect calls it an error.
func (o *outcome) stopped() bool {
	return o.reason == "aborted" || o.reason == "error" && abortWords.MatchString(o.err)
}
