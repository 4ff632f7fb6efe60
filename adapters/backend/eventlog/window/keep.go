package window

import (
	"context"
	"sync"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

// Kind is the kind of the snapshots that this package stores.
const Kind = "replay"

// Kept is the number of messages in a snapshot, in addition to older ones that are open.
const Kept = 64

// fewest is the number of bytes of events below which no snapshot is stored.
const fewest = 64 << 10

// Keep returns a log that appends to log and stores snapshots as it does, so
// that Open does not have to read all events. The options are those of
// replay.New; pass the same to Open. Keep holds the newest messages of each
// session that is appended to in memory, until session_end.
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

// session is the state of a session that is appended to.
type session struct {
	mu     sync.Mutex
	r      *replay.Reducer // nil if it has to be loaded
	events int             // bytes of events since the last snapshot
	last   int             // bytes of the last snapshot
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
		k.reduceStored(ctx, events[:n])
		events = events[n:]
	}
	return nil
}

// reduceStored adds stored events of one session to its reducer and stores
// snapshots of it.
func (k *keeper) reduceStored(ctx context.Context, events []event.Event) {
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
		if s.r != nil && e.Seq > s.r.Seq()+1 {
			s.r = nil // another writer appended events: load them
		}
		if s.r == nil {
			if e.Seq == 1 {
				s.r = replay.New(k.options...)
			} else if s.loadState(ctx, k, id, e.Seq-1) != nil {
				k.forget(id) // the next append loads it again
				return
			}
		}
		if e.Seq <= s.r.Seq() {
			continue // appended twice
		}
		s.addEvent(e)
		if _, ended := e.Data.(event.SessionEnd); ended {
			s.storeSnapshot(ctx, k, id)
			k.forget(id)
			s.r = nil
			return
		}
		if s.events >= max(k.fewest, 2*s.last) {
			s.storeSnapshot(ctx, k, id)
		}
	}
}

func (k *keeper) forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.sessions, id)
}

func (s *session) addEvent(e event.Event) {
	s.r.Add(e)
	if b, err := e.AppendJSON(s.buf[:0]); err == nil {
		s.buf = b
		s.events += len(b)
	}
	if cap(s.buf) > fewest {
		s.buf = nil
	}
}

// loadState restores the state of a session up to seq from the log.
func (s *session) loadState(ctx context.Context, k *keeper, id string, seq int64) error {
	r, size, err := restoreLatest(ctx, k.Log, id, seq, k.options)
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
		s.addEvent(e)
	}
	return nil
}

// storeSnapshot stores a snapshot and goes on with a reducer that holds nothing else.
// If that fails, the snapshot is left out.
func (s *session) storeSnapshot(ctx context.Context, k *keeper, id string) {
	s.events = 0
	data, err := s.r.Snapshot(k.kept)
	if err != nil || k.PutSnapshot(ctx, id, s.r.Seq(), Kind, data) != nil {
		return
	}
	s.last = len(data)
	if r, err := replay.Restore(data, k.options...); err == nil {
		s.r = r
	}
}
