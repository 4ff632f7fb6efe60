package feed_test

import (
	"errors"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/feed"
)

func numbers(f *feed.Feed) (out []int64) {
	for e := range f.Events() {
		out = append(out, e.Seq)
	}
	return out
}

func TestEventsComeInTheirOrderAndNobodyWaits(t *testing.T) {
	g := NewWithT(t)
	f := feed.New()
	var want []int64
	for i := range int64(1000) { // nobody reads yet
		f.Add(event.Event{Seq: i})
		want = append(want, i)
	}
	f.Finish()
	f.Finish()
	g.Expect(numbers(f)).To(Equal(want))
}

func TestWhatComesWhileSomebodyReads(t *testing.T) {
	g := NewWithT(t)
	f := feed.New()
	go func() {
		for i := range int64(1000) {
			f.Add(event.Event{Seq: i})
		}
		f.Finish()
	}()
	g.Expect(numbers(f)).To(HaveLen(1000))
}

func TestAFeedThatNobodyReadsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it ends when no goroutine is left
		f := feed.New()
		f.Add(event.Event{Seq: 1})
		synctest.Wait()
		f.Drop()
		f.Drop()
		synctest.Wait()
		if _, open := <-f.Events(); open {
			t.Error("an event came of a feed that was dropped")
		}
	})
}

func TestTheFirstMistakeStays(t *testing.T) {
	g := NewWithT(t)
	f := feed.New()
	defer f.Drop()
	g.Expect(f.ProtocolError()).To(Succeed())
	first := errors.New("first")
	g.Expect(f.Blame(first)).To(BeTrue())
	g.Expect(f.Blame(errors.New("second"))).To(BeFalse())
	g.Expect(f.ProtocolError()).To(BeIdenticalTo(first))
}
