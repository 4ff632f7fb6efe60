package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/eventlog"
)

func deltaAt(seq int64) event.Event {
	return event.Event{
		SessionID: "s", Seq: seq, Turn: 1, TS: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		Data: event.Delta{Text: fmt.Sprint("word ", seq), MessageID: "m", BlockID: "b"},
	}
}

// gatedLog is a log whose Append waits until it is let go, and fails with what it
// is told.
type gatedLog struct {
	eventlog.Memory
	let     chan error
	mu      sync.Mutex
	appends []int // how many events each had
}

func (l *gatedLog) Append(ctx context.Context, events ...event.Event) error {
	err := <-l.let
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.appends = append(l.appends, len(events))
	l.mu.Unlock()
	return l.Memory.Append(ctx, events...)
}

// sendDeltas sends so many events and then ends the session.
func sendDeltas(to int64) <-chan event.Event {
	c := make(chan event.Event)
	go func() {
		defer close(c)
		for seq := int64(1); seq <= to; seq++ {
			c <- deltaAt(seq)
		}
	}()
	return c
}

func lastSeqOf(log eventlog.Log) int64 {
	info, _ := log.Session(context.Background(), "s")
	return info.Last.Seq
}

func TestARecorderTees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		log := &eventlog.Memory{}
		r := eventlog.Record(log, sendDeltas(3000), eventlog.RecorderOptions{})
		seq := int64(0)
		for e := range r.Events() {
			seq++
			g.Expect(e).To(Equal(deltaAt(seq)))
			if seq == 1500 {
				g.Expect(r.Flush(t.Context())).To(Succeed())
				g.Expect(lastSeqOf(log)).To(BeNumerically(">=", 1500))
			}
		}
		g.Expect(seq).To(BeEquivalentTo(3000))
		g.Expect(lastSeqOf(log)).To(BeEquivalentTo(3000), "all is stored when Events is closed")
		g.Expect(r.Err()).To(Succeed())
		g.Expect(r.Flush(t.Context())).To(Succeed())
	})
}

// The listener has each event while the log still works on the first; what waits
// then is stored in one append.
func TestARecorderDoesNotHoldUpItsListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		log := &gatedLog{let: make(chan error)}
		began := time.Now()
		r := eventlog.Record(log, sendDeltas(100), eventlog.RecorderOptions{})
		for seq := int64(1); seq <= 100; seq++ {
			g.Expect(<-r.Events()).To(Equal(deltaAt(seq)))
		}
		g.Expect(time.Since(began)).To(BeZero())
		synctest.Wait()
		time.Sleep(3 * time.Second)
		depth, oldest := r.Backlog()
		g.Expect(depth).To(Equal(100))
		g.Expect(oldest).To(Equal(3 * time.Second))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		g.Expect(r.Flush(ctx)).To(MatchError(context.DeadlineExceeded))
		cancel()
		flushed := make(chan error)
		go func() { flushed <- r.Flush(t.Context()) }()
		close(log.let)
		g.Expect(<-flushed).To(Succeed())
		g.Expect(lastSeqOf(log)).To(BeEquivalentTo(100))
		_, open := <-r.Events()
		g.Expect(open).To(BeFalse())
		g.Expect(log.appends).To(HaveLen(2), "the first, and all that came meanwhile")
	})
}

// With the queue full the runtime waits: in events, and in bytes.
func TestARecordersQueueIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		o    eventlog.RecorderOptions
		want int
	}{
		"events": {eventlog.RecorderOptions{Queue: 10}, 10},
		"bytes":  {eventlog.RecorderOptions{QueueBytes: 5000}, 19}, // of a quarter of a KiB and a word
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				log := &gatedLog{let: make(chan error)}
				r := eventlog.Record(log, sendDeltas(100), c.o)
				got := 0
				for range c.want {
					<-r.Events()
					got++
				}
				synctest.Wait()
				select {
				case e := <-r.Events():
					t.Errorf("event %d came past a full queue", e.Seq)
				default:
				}
				depth, _ := r.Backlog()
				g.Expect(depth).To(Equal(c.want))
				close(log.let) // and goes on
				for range r.Events() {
					got++
				}
				g.Expect(got).To(Equal(100))
				g.Expect(lastSeqOf(log)).To(BeEquivalentTo(100))
			})
		})
	}
	t.Run("one that is too big", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			c := make(chan event.Event, 2)
			big := deltaAt(1)
			big.Data = event.Delta{Text: strings.Repeat("x", 10_000), MessageID: "m", BlockID: "b"}
			c <- big
			c <- deltaAt(2)
			close(c)
			log := &eventlog.Memory{}
			n := 0
			for range eventlog.Record(log, c, eventlog.RecorderOptions{QueueBytes: 1000}).Events() {
				n++
			}
			g.Expect(n).To(Equal(2))
			g.Expect(lastSeqOf(log)).To(BeEquivalentTo(2))
		})
	})
}

func TestARecorderTriesAgain(t *testing.T) {
	for _, kind := range []error{eventlog.ErrBusy, eventlog.ErrFull} {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			log := &gatedLog{let: make(chan error)}
			began := time.Now()
			r := eventlog.Record(log, sendDeltas(20), eventlog.RecorderOptions{})
			r.Detach()
			for range 3 {
				log.let <- fmt.Errorf("/some/file: %w", kind)
			}
			close(log.let)
			for range r.Events() {
				t.Error("it was detached")
			}
			g.Expect(r.Err()).To(Succeed())
			g.Expect(lastSeqOf(log)).To(BeEquivalentTo(20))
			g.Expect(time.Since(began)).To(Equal((50 + 100 + 200) * time.Millisecond))
		})
	}
}

// What it gives up for it tells, and the listener still has all.
func TestARecorderGivesUp(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		err   error
		after time.Duration // at most
	}{
		"at once":           {broken, 0},
		"out of patience":   {eventlog.ErrFull, 10 * time.Second},
		"the log is closed": {eventlog.ErrClosed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				log := &gatedLog{let: make(chan error)}
				stop := make(chan struct{})
				defer close(stop)
				go func() {
					for {
						select {
						case log.let <- c.err:
						case <-stop:
							return
						}
					}
				}()
				began := time.Now()
				var told []error
				r := eventlog.Record(log, sendDeltas(100), eventlog.RecorderOptions{
					Queue: 4, RetryFor: 10 * time.Second, Failed: func(err error) { told = append(told, err) },
				})
				seq := int64(0)
				for e := range r.Events() {
					seq++
					g.Expect(e.Seq).To(Equal(seq))
				}
				g.Expect(seq).To(BeEquivalentTo(100))
				g.Expect(told).To(HaveLen(1))
				g.Expect(told[0]).To(MatchError(c.err))
				g.Expect(r.Err()).To(MatchError(c.err))
				g.Expect(r.Flush(t.Context())).To(MatchError(c.err))
				g.Expect(time.Since(began)).To(BeNumerically("<=", c.after))
				g.Expect(lastSeqOf(log)).To(BeZero())
			})
		})
	}
}

// A listener that goes away in the middle stops nothing.
func TestARecorderIsDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		log := &eventlog.Memory{}
		r := eventlog.Record(log, sendDeltas(100), eventlog.RecorderOptions{})
		for range 10 {
			<-r.Events()
		}
		synctest.Wait() // it offers the next
		r.Detach()
		r.Detach()
		synctest.Wait()
		_, open := <-r.Events()
		g.Expect(open).To(BeFalse())
		g.Expect(lastSeqOf(log)).To(BeEquivalentTo(100))
	})
}
