package session_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// TestFloodOnRealThreads lets a runtime write as fast as it can while the listener is
// slow at times and callers call: nothing is lost, repeated or out of order. With the
// race detector it looks for state that is used without the lock.
func TestFloodOnRealThreads(t *testing.T) {
	g := NewWithT(t)
	const deltas = 4000
	f := newFakeProcess()
	var writing sync.WaitGroup
	go f.serveStdin(func(l string) {
		switch l {
		case "hello":
			f.Print("ready")
		case "send m0":
			writing.Go(func() {
				f.Print("turn")
				for i := 0; i < deltas; i += 100 {
					var lines []string // more than one batch
					for n := range 100 {
						lines = append(lines, fmt.Sprint("d ", i+n))
					}
					f.Print(lines...)
				}
				f.Print("end")
			})
		}
	})
	s, err := openSession(f, adapters.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Send(ctx, adapters.Message{ID: "m0"})).To(Succeed())
	var callers sync.WaitGroup
	stop := make(chan struct{})
	for n := range 3 {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.Answer(ctx, fmt.Sprint(n), adapters.Answer{}); !errors.Is(err, adapters.ErrUnknownID) {
					t.Error(err)
				}
				s.Backlog()
			}
		})
	}
	next, seq := 0, int64(0)
	for e := range s.Events() {
		if seq++; e.Seq != seq {
			t.Fatalf("event %d has seq %d", seq, e.Seq)
		}
		if d, ok := e.Data.(event.Delta); ok {
			if d.Text != fmt.Sprint(next) {
				t.Fatalf("delta %d is %q", next, d.Text)
			}
			if next++; next%1000 == 0 {
				time.Sleep(5 * time.Millisecond) // the ring fills
			}
		}
		if e.Terminal() {
			break
		}
	}
	close(stop)
	callers.Wait()
	writing.Wait()
	g.Expect(s.Close(ctx)).To(Succeed())
	g.Expect(next).To(Equal(deltas))
}

// TestReaderPausesBehindTheListener checks the backpressure: a session handles lines until
// 769 events are unread, and another line for each event that the listener receives.
func TestReaderPausesBehindTheListener(t *testing.T) {
	const deltas, unread = 2000, 769
	var depths []int
	var ages []time.Duration
	var texts []string
	runSession(t, newFakeProcess, adapters.Options{}, func(f *fakeProcess, l string) {
		switch l {
		case "hello":
			f.Print("ready")
		case "send m0":
			go func() {
				f.Print("turn")
				for n := range deltas {
					time.Sleep(time.Millisecond) // so that each line is read alone
					f.Print(fmt.Sprint("d ", n))
				}
				f.Print("end")
			}()
		}
	}, func(_ *fakeProcess, s *session.Session, evs <-chan event.Event) {
		_ = s.Send(ctx, adapters.Message{ID: "m0"})
		for range 5 {
			time.Sleep(time.Second)
			depth, age := s.Backlog()
			depths, ages = append(depths, depth), append(ages, age)
			for range min(len(depths), 3) {
				if d, ok := (<-evs).Data.(event.Delta); ok {
					texts = append(texts, d.Text)
				}
			}
		}
		for e := range evs {
			if d, ok := e.Data.(event.Delta); ok {
				texts = append(texts, d.Text)
			}
			if e.Terminal() {
				break
			}
		}
	})
	g := NewWithT(t)
	g.Expect(depths).To(HaveEach(unread))
	g.Expect(ages).To(Equal([]time.Duration{time.Second, 2 * time.Second, 3*time.Second - time.Millisecond, 4*time.Second - 4*time.Millisecond, 5*time.Second - 7*time.Millisecond}))
	g.Expect(texts).To(HaveLen(deltas))
	for n, text := range texts {
		g.Expect(text).To(Equal(fmt.Sprint(n)))
	}
}
