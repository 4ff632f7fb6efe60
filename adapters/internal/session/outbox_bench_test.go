package session

import (
	"runtime"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// BenchmarkOutbox emits b.N events through an outbox as readLines does.
func BenchmarkOutbox(b *testing.B) {
	for _, load := range []struct {
		name             string
		listener, reader int // rounds of spin for each event
	}{
		{"flood, a fast listener", 0, 100},
		{"flood, a listener as fast as the reader", 300, 300},
		{"flood, a slow listener", 400, 100},
	} {
		b.Run(load.name, func(b *testing.B) {
			s := newOutboxSession()
			received := make(chan int)
			go func() {
				n, x := 0, uint64(0)
				for range s.outbox.ring {
					x += spin(load.listener)
					n++
				}
				runtime.KeepAlive(x)
				received <- n
			}()
			at := time.Now()
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; {
				s.lock.Lock()
				for range min(maxBatch, b.N-n) {
					s.waitForRoom()
					s.outbox.add(event.Event{TS: at, Seq: int64(spin(load.reader))})
					n++
				}
				s.outbox.flush()
				s.lock.Unlock()
			}
			s.lock.Lock()
			s.outbox.finish()
			s.lock.Unlock()
			if n := <-received; n != b.N {
				b.Errorf("%d of %d events were received", n, b.N)
			}
		})
	}
	b.Run("one delta at a time", func(b *testing.B) {
		s := newOutboxSession()
		received := make(chan struct{})
		go func() {
			for range s.outbox.ring {
				received <- struct{}{}
			}
			close(received)
		}()
		at := time.Now()
		b.ReportAllocs()
		for b.Loop() {
			s.lock.Lock()
			s.waitForRoom()
			s.outbox.add(event.Event{TS: at})
			s.outbox.flush()
			s.lock.Unlock()
			<-received
		}
		s.lock.Lock()
		s.outbox.finish()
		s.lock.Unlock()
		<-received
	})
}

// newOutboxSession returns a session that has no process, only an outbox.
func newOutboxSession() *Session {
	s := &Session{}
	s.outbox = newOutbox(&s.lock, sessionLimits)
	return s
}

// spin uses the processor for about three nanoseconds a round. The result depends on all
// rounds.
func spin(rounds int) uint64 {
	x := uint64(rounds)
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
