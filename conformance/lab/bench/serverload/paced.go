package serverload

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// paced is an adapter without a runtime: its sessions emit deltas that are due at fixed
// times. It measures when a listener in the process receives them.
type paced struct {
	mu     sync.Mutex
	delays *hdrhistogram.Histogram
}

func newPaced() *paced { return &paced{delays: newHistogram()} }

// newHistogram returns a histogram of microseconds, from 1 µs to two minutes.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(2*time.Minute/time.Microsecond), 3)
}

// delaysOf returns the percentiles of a histogram.
func delaysOf(h *hdrhistogram.Histogram) Delays {
	seconds := func(us int64) float64 { return float64(us) / 1e6 }
	return Delays{seconds(h.ValueAtQuantile(50)), seconds(h.ValueAtQuantile(99)), seconds(h.Max())}
}

// record adds the delay of an event to a histogram, if it is a delta.
func record(h *hdrhistogram.Histogram, due time.Time) {
	_ = h.RecordValue(max(1, min(time.Since(due).Microseconds(), h.HighestTrackableValue()))) // within its bounds
}

func (p *paced) take() Delays {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := delaysOf(p.delays)
	p.delays.Reset()
	return d
}

// Capabilities implements adapters.Adapter.
func (*paced) Capabilities() adapters.Capabilities { return adapters.Capabilities{Runtime: "paced"} }

// Open implements adapters.Adapter.
func (p *paced) Open(_ context.Context, o adapters.Options) (adapters.Session, error) {
	s := &session{p: p, id: o.SessionID, emitted: make(chan event.Event), received: make(chan event.Event), closed: make(chan struct{}), turns: make(chan turn, 1)}
	go s.listen()
	go s.run()
	return s, nil
}

// turn is what a message asks for: "N INTERVAL START", in nanoseconds.
type turn struct {
	message  string
	n        int
	interval time.Duration
	start    time.Time
}

// text returns the message that asks for a turn.
func (t turn) text() string {
	return fmt.Sprintf("%d %d %d", t.n, t.interval.Nanoseconds(), t.start.UnixNano())
}

// session is a session of paced.
type session struct {
	p                 *paced
	id                string
	emitted, received chan event.Event
	closed            chan struct{}
	once              sync.Once
	turns             chan turn
	seq               int64
	turn              int
}

// listen is the listener in the process.
func (s *session) listen() {
	defer close(s.received)
	for e := range s.emitted {
		if d, is := e.Data.(event.Delta); is {
			if due, ok := dueTime(d.Text); ok {
				s.p.mu.Lock()
				record(s.p.delays, due)
				s.p.mu.Unlock()
			}
		}
		s.received <- e
	}
}

// dueTime reads when a delta was due.
func dueTime(text string) (time.Time, bool) {
	ns, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return time.Unix(0, ns), err == nil
}

func (s *session) emit(d event.Data) {
	s.seq++
	s.emitted <- event.Event{Data: d, TS: time.Now().UTC(), Seq: s.seq, SessionID: s.id, Turn: s.turn}
}

func (s *session) run() {
	defer close(s.emitted)
	s.emit(event.SessionReady{SessionID: s.id, Runtime: "paced", ProviderSessionID: s.id})
	for {
		select {
		case t := <-s.turns:
			s.play(t)
		case <-s.closed:
			s.turn = 0
			s.emit(event.SessionEnd{Reason: "closed"})
			return
		}
	}
}

// play emits a turn, each delta when it is due.
func (s *session) play(t turn) {
	s.turn++
	s.emit(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{t.message}})
	s.emit(event.UserMessage{MessageID: t.message, Text: "go", Via: event.ViaTurn})
	for i := range t.n {
		due := t.start.Add(time.Duration(i) * t.interval)
		select {
		case <-time.After(time.Until(due)):
		case <-s.closed:
			return
		}
		s.emit(event.Delta{Text: strconv.FormatInt(due.UnixNano(), 10) + " ", MessageID: "m", BlockID: "b"})
	}
	s.emit(event.BlockEnd{BlockID: "b", Status: event.BlockComplete})
	s.emit(event.Done{})
	s.turn = 0
}

// Events implements adapters.Session.
func (s *session) Events() <-chan event.Event { return s.received }

// Send implements adapters.Session.
func (s *session) Send(_ context.Context, m adapters.Message) error {
	var interval, start int64
	t := turn{message: m.ID}
	if _, err := fmt.Sscan(m.Text, &t.n, &interval, &start); err != nil {
		return fmt.Errorf("%w: %w", adapters.ErrRefused, err)
	}
	t.interval, t.start = time.Duration(interval), time.Unix(0, start)
	s.turns <- t
	return nil
}

// Stop implements adapters.Session.
func (*session) Stop(context.Context) error { return adapters.ErrNoTurn }

// Answer implements adapters.Session.
func (*session) Answer(context.Context, string, adapters.Answer) error { return adapters.ErrUnknownID }

// Close implements adapters.Session.
func (s *session) Close(context.Context) error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
