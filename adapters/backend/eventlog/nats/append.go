package nats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// writer is held while a program appends to one of its sessions. It caches what they
// hold, which the server compares with the truth.
type writer struct {
	mu       sync.Mutex
	sessions map[string]state
}

// writerSessions is the number of sessions that a writer caches.
const writerSessions = 256

var seed = maphash.MakeSeed()

func (l *Log) writerOf(session string) *writer {
	return &l.writers[maphash.String(seed, session)%uint64(len(l.writers))]
}

type entry struct {
	event event.Event
	line  []byte
}

// Append implements eventlog.Log. It stores the sessions one after the other.
func (l *Log) Append(ctx context.Context, events ...event.Event) error {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	entries := make([]entry, len(events))
	for i, e := range events {
		line, err := eventlog.Encode(e)
		if err != nil {
			return err
		}
		entries[i] = entry{e, line}
	}
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].event.SessionID == entries[0].event.SessionID {
			n++
		}
		if err := l.appendSession(ctx, entries[:n]); err != nil {
			return l.methodError(ctx, "append", err)
		}
		entries = entries[n:]
	}
	return nil
}

// appendSession appends events of one session.
func (l *Log) appendSession(ctx context.Context, entries []entry) error {
	session := entries[0].event.SessionID
	w := l.writerOf(session)
	w.mu.Lock()
	defer w.mu.Unlock()
	return l.retry(ctx, func(ctx context.Context) error {
		err := l.appendOnce(ctx, w, session, entries)
		if err != nil {
			delete(w.sessions, session) // the next try asks the server
		}
		return err
	})
}

// appendOnce compares the events that are stored already and stores the others.
func (l *Log) appendOnce(ctx context.Context, w *writer, session string, entries []entry) error {
	s, cached := w.sessions[session]
	if !cached {
		var err error
		if s, err = l.readState(ctx, session); err != nil {
			return err
		}
	}
	first := s.info.Last.Seq + 1
	after := s.info // of the new events
	var lines [][]byte
	var refused error
	for _, e := range entries {
		if refused = l.compare(ctx, e, first, lines); refused != nil {
			break
		}
		if e.event.Seq == after.Last.Seq+1 {
			after.Add(e.event)
			lines = append(lines, e.line)
		}
	}
	for len(lines) > 0 {
		n, err := l.publishLines(ctx, session, &s, entries, lines)
		if err != nil {
			return err
		}
		lines = lines[n:]
	}
	if len(w.sessions) >= writerSessions || w.sessions == nil {
		w.sessions = map[string]state{}
	}
	w.sessions[session] = s
	return refused
}

// compare returns an error if an event leaves others out, or if another one has its seq.
// The new events so far begin at first.
func (l *Log) compare(ctx context.Context, e entry, first int64, lines [][]byte) error {
	session, seq := e.event.SessionID, e.event.Seq
	next := first + int64(len(lines))
	if seq > next {
		return &eventlog.GapError{Session: session, Last: next - 1, Seq: seq}
	}
	if seq == next {
		return nil
	}
	var there []byte
	if seq >= first {
		there = lines[seq-first]
	} else {
		stored, err := l.readLines(ctx, session, seq-1, 1)
		if err != nil {
			return err
		}
		if len(stored) == 0 {
			return fmt.Errorf("%w: session %q has no seq %d and ends at %d", eventlog.ErrCorrupt, session, seq, first-1)
		}
		there = stored[0]
	}
	if !bytes.Equal(there, e.line) {
		return &eventlog.ConflictError{Session: session, Seq: seq}
	}
	return nil
}

// publishLines stores the first lines in one message, or one line in several, and
// returns how many lines it stored. It updates s.
func (l *Log) publishLines(ctx context.Context, session string, s *state, entries []entry, lines [][]byte) (int, error) {
	limit := max(l.maxData(), 1024)
	n, size := 1, len(lines[0])
	for n < len(lines) && size+1+len(lines[n]) <= min(limit, eventlog.PageBytes/4) {
		size += 1 + len(lines[n])
		n++
	}
	first, info := s.info.Last.Seq+1, s.info
	for _, e := range entries {
		if e.event.Seq == info.Last.Seq+1 && e.event.Seq < first+int64(n) {
			info.Add(e.event)
		}
	}
	subject := l.eventSubject(tokenOf(session))
	if size <= limit {
		m, err := newMessage(subject, first, info, bytes.Join(lines[:n], []byte("\n")))
		if err != nil {
			return 0, err
		}
		return n, l.publish(ctx, m, s, info)
	}
	parts := (size + limit - 1) / limit
	start := uint64(0)
	for part := 1; part <= parts; part++ {
		data := lines[0][(part-1)*limit : min(part*limit, size)]
		upTo := s.info
		if part == parts {
			upTo = info
		}
		m, err := newMessage(subject, first, upTo, data)
		if err != nil {
			return 0, err
		}
		m.Header.Set(headerPart, strconv.Itoa(part))
		m.Header.Set(headerParts, strconv.Itoa(parts))
		if part > 1 {
			m.Header.Set(headerStart, strconv.FormatUint(start, 10))
		}
		if err := l.publish(ctx, m, s, upTo); err != nil {
			return 0, err
		}
		if part == 1 {
			start = s.sequence
		}
	}
	return 1, nil
}

// headerRoom is the size of a message that its headers may take.
const headerRoom = 16 << 10

// maxData returns the number of bytes that a message may hold.
func (l *Log) maxData() int { return int(l.conn.MaxPayload()) - headerRoom }

// publish stores a message if the session is in state s, and updates s.
func (l *Log) publish(ctx context.Context, m *nats.Msg, s *state, info eventlog.Info) error {
	ack, err := l.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(s.sequence), jetstream.WithRetryAttempts(0))
	switch {
	case isWrongLast(err):
		return errRaced
	case err != nil:
		return err
	}
	s.sequence, s.info = ack.Sequence, info
	return nil
}

// readState returns the state of a session on the server.
func (l *Log) readState(ctx context.Context, session string) (state, error) {
	m, err := l.events.GetLastMsgForSubject(ctx, l.eventSubject(tokenOf(session)))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return state{}, nil
	case err != nil:
		return state{}, err
	}
	return stateOf(m.Sequence, m.Header)
}

// Expire deletes the sessions whose last event is from before a time, with their
// snapshots, media and owners, and returns how many there were. It leaves out those that a server has
// claimed. If another program records one of them without a claim, its next append is
// refused with a GapError.
func (l *Log) Expire(ctx context.Context, before time.Time) (sessions int, err error) {
	infos, err := l.Sessions(ctx)
	if err != nil {
		return 0, err
	}
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	for _, i := range infos {
		if !i.Latest.Before(before) {
			continue
		}
		if _, held, err := l.Holder(ctx, i.SessionID); err != nil || held {
			if err != nil {
				return sessions, err
			}
			continue
		}
		token := tokenOf(i.SessionID)
		err := l.retry(ctx, func(ctx context.Context) error {
			return errors.Join(l.media.Purge(ctx, jetstream.WithPurgeSubject(l.mediaSubject(i.SessionID)+".>")),
				l.snapshots.Purge(ctx, jetstream.WithPurgeSubject(l.snapshotSubject(i.SessionID)+".>")),
				l.events.Purge(ctx, jetstream.WithPurgeSubject(l.eventSubject(token))),
				l.leases.Purge(ctx, jetstream.WithPurgeSubject(l.ownerSubject(token))))
		})
		if err != nil {
			return sessions, l.methodError(ctx, "expire", err)
		}
		sessions++
	}
	return sessions, nil
}
