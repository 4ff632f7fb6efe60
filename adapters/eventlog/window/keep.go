package window

import (
	"context"
	"sync"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/eventlog"
	"github.com/turnspec/turnspec/adapters/replay"
)

// Kind is the kind of the snapshots that this package stores.
const Kind = "replay"

// Kept is how many messages a snapshot holds, next to what is open before them.
const Kept = 64

// fewest is how many bytes of events are not worth a snapshot.
const fewest = 64 << 10

// Keep returns a log that does what log does and stores snapshots as events are
// appended, so that Open need not read them all. The options are those of
// replay.New; Open wants the same. It keeps the newest messages of each session
// that is appended to in memory, until session_end.
func Keep(log eventlog.Log, options ...replay.Option) eventlog.Log {
	return &keeper{Log: log, options: options, kept: Kept, fewest: fewest, sessions: map[string]*session{}}
}

type keeper struct {
	eventlog.Log
	options  []replay.Option
	kept     int
	fewest   int
	mu       sync.Mutex
	sessions map[string]*session
}

// session is what is known of a session's end.
type session struct {
	mu     sync.Mutex
	r      *replay.Reducer // nil: not known, to be read
	events int             // bytes of events since the last snapshot
	last   int             // bytes of that
	buf    []byte
}

// Append implements eventlog.Log.
func (k *keeper) Append(ctx context.Context, events ...event.Event) error {
	if err := k.Log.Append(ctx, events...); err != nil {
		return err
	}
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].SessionID == events[0].SessionID {
			n++
		}
		k.take(ctx, events[:n])
		events = events[n:]
	}
	return nil
}

// take reduces events of one session, which are stored.
func (k *keeper) take(ctx context.Context, events []event.Event) {
	id := events[0].SessionID
	k.mu.Lock()
	s := k.sessions[id]
	if s == nil {
		s = &session{}
		k.sessions[id] = s
	}
	k.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		if s.r == nil {
			if e.Seq == 1 {
				s.r = replay.New(k.options...)
			} else if s.read(ctx, k, id, e.Seq-1) != nil {
				return // the next event tries again
			}
		}
		switch seq := s.r.Seq(); {
		case e.Seq <= seq:
			continue // again
		case e.Seq > seq+1:
			s.r = nil // another writer was faster: read what it wrote
			return
		}
		s.add(e)
		if _, over := e.Data.(event.SessionEnd); over {
			s.store(ctx, k, id)
			k.mu.Lock()
			delete(k.sessions, id)
			k.mu.Unlock()
			s.r = nil
			return
		}
		if s.events >= max(k.fewest, 2*s.last) {
			s.store(ctx, k, id)
		}
	}
}

func (s *session) add(e event.Event) {
	s.r.Add(e)
	if b, err := e.AppendJSON(s.buf[:0]); err == nil {
		s.buf = b
		s.events += len(b)
	}
	if cap(s.buf) > fewest {
		s.buf = nil
	}
}

// read takes up a session at seq.
func (s *session) read(ctx context.Context, k *keeper, id string, seq int64) error {
	r, size, err := latest(ctx, k.Log, id, seq, k.options)
	if err != nil {
		return err
	}
	s.r, s.last, s.events = r, size, 0
	for e, err := range eventlog.All(ctx, k.Log, id, r.Seq()) {
		if err != nil {
			s.r = nil
			return err
		}
		if e.Seq > seq {
			break
		}
		s.add(e)
	}
	return nil
}

// store stores a snapshot and goes on with what it holds alone.
func (s *session) store(ctx context.Context, k *keeper, id string) {
	data, err := s.r.Snapshot(k.kept)
	if err == nil {
		err = k.PutSnapshot(ctx, id, s.r.Seq(), Kind, data)
	}
	if err != nil {
		s.events = 0 // the next time again
		return
	}
	s.events, s.last = 0, len(data)
	if r, err := replay.Restore(data, k.options...); err == nil {
		s.r = r
	}
}
