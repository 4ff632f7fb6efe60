package registry_test

import (
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// A sub-agent is stopped by the id of its turn. Versions that do not report that
// the turn has started name it in its first item, which may come late.
func TestStopTaskWaitsForTheTurnOfASubAgent(t *testing.T) {
	spawned := `{"method":"item/completed","params":{"threadId":"T","turnId":"U","item":{"type":"collabAgentToolCall","id":"call_t1","tool":"spawnAgent","receiverThreadIds":["C"]}}}` + "\n"
	for name, begins := range map[string]string{
		"turn/started": `{"method":"turn/started","params":{"threadId":"C","turn":{"id":"0"}}}` + "\n",
		"item/started": `{"method":"item/started","params":{"threadId":"C","turnId":"0","item":{"type":"userMessage","id":"i"}}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r := codexServer(
					[2]string{`"turn/start"`, started + spawned},
					[2]string{`"turn/interrupt"`, `{"id":4,"result":{}}` + "\n" + `{"method":"turn/completed","params":{"threadId":"C","turn":{"id":"0","status":"interrupted"}}}` + "\n" + completed},
				)
				r.async = func(input string, emit func(string)) {
					if strings.Contains(input, `"turn/start"`) {
						synctest.Wait() // the driver waits in the stop
						emit(begins)
					}
				}
				scn, err := fixtures.ParseScenario("s.txtar", "text/s", []byte("It is stopped.\n\n-- scenario --\ntopic: text\n-- client --\n"+
					"send m1: Go.\nwait result t1\nstop task t1\nwait task t1\nwait end m1\n-- model --\n"+
					`[{"tool":"subagent","id":"t1","input":{"name":"scout","prompt":"Go.","background":true}}]`+"\n-- model scout --\n"+`[{"text":["a"]}]`+"\n"))
				g.Expect(err).NotTo(HaveOccurred())
				wire, err := record(t, "codex", scn, r, newModel(""))
				g.Expect(err).NotTo(HaveOccurred())
				at := indexOf(wire, "turn/interrupt")
				g.Expect(at).To(BeNumerically(">", indexOf(wire, begins[:60])))
				g.Expect(wire[at]).To(ContainSubstring(`"params":{"threadId":"C","turnId":"0"}`))
			})
		})
	}
}
