package sqlite

import (
	"context"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// request is an append, a snapshot, a medium or an owner that waits for its commit.
type request struct {
	entries  []entry
	snapshot *snapshot
	medium   *medium
	owner    *sessionOwner
	copyRest bool // copy the remaining commits from FILE-wal after this one
	bytes    int

	err   error
	done  chan error
	stays bool          // its caller waits until it is committed
	turn  chan struct{} // receives if its caller has to commit
}

type entry struct {
	event event.Event
	line  []byte
}

type snapshot struct {
	session, kind string
	seq           int64
	data          []byte
}

// Append implements eventlog.Log.
func (l *Log) Append(ctx context.Context, events ...event.Event) error {
	if err := l.checkOpen(ctx); err != nil {
		return err
	}
	r := &request{entries: make([]entry, len(events))}
	for i, e := range events {
		line, err := eventlog.Encode(e)
		if err != nil {
			return err
		}
		r.entries[i] = entry{e, line}
		r.bytes += len(line)
	}
	return l.sendToWriter(ctx, r)
}

// PutSnapshot implements eventlog.Log.
func (l *Log) PutSnapshot(ctx context.Context, session string, seq int64, kind string, data []byte) error {
	if err := l.checkOpen(ctx); err != nil {
		return err
	}
	if err := eventlog.CheckSnapshot(session, seq, kind); err != nil {
		return err
	}
	// Copied, because the caller may return before the writer has stored it.
	kept := &snapshot{session, kind, seq, append([]byte{}, data...)}
	return l.sendToWriter(ctx, &request{snapshot: kept, bytes: len(data)})
}
