package sidecar

import (
	"context"
	"slices"
	"sync"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// Bounds of a tail. A listener that is further behind reads from the log.
const (
	tailEvents = 128
	tailBytes  = 64 << 10 // one event may be larger
)

// tail holds the newest stored events of a session that runs here, so that its listeners
// neither read nor encode each event by themselves. Only the recorder of the session
// appends to its log, unless this server has lost it.
type tail struct {
	mu      sync.Mutex
	base    int64 // seq of the event before the first entry
	entries []entry
	bytes   int // of their lines
	grown   chan struct{}
}

// entry is an event, with its JSON form if it is known.
type entry struct {
	event event.Event
	line  []byte
}

// begin makes the tail hold the events with a seq above base.
func (t *tail) begin(base int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.base, t.grown = base, make(chan struct{})
}

// add adds stored events.
func (t *tail) add(events []event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		if e.Seq != t.base+int64(len(t.entries))+1 {
			continue // a retry of an append
		}
		line, err := eventlog.Encode(e)
		if err != nil {
			line = nil // each listener tries again, and ends
		}
		t.entries = append(t.entries, entry{e, line})
		t.bytes += len(line)
	}
	for len(t.entries) > 1 && (len(t.entries) > tailEvents || t.bytes > tailBytes) {
		t.bytes -= len(t.entries[0].line)
		t.entries[0] = entry{}
		t.entries = t.entries[1:]
		t.base++
	}
	close(t.grown)
	t.grown = make(chan struct{})
}

// changed returns a channel that the next add closes.
func (t *tail) changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.grown
}

// last returns the seq of the last entry.
func (t *tail) last() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.base + int64(len(t.entries))
}

// after returns the entries with a seq above one. It reports false if the tail does not
// hold the next one any more.
func (t *tail) after(seq int64) ([]entry, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seq < t.base {
		return nil, false
	}
	return slices.Clone(t.entries[min(int(seq-t.base), len(t.entries)):]), true
}

// tailedLog adds what is appended to a tail.
type tailedLog struct {
	eventlog.Log
	tail *tail
}

// Append implements eventlog.Log.
func (l tailedLog) Append(ctx context.Context, events ...event.Event) error {
	err := l.Log.Append(ctx, events...)
	if err == nil {
		l.tail.add(events)
	}
	return err
}
