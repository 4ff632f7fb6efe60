package drive

import (
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// A sub-agent is stopped by the id of its turn. Versions that do not tell the
// turn's beginning tell it with the first item, which may come late.
func TestASubAgentIsStoppedByItsTurn(t *testing.T) {
	spawned := `{"method":"item/completed","params":{"threadId":"T","turnId":"U","item":{"type":"collabAgentToolCall","id":"call_t1","tool":"spawnAgent","receiverThreadIds":["C"]}}}` + "\n"
	for name, begins := range map[string]string{
		"its turn is told":       `{"method":"turn/started","params":{"threadId":"C","turn":{"id":"0"}}}` + "\n",
		"its first item is told": `{"method":"item/started","params":{"threadId":"C","turnId":"0","item":{"type":"userMessage","id":"i"}}}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r := codexSays(
					[2]string{`"turn/start"`, started + spawned},
					[2]string{`"turn/interrupt"`, `{"id":4,"result":{}}` + "\n" + `{"method":"turn/completed","params":{"threadId":"C","turn":{"id":"0","status":"interrupted"}}}` + "\n" + completed},
				)
				r.later = func(heard string, say func(string)) {
					if strings.Contains(heard, `"turn/start"`) {
						synctest.Wait() // the driver stands at the stop
						say(begins)
					}
				}
				scn, err := fixtures.ParseScenario("s.txtar", "text/s", []byte("It is stopped.\n\n-- scenario --\ntopic: text\n-- client --\n"+
					"send m1: Go.\nwait result t1\nstop task t1\nwait task t1\nwait end m1\n-- model --\n"+
					`[{"tool":"subagent","id":"t1","input":{"name":"scout","prompt":"Go.","background":true}}]`+"\n-- model scout --\n"+`[{"text":["a"]}]`+"\n"))
				g.Expect(err).NotTo(HaveOccurred())
				wire, err := play(t, "codex", scn, r, newHolds(""))
				g.Expect(err).NotTo(HaveOccurred())
				at := index(wire, "turn/interrupt")
				g.Expect(at).To(BeNumerically(">", index(wire, begins[:60])))
				g.Expect(wire[at]).To(ContainSubstring(`"params":{"threadId":"C","turnId":"0"}`))
			})
		})
	}
}
