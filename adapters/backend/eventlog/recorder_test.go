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

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

func deltaAt(seq int64) event.Event {
	return event.Event{
		SessionID: "s", Seq: seq, Turn: 1, TS: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		Data: event.Delta{Text: fmt.Sprint("word ", seq), MessageID: "m", BlockID: "b"},
	}
}

// gatedLog is a log whose Append waits for a value from let and returns it if it
// is an error.
type gatedLog struct {
	eventlog.Memory
	let     chan error
	mu      sync.Mutex
	appends []int // number of events of each
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

// sendDeltas sends the events up to seq to and then closes the channel.
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

func TestRecorderTees(t *testing.T) {
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
		g.Expect(lastSeqOf(log)).To(BeEquivalentTo(3000), "Events is closed after all events are stored")
		g.Expect(r.Err()).To(Succeed())
		g.Expect(r.Flush(t.Context())).To(Succeed())
	})
}

// A function in place of the listener is called with all events, in order, while the log still
// appends the first one.
func TestRecorderCallsObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		log := &gatedLog{let: make(chan error)}
		var observed []event.Event
		r := eventlog.Record(log, sendDeltas(100), eventlog.RecorderOptions{Observe: func(e event.Event) { observed = append(observed, e) }})
		synctest.Wait()
		g.Expect(observed).To(HaveLen(100))
		for i, e := range observed {
			g.Expect(e).To(Equal(deltaAt(int64(i + 1))))
		}
		select {
		case e, open := <-r.Events():
			t.Fatalf("Events gave %v (open: %t) before the events were stored", e, open)
		default:
		}
		close(log.let)
		_, open := <-r.Events()
		g.Expect(open).To(BeFalse())
		g.Expect(lastSeqOf(log)).To(BeEquivalentTo(100))
		g.Expect(observed).To(HaveLen(100))
	})
}

// The listener receives all events while the log still appends the first one.
// The others are then stored in one append.
func TestRecorderDoesNotBlockListener(t *testing.T) {
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
		g.Expect(log.appends).To(HaveLen(2), "the first event, then all others")
	})
}

// If the queue is full, in events or in bytes, the runtime waits.
func TestRecorderQueueIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		o    eventlog.RecorderOptions
		want int
	}{
		"events": {eventlog.RecorderOptions{Queue: 10}, 10},
		"bytes":  {eventlog.RecorderOptions{QueueBytes: 5000}, 19}, // each takes a quarter of a KiB and a word
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
				close(log.let)
				for range r.Events() {
					got++
				}
				g.Expect(got).To(Equal(100))
				g.Expect(lastSeqOf(log)).To(BeEquivalentTo(100))
			})
		})
	}
	t.Run("one event above the limit", func(t *testing.T) {
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

func TestRecorderRetries(t *testing.T) {
	for _, kind := range []error{eventlog.ErrBusy, eventlog.ErrFull} {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			log := &gatedLog{let: make(chan error)}
			began := time.Now()
			var waits []error
			r := eventlog.Record(log, sendDeltas(20), eventlog.RecorderOptions{Waits: func(err error) { waits = append(waits, err) }})
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
			g.Expect(waits).To(HaveExactElements(MatchError(kind), MatchError(kind), MatchError(kind), BeNil()), "it says why it waits each time, and once that it goes on")
		})
	}
}

// TestRecorderReportsEachReason checks that Waits gets the reason of each retry, because a log that
// is busy at first may be full later.
func TestRecorderReportsEachReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		log := &gatedLog{let: make(chan error)}
		var waits []error
		r := eventlog.Record(log, sendDeltas(20), eventlog.RecorderOptions{Waits: func(err error) { waits = append(waits, err) }})
		r.Detach()
		log.let <- eventlog.ErrBusy
		log.let <- eventlog.ErrFull
		close(log.let)
		for range r.Events() {
			t.Error("it was detached")
		}
		g.Expect(waits).To(Equal([]error{eventlog.ErrBusy, eventlog.ErrFull, nil}))
	})
}

// The recorder reports the error for which it gives up, and the listener still
// receives all events.
func TestRecorderGivesUp(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		err   error
		after time.Duration // at most
	}{
		"at once":           {broken, 0},
		"after RetryFor":    {eventlog.ErrBusy, 10 * time.Second},
		"after FullFor":     {eventlog.ErrFull, 20 * time.Second},
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
				var reported []error
				r := eventlog.Record(log, sendDeltas(100), eventlog.RecorderOptions{
					Queue: 4, RetryFor: 10 * time.Second, FullFor: 20 * time.Second, Failed: func(err error) { reported = append(reported, err) },
				})
				seq := int64(0)
				for e := range r.Events() {
					seq++
					g.Expect(e.Seq).To(Equal(seq))
				}
				g.Expect(seq).To(BeEquivalentTo(100))
				g.Expect(reported).To(HaveLen(1))
				g.Expect(reported[0]).To(MatchError(c.err))
				g.Expect(r.Err()).To(MatchError(c.err))
				g.Expect(r.Flush(t.Context())).To(MatchError(c.err))
				g.Expect(time.Since(began)).To(BeNumerically("<=", c.after))
				g.Expect(lastSeqOf(log)).To(BeZero())
			})
		})
	}
}

// If the listener detaches, the recorder stores the rest.
func TestRecorderDetach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		log := &eventlog.Memory{}
		r := eventlog.Record(log, sendDeltas(100), eventlog.RecorderOptions{})
		for range 10 {
			<-r.Events()
		}
		synctest.Wait() // the recorder is blocked on the next event
		r.Detach()
		r.Detach()
		synctest.Wait()
		_, open := <-r.Events()
		g.Expect(open).To(BeFalse())
		g.Expect(lastSeqOf(log)).To(BeEquivalentTo(100))
	})
}
