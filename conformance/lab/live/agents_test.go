//go:build live

package live

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/exchange"
	"github.com/turnspec/turnspec/adapters/backend/exchange/exchangetest"
	"github.com/turnspec/turnspec/adapters/event"
)

// claudeAsks is the model of a Claude Code that asks the agent codex with these calls, and is
// called back with the answers if they do not wait.
func claudeAsks(calls ...string) string {
	reply := `{"on":"m1"},{"text":["I ask."]}`
	for i, input := range calls {
		reply += `,{"tool":"client","id":"t` + strconv.Itoa(i+1) + `","input":{"tool":"agents_message","arguments":` + input + `}}`
	}
	return `An agent asks that of another runtime.

-- scenario --
topic: session
-- client --
send m1: Ask the other agent.
send m2: Three.
send m3: Nine.
-- tool agents_message --
{"description":"Sends a message to another agent.","result":[{"text":"The server gives the answer."}]}
-- model --
[` + reply + `]
[{"text":["That is all."]}]
[{"on":"m2"},{"text":["Three birds."]}]
[{"on":"m3"},{"text":["Nine fish."]}]
`
}

// codexAnswers is the model of the Codex that is asked. It halts before its first answer.
const codexAnswers = `An agent is asked.

-- scenario --
topic: session
-- client --
send m1: How many birds are there?
send m2: How many fish are there?
-- model --
[{"on":"m1"},{"text":["I count."]},{"hold":"h1"},{"text":[]},{"text":["Three."]}]
[{"on":"m2"},{"text":["Nine."]}]
`

const (
	asksBirds = `{"to":"codex","message":"How many birds are there?"}`
	asksFish  = `{"to":"codex","message":"How many fish are there?"}`
	waits     = `{"to":"codex","message":"How many birds are there?","wait":true}`
)

// TestAgentsOnTwoRuntimes lets a real Claude Code ask a real Codex, on one server. The Codex is
// in the middle of its answer to the first message when then is called.
func TestAgentsOnTwoRuntimes(t *testing.T) {
	for name, c := range map[string]struct {
		calls  []string
		then   func(*served)
		turns  int // of the sender
		tasks  []event.TaskStatus
		answer []string // of the tasks that are completed
		asked  int      // messages that the receiver took
	}{
		"called back":             {calls: []string{asksBirds}, then: goOn, turns: 2, tasks: []event.TaskStatus{event.TaskCompleted}, answer: []string{"Three."}, asked: 1},
		"waits":                   {calls: []string{waits}, then: goOn, turns: 1, tasks: []event.TaskStatus{event.TaskCompleted}, answer: []string{"Three."}, asked: 1},
		"the receiver is busy":    {calls: []string{asksBirds, asksFish}, then: goOn, turns: 3, tasks: []event.TaskStatus{event.TaskCompleted, event.TaskCompleted}, answer: []string{"Three.", "Nine."}, asked: 2},
		"the receiver crashes":    {calls: []string{waits}, then: killCodex, turns: 1, tasks: []event.TaskStatus{event.TaskFailed}, asked: 1},
		"the sender is stopped":   {calls: []string{waits}, then: stop("a"), turns: 1, tasks: []event.TaskStatus{event.TaskInterrupted}, asked: 1},
		"the receiver is stopped": {calls: []string{waits}, then: stop("a-codex"), turns: 1, tasks: []event.TaskStatus{event.TaskStopped}, asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, map[string]string{"claude": claudeAsks(c.calls...), "codex": codexAnswers})
			s, g := m.serve("--agents"), m.g
			s.call(http.MethodPost, "/sessions", `{"session_id":"a","runtime":"claude","params":{"workingDir":"`+m.rooms.Work+`","permissionMode":"bypassPermissions"}}`)
			s.call(http.MethodPost, "/sessions/a/message", `{"message_id":"m1","message":"Ask the other agent."}`)
			events := func(session string) []event.Event { return s.history(session) }
			running := func() int { return len(tasksWith(events("a"), event.TaskRunning)) }
			g.Eventually(running).WithTimeout(20 * time.Second).Should(Equal(len(c.calls)))
			g.Eventually(func() string { return textOf(events("a-codex")) }).WithTimeout(20 * time.Second).Should(Equal("I count."))
			c.then(s)
			g.Eventually(func() int { return turnsEnded(events("a")) }).WithTimeout(20 * time.Second).Should(Equal(c.turns))
			g.Eventually(func() int { return turnsEnded(events("a-codex")) }).WithTimeout(20 * time.Second).Should(Equal(c.asked))
			a, b := events("a"), events("a-codex")
			r := exchangetest.Judge(map[string][]event.Event{"a": a, "a-codex": b})
			g.Expect(r.Exchanges).To(Equal(len(c.calls)))
			g.Expect(r.Problems).To(BeEmpty())
			var statuses []event.TaskStatus
			var answers []string
			for _, d := range dataOf[event.Task](a) {
				if d.Status == event.TaskRunning {
					continue
				}
				if statuses = append(statuses, d.Status); d.Status == event.TaskCompleted {
					answers = append(answers, d.Text)
				}
			}
			g.Expect(statuses).To(Equal(c.tasks))
			g.Expect(answers).To(Equal(c.answer))
			asked := dataOf[event.UserMessage](b)
			g.Expect(asked).To(HaveLen(c.asked))
			for _, d := range asked {
				of, answer := exchange.Of(d.MessageID)
				g.Expect(of).NotTo(BeEmpty())
				g.Expect(answer).To(BeFalse())
			}
			g.Expect(m.models["claude"].Err()).NotTo(HaveOccurred())
			g.Expect(m.models["codex"].Err()).NotTo(HaveOccurred())
			if name == "called back" { // the model itself received the answer
				g.Expect(m.models["claude"].Witness()[2].New).To(Equal([]string{"m2"}))
			}
		})
	}
}

// goOn lets Codex finish its answer.
func goOn(s *served) { s.models["codex"].Release("h1") }

// stop stops the turn of a session.
func stop(session string) func(*served) {
	return func(s *served) { s.call(http.MethodPost, "/sessions/"+session+"/stop", "") }
}

// killCodex kills the Codex process as a crash does.
func killCodex(s *served) {
	b, err := os.ReadFile(filepath.Join(s.rooms.Root, "codex.pid"))
	s.g.Expect(err).NotTo(HaveOccurred())
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	s.g.Expect(err).NotTo(HaveOccurred())
	s.g.Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
}

func tasksWith(events []event.Event, status event.TaskStatus) (out []event.Task) {
	for _, d := range dataOf[event.Task](events) {
		if d.Status == status {
			out = append(out, d)
		}
	}
	return out
}

// turnsEnded counts the turns that ended.
func turnsEnded(events []event.Event) (n int) {
	for _, e := range events {
		switch e.Data.(type) {
		case event.Done, event.Error:
			if e.SubagentID == "" && e.Turn > 0 {
				n++
			}
		}
	}
	return n
}
