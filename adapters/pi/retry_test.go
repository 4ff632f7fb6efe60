package pi

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

// typesOf normalizes lines and returns the types of the events, without those that only
// signal activity.
func typesOf(lines ...string) (out []string) {
	n := New().Transcribe("s1", func(e event.Event) {
		switch d := e.Data.(type) {
		case event.Thinking:
		case event.BlockEnd:
			out = append(out, "block_end "+string(d.Status))
		case event.Error:
			out = append(out, "error "+string(d.Code))
		default:
			out = append(out, string(e.Type()))
		}
	})
	for _, l := range lines {
		n.Line(time.Time{}, []byte(l))
	}
	n.End()
	return out
}

const (
	saysHalf = `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"half"},"message":{"content":[{"type":"text","text":"half of it"}]}}`
	failed   = `{"type":"message_end","message":{"role":"assistant","stopReason":"error","errorMessage":"503 overloaded"}}`
	endOld   = `{"type":"agent_end","messages":[{"role":"assistant","stopReason":"error","errorMessage":"503 overloaded"}]}`
	endNew   = `{"type":"agent_end","willRetry":true,"messages":[{"role":"assistant","stopReason":"error","errorMessage":"503 overloaded"}]}`
	retries  = `{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"errorMessage":"503 overloaded"}`
	start    = `{"type":"agent_start"}`
	begins   = `{"type":"message_start","message":{"role":"assistant"}}`
)

// In both dialects a turn goes on while a retry is pending, and what was said is retracted.
func TestTurnGoesOnWhileARetryIsPending(t *testing.T) {
	g := NewWithT(t)
	for _, end := range []string{endOld, endNew} {
		g.Expect(typesOf(start, begins, saysHalf, failed, end, retries, start, begins, saysHalf,
			`{"type":"message_end","message":{"role":"assistant","stopReason":"stop"}}`,
			`{"type":"agent_end","willRetry":false,"messages":[{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"half"}]}]}`, `{"type":"agent_settled"}`,
		)).To(Equal([]string{"session_ready", "turn_start", "delta", "block_end retracted", "notice", "delta", "block_end complete", "result", "done", "session_end"}))
	}
}

// After the last attempt the older dialect writes auto_retry_end and nothing else.
func TestLastAttemptEndsTheTurn(t *testing.T) {
	g := NewWithT(t)
	g.Expect(typesOf(start, begins, failed, endOld, retries, start, begins, failed, endOld,
		`{"type":"auto_retry_end","success":false,"attempt":1,"finalError":"503 overloaded"}`, start, begins,
	)).To(Equal([]string{"session_ready", "turn_start", "notice", "error overloaded", "turn_start", "error crash", "session_end"}))
	g.Expect(typesOf(start, begins, failed, endOld, retries,
		`{"type":"auto_retry_end","success":false,"attempt":1,"finalError":"Retry cancelled"}`,
	)).To(Equal([]string{"session_ready", "turn_start", "notice", "done", "session_end"}))
}

func TestCodeOf(t *testing.T) {
	g := NewWithT(t)
	for words, want := range map[string]event.ErrorCode{
		"401 invalid":                            event.ErrorAuth,
		`429: {"message":"slow down"}`:           event.ErrorRateLimit,
		"503 Service Unavailable":                event.ErrorOverloaded,
		"500 broken":                             event.ErrorModel,
		"400 maximum context length is 9 tokens": event.ErrorContext,
		"Connection error.":                      event.ErrorNetwork,
		"Stream ended without finish_reason":     event.ErrorNetwork,
		"Provider finish_reason: content_filter": event.ErrorModel,
		"429 You exceeded your current quota":    event.ErrorBilling,
		"something else":                         event.ErrorUnknown,
	} {
		g.Expect(codeOf(words)).To(Equal(want), words)
	}
}

func TestUnifiedLines(t *testing.T) {
	g := NewWithT(t)
	g.Expect(unifiedLines(" 1 line1\n-2 line2\n+2 LINE2\n   ...\n 12 end")).To(Equal("@@ -1,2 +1,2 @@\n line1\n-line2\n+LINE2\n@@ -12,1 +12,1 @@\n end\n"))
}
