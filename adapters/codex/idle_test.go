package codex_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
)

// An announced retry may take any time. It ends when the model sends something,
// even if no line reports the start of an item; then the idle limit applies
// again.
func TestRetryEndsWhenTheModelContinues(t *testing.T) {
	const retry = `{"method":"error","params":{"threadId":"T","turnId":"u1","willRetry":true,"error":{"message":"Reconnecting... 1/5"}}}`
	for name, c := range map[string]struct {
		line string
		end  string
	}{
		"text":      {`{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"u1","itemId":"i","delta":"Hello"}}`, "error timeout"},
		"reasoning": {`{"method":"item/reasoning/textDelta","params":{"threadId":"T","turnId":"u1","itemId":"i","delta":"Hm","contentIndex":0}}`, "error timeout"},
		"nothing":   {`{"method":"thread/status/changed","params":{"threadId":"T"}}`, "done true"}, // it still waits when the session closes
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			evs, _, err := runClient(t, startedTurn(), func(s adapters.Session, r *runtime) error {
				if err := send(s, "m1"); err != nil {
					return err
				}
				r.Print(retry)
				r.Print(c.line)
				time.Sleep(10 * time.Minute)
				return nil
			})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(kinds(evs)).To(ContainElement(c.end))
		})
	}
}
