package acp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

// TestFailuresOfCodex checks what codex-acp states about its runtime in the members that it adds:
// requests that are repeated, and the error by which a turn ends like any other.
func TestFailuresOfCodex(t *testing.T) {
	const retry = `{"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"Reconnecting... 1/2","additionalDetails":%q,"codexErrorInfo":%s,"willRetry":true}}}}`
	const failed = `{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"systemError"}}}}`
	text := func(id, s string) string {
		if id != "" {
			id = fmt.Sprintf(`"messageId":%q,`, id)
		}
		return fmt.Sprintf(`{"sessionUpdate":"agent_message_chunk",%s"content":{"type":"text","text":%q}}`, id, s)
	}
	disconnected := func(status string) string { return `{"responseStreamDisconnected":{"httpStatusCode":` + status + `}}` }
	for name, c := range map[string]struct {
		updates []string
		want    []string
	}{
		"a broken text is retracted": {
			[]string{text("msg_1", "Still"), fmt.Sprintf(retry, "cut", disconnected("null")), text("msg_2", "Still waters")},
			[]string{"delta Still", "block_end retracted", "notice retry Reconnecting... 1/2: cut", "delta Still waters", "block_end complete", "done"},
		},
		"broken reasoning is retracted": {
			[]string{strings.Replace(text("rs_1", "Hm"), "message_chunk", "thought_chunk", 1), fmt.Sprintf(retry, "", disconnected("null")), text("msg_2", "Yes")},
			[]string{"block_end retracted", "notice retry Reconnecting... 1/2", "delta Yes", "block_end complete", "done"},
		},
		"a reply that ended early stays": {
			[]string{text("msg_1", "I would"), fmt.Sprintf(retry, "Incomplete response returned, reason: content_filter", `"other"`), text("msg_2", "No.")},
			[]string{"delta I would", "block_end complete", "notice retry Reconnecting... 1/2: Incomplete response returned, reason: content_filter", "delta No.", "block_end complete", "done"},
		},
		"the words of an error are no text": {
			[]string{text("msg_1", "The sky"), failed, text("", "stream disconnected\n\n")},
			[]string{"delta The sky", "block_end interrupted", "error network stream disconnected"},
		},
		"the status of the last request is the code": {
			[]string{fmt.Sprintf(retry, "", disconnected("503")), failed, text("", "it did not work")},
			[]string{"notice retry Reconnecting... 1/2", "error overloaded it did not work"},
		},
		"an error without words": {[]string{failed}, []string{"error unknown the turn failed"}},
		"other information":      {[]string{`{"sessionUpdate":"session_info_update","title":"Sky","_meta":{"codex":7}}`, text("msg_1", "a")}, []string{"delta a", "block_end complete", "done"}},
	} {
		g := NewWithT(t)
		var got []string
		n := New().Transcribe("s1", func(e event.Event) {
			switch d := e.Data.(type) {
			case event.Delta:
				got = append(got, "delta "+d.Text)
			case event.BlockEnd:
				got = append(got, "block_end "+string(d.Status))
			case event.Notice:
				got = append(got, "notice "+string(d.Code)+" "+d.Text)
			case event.Error:
				got = append(got, "error "+string(d.Code)+" "+d.Message)
			case event.Done:
				got = append(got, "done")
			}
		})
		line := func(s string) { n.Line(time.Time{}, []byte(s)) }
		line(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"@agentclientprotocol/codex-acp","version":"2.6.0"}}}`)
		line(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
		for _, u := range c.updates {
			line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + u + `}}`)
		}
		line(`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`)
		n.End()
		g.Expect(got).To(Equal(c.want), name)
	}
}
