package plug

import (
	"errors"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

func readSeqs(q *queue) (out []int64) {
	for e := range q.Events() {
		out = append(out, e.Seq)
	}
	return out
}

func TestAddKeepsOrderAndNeverBlocks(t *testing.T) {
	g := NewWithT(t)
	q := newQueue()
	var want []int64
	for i := range int64(1000) { // without a reader
		q.Add(event.Event{Seq: i})
		want = append(want, i)
	}
	q.Finish()
	q.Finish()
	g.Expect(readSeqs(q)).To(Equal(want))
}

func TestEventsAddedWhileReadingArrive(t *testing.T) {
	g := NewWithT(t)
	q := newQueue()
	go func() {
		for i := range int64(1000) {
			q.Add(event.Event{Seq: i})
		}
		q.Finish()
	}()
	g.Expect(readSeqs(q)).To(HaveLen(1000))
}

func TestDropEndsTheGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		q := newQueue()
		q.Add(event.Event{Seq: 1})
		synctest.Wait()
		q.drop()
		q.drop()
		synctest.Wait()
		if _, open := <-q.Events(); open {
			t.Error("a dropped queue delivered an event")
		}
	})
}

func TestFirstErrorIsKept(t *testing.T) {
	g := NewWithT(t)
	q := newQueue()
	defer q.drop()
	g.Expect(q.ProtocolError()).To(Succeed())
	first := errors.New("first")
	g.Expect(q.recordError(first)).To(BeTrue())
	g.Expect(q.recordError(errors.New("second"))).To(BeFalse())
	g.Expect(q.ProtocolError()).To(BeIdenticalTo(first))
}
