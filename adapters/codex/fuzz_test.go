package codex_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
)

// For any input, nothing panics, the rules of the stream hold, and the strict
// decoder accepts every event.
func FuzzLines(f *testing.F) {
	const at = `"threadId":"T","turnId":"u"`
	f.Add([]byte(`{"id":2,"result":{"thread":{"id":"T"}}}`))
	f.Add([]byte(`{"method":"turn/started","params":{"threadId":"T","turn":{"id":"u"}}}` + "\n" + `{"method":"error","params":{"error":{"message":"x"},"willRetry":true,` + at + `}}`))
	f.Add([]byte(`{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"u","status":"failed","error":{"message":"m","codexErrorInfo":{"httpConnectionFailed":{"httpStatusCode":401}}}}}}`))
	f.Add([]byte(fmt.Sprintf(delta, 1)))
	f.Add([]byte(`{"method":"turn/plan/updated","params":{` + at + `,"plan":[{"step":"s","status":"inProgress"}]}}`))
	f.Add([]byte(`{"method":"item/commandExecution/requestApproval","id":0,"params":{` + at + `,"itemId":"i","command":["a"],"availableDecisions":[{"x":1},"accept"]}}`))
	f.Add([]byte(`{"method":"serverRequest/resolved","params":{"requestId":0}}`))
	for _, it := range []string{`"userMessage","content":[{"type":"text","text":"x"}]`, `"agentMessage","text":"a"`, `"reasoning","summary":["s"],"content":["c"]`,
		`"commandExecution","command":"/bin/bash -lc 'a'","commandActions":[{"type":"read","path":"p"}],"processId":"1"`, `"fileChange","changes":[{"path":"p","kind":{"type":"update","move_path":"q"},"diff":"d"}]`,
		`"mcpToolCall","server":"s","tool":"t","result":{"content":[{"type":"text","text":"x"}]}`, `"collabAgentToolCall","tool":"spawnAgent","receiverThreadIds":["C"],"agentsStates":{"C":{"status":"running"}}`,
		`"subAgentActivity","kind":"completed","agentThreadId":"C"`, `"webSearch","action":{"type":"search","query":"q"}`, `"contextCompaction"`, `"exitedReviewMode","review":"r"`} {
		for _, m := range []string{"started", "completed"} {
			f.Add([]byte(`{"method":"item/` + m + `","params":{` + at + `,"item":{"id":"i","type":` + it + `}}}`))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var evs []event.Event
		n := codex.New().Transcribe("s", func(e event.Event) {
			line, err := e.AppendJSON(nil)
			if err != nil {
				t.Errorf("%s: %v", e.Type(), err)
			} else if _, err := event.Decode(line); err != nil {
				t.Errorf("the strict decoder refuses %s: %v", line, err)
			}
			evs = append(evs, e)
		})
		for l := range bytes.SplitSeq(b, []byte("\n")) {
			n.Line(time.Unix(0, 0), l)
		}
		n.End()
		checkStream(t, evs)
	})
}
