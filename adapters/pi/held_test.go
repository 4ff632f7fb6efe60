package pi

import (
	"bufio"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/proc"
)

// A message is not written before the reply to the message or the compaction before it.
func TestMessagesAreHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		p := fakeproc.New()
		var written []string
		go func() {
			for in := bufio.NewScanner(p.In); in.Scan(); {
				if written = append(written, in.Text()); strings.Contains(in.Text(), "get_state") {
					p.Print(`{"id":"t1","type":"response","command":"get_state","success":true,"data":{"sessionId":"s1"}}`)
				}
			}
			p.Exit(proc.Exit{})
		}()
		s, err := New().Open(t.Context(), adapters.Options{Launch: p})
		g.Expect(err).NotTo(HaveOccurred())
		go func() {
			for range s.Events() { // only what is written counts
			}
		}()
		took := func() string {
			synctest.Wait()
			defer func() { written = nil }()
			return strings.Join(written, "\n")
		}
		took()
		compacter, _ := adapters.As[adapters.Compacter](s)
		g.Expect(compacter.Compact(t.Context())).To(Succeed())
		for _, id := range []string{"m1", "m2"} {
			g.Expect(s.Send(t.Context(), adapters.Message{ID: id, Text: "Say " + id})).To(Succeed())
		}
		g.Expect(took()).To(Equal(`{"id":"t2","type":"compact"}`))
		p.Print(`{"id":"t2","type":"response","command":"compact","success":true,"data":{}}`)
		g.Expect(took()).To(Equal(`{"id":"t3","type":"prompt","message":"Say m1"}`))
		p.Print(`{"id":"t3","type":"response","command":"prompt","success":true}`)
		g.Expect(took()).To(Equal(`{"id":"t4","type":"prompt","message":"Say m2","streamingBehavior":"followUp"}`))
		g.Expect(s.Close(t.Context())).To(Succeed())
	})
}
