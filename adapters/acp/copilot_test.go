package acp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

// TestWordsOfCopilot checks the pieces of text that hold words of the agent and none of the model.
func TestWordsOfCopilot(t *testing.T) {
	text := func(s string) string {
		return fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}`, s)
	}
	const size = `{"sessionUpdate":"usage_update","used":8657,"size":128000}`
	const interrupted = "Response was interrupted due to a server error. Retrying..."
	for name, c := range map[string]struct {
		updates []string
		want    []string
	}{
		"a broken text is retracted": {
			[]string{text("Still"), text("Info: " + interrupted), size, text("Still waters")},
			[]string{"delta reply-1 Still", "block_end retracted", "notice retry " + interrupted, "delta reply-2 Still waters", "block_end complete", "done"},
		},
		"the words of an error end the turn": {
			[]string{text("The sky"), text("Error: 400 bad thing")},
			[]string{"delta reply-1 The sky", "block_end interrupted", "error invalid_request 400 bad thing"},
		},
		"the last request has the code": {
			[]string{text("Error: Failed to get response from the AI model; retried 5 times (total retry wait time: 16.37 seconds) Last error: 500 bad")},
			[]string{"error model Failed to get response from the AI model; retried 5 times (total retry wait time: 16.37 seconds) Last error: 500 bad"},
		},
		"what goes on is text of the model": {
			[]string{text("Error: "), text("404 is not found.")},
			[]string{"delta reply-1 Error: ", "delta reply-1 404 is not found.", "block_end complete", "done"},
		},
		"a denial and a path are no text": {
			[]string{text("Info: Operation cancelled by user"), text("Info: /work/poem.txt"), text("Info: see below")},
			[]string{"delta reply-1 Info: see below", "block_end complete", "done"},
		},
		"the next request begins a message": {
			[]string{size, text("Once upon"), size, text("The end.")},
			[]string{"delta reply-1 Once upon", "block_end complete", "delta reply-2 The end.", "block_end complete", "done"},
		},
	} {
		g := NewWithT(t)
		var got []string
		n := New().Transcribe("s1", func(e event.Event) {
			switch d := e.Data.(type) {
			case event.Delta:
				got = append(got, "delta "+d.MessageID+" "+d.Text)
			case event.BlockEnd:
				got = append(got, "block_end "+string(d.Status))
			case event.Notice:
				got = append(got, strings.TrimSpace("notice "+string(d.Code)+" "+d.Text))
			case event.Error:
				got = append(got, "error "+string(d.Code)+" "+d.Message)
			case event.Done:
				got = append(got, "done")
			}
		})
		line := func(s string) { n.Line(time.Time{}, []byte(s)) }
		line(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"Copilot","version":"1.0.102"}}}`)
		line(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
		for _, u := range c.updates {
			line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + u + `}}`)
		}
		line(`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`)
		n.End()
		g.Expect(got).To(Equal(c.want), name)
	}
}
