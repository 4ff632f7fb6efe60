package pi

import (
	"bufio"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/proc"
)

// The older dialect drops the id of a reply that refuses a command. Such a reply is that of
// the oldest call of the command, and ends no other call.
func TestReplyWithoutIDRefusesTheOldestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		p := fakeproc.New()
		go func() {
			for in := bufio.NewScanner(p.In); in.Scan(); {
				if strings.Contains(in.Text(), "get_state") {
					p.Print(`{"id":"t1","type":"response","command":"get_state","success":true,"data":{"sessionId":"s1"}}`)
				}
			}
			p.Exit(proc.Exit{})
		}()
		s, err := New().Open(t.Context(), adapters.Options{Launch: p})
		g.Expect(err).NotTo(HaveOccurred())
		notices := 0
		go func() {
			for e := range s.Events() {
				if _, ok := e.Data.(event.Notice); ok {
					notices++
				}
			}
		}()
		synctest.Wait()
		namer, ok := adapters.As[adapters.Renamer](s)
		g.Expect(ok).To(BeTrue())
		const calls = 8
		ended := make([]chan error, calls) // a call blocks until its reply
		for i := range ended {
			ended[i] = make(chan error, 1)
			go func() { ended[i] <- namer.Rename(t.Context(), "name") }()
			synctest.Wait()
		}
		p.Print(`{"type":"response","command":"set_session_name","success":true}`)
		p.Print(`{"type":"response","command":"set_model","success":false,"error":"no such model"}`)
		synctest.Wait()
		g.Expect(notices).To(Equal(2), "a reply that belongs to no call is a notice")
		for i := range calls {
			p.Print(`{"type":"response","command":"set_session_name","success":false,"error":"Unknown command"}`)
			synctest.Wait()
			for j, c := range ended {
				if j == i {
					g.Expect(c).To(Receive(MatchError(ContainSubstring("Unknown command"))), "call %d", j)
				} else {
					g.Expect(c).NotTo(Receive(), "call %d has ended with the reply to call %d", j, i)
				}
			}
		}
		g.Expect(notices).To(Equal(2))
		g.Expect(s.Close(t.Context())).To(Succeed())
	})
}
