package codex_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
)

// A retry that was announced may take as long as it likes. When the model speaks
// again it is over, also where no line tells that an item begins: silence is
// silence again.
func TestARetryIsOverWhenTheModelSpeaks(t *testing.T) {
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
			evs, _, err := talk(t, begun(), func(s adapters.Session, r *runtime) error {
				if err := say(s, "m1"); err != nil {
					return err
				}
				r.say(retry)
				r.say(c.line)
				time.Sleep(10 * time.Minute)
				return nil
			})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(kinds(evs)).To(ContainElement(c.end))
		})
	}
}
