package acp

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

// agent replies to the handshake, and to nothing else.
type agent struct {
	*fakeproc.Process
	written []string
	events  []event.Event
}

// startTurn opens a session with an agent and begins a turn. The test must run in a bubble,
// which fails if a goroutine is left.
func startTurn(t *testing.T, g *WithT) (*agent, adapters.Session) {
	t.Helper()
	a := &agent{Process: fakeproc.New()}
	go func() {
		for in := bufio.NewScanner(a.In); in.Scan(); {
			a.written = append(a.written, in.Text())
			var m struct {
				ID     jsontext.Value `json:"id"`
				Method string         `json:"method"`
			}
			_ = json.Unmarshal(in.Bytes(), &m) // an answer has other members
			switch m.Method {
			case "initialize":
				a.Print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"x","version":"1"}}}`, m.ID))
			case "session/new":
				a.Print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s1"}}`, m.ID))
			case "session/set_mode":
				a.Print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
			}
		}
		a.Exit(proc.Exit{})
	}()
	s, err := New().Open(t.Context(), adapters.Options{Opening: op.Opening{Mode: adapters.ModeNever}, Launch: a})
	g.Expect(err).NotTo(HaveOccurred())
	go func() {
		for e := range s.Events() {
			a.events = append(a.events, e)
		}
	}()
	synctest.Wait()
	g.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Go."})).To(Succeed())
	synctest.Wait()
	g.Expect(a.wrote("session/prompt")).NotTo(BeEmpty())
	return a, s
}

// wrote returns the last line to the agent that contains the text.
func (a *agent) wrote(text string) string {
	for _, line := range slices.Backward(a.written) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

func ofType[T any](events []event.Event) (out []T) {
	for _, e := range events {
		if d, ok := e.Data.(T); ok {
			out = append(out, d)
		}
	}
	return out
}

const says = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello."}}}}`

func TestDeathInATurnEndsItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		a, s := startTurn(t, g)
		a.Print(says)
		a.Exit(proc.Exit{Code: 7})
		synctest.Wait()
		g.Expect(ofType[event.Delta](a.events)).To(HaveLen(1))
		g.Expect(ofType[event.Error](a.events)).To(HaveLen(1))
		g.Expect(ofType[event.Done](a.events)).To(BeEmpty())
		g.Expect(ofType[event.SessionEnd](a.events)).To(HaveLen(1))
		g.Expect(s.Send(t.Context(), adapters.Message{ID: "m2", Text: "Again."})).NotTo(Succeed())
		g.Expect(s.Close(context.Background())).To(Succeed())
	})
}

func TestStopDuringAQuestionCancelsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		a, s := startTurn(t, g)
		a.Print(`{"jsonrpc":"2.0","id":"q1","method":"session/request_permission","params":{"sessionId":"s1","options":[{"kind":"allow_once","name":"Allow","optionId":"yes"},` +
			`{"kind":"reject_once","name":"Reject","optionId":"no"}],"toolCall":{"toolCallId":"t1","title":"ls","kind":"execute","rawInput":{"command":"ls"}}}}`)
		synctest.Wait()
		g.Expect(ofType[event.PermissionRequest](a.events)).To(HaveLen(1))
		stopped := make(chan error, 1)
		go func() { stopped <- s.Stop(t.Context()) }()
		synctest.Wait()
		g.Expect(a.wrote("session/cancel")).NotTo(BeEmpty())
		g.Expect(a.wrote(`"q1"`)).To(ContainSubstring(`"cancelled"`), "an open question has no other answer")
		var prompt struct {
			ID jsontext.Value `json:"id"`
		}
		g.Expect(json.Unmarshal([]byte(a.wrote("session/prompt")), &prompt)).To(Succeed())
		a.Print(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`, prompt.ID))
		synctest.Wait()
		g.Expect(stopped).To(Receive(BeNil()))
		g.Expect(ofType[event.Done](a.events)).To(Equal([]event.Done{{Stopped: true}}))
		g.Expect(s.Close(t.Context())).To(Succeed())
	})
}

func TestLineAboveTheLimitIsANotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		a, s := startTurn(t, g)
		a.Print(`{"jsonrpc":"2.0","method":"session/update","params":{"x":"` + strings.Repeat("x", 64<<20) + `"}}`)
		a.Print(says)
		synctest.Wait()
		g.Expect(ofType[event.Notice](a.events)).To(HaveLen(1))
		g.Expect(ofType[event.Delta](a.events)).To(HaveLen(1), "the session goes on after the line")
		g.Expect(s.Close(t.Context())).To(Succeed())
	})
}
