package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// Session implements eventlog.Log.
func (l *Log) Session(ctx context.Context, session string) (eventlog.Info, error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return eventlog.Info{}, err
	}
	defer end()
	var s state
	err = l.retry(ctx, func(ctx context.Context) (err error) {
		s, err = l.readState(ctx, session)
		return err
	})
	switch {
	case err != nil:
		return eventlog.Info{}, l.methodError(ctx, "read", err)
	case s.info.Last.Seq == 0:
		return eventlog.Info{}, fmt.Errorf("%s: %w: %q", l.name, eventlog.ErrUnknownSession, session)
	}
	return s.info, nil
}

// Sessions implements eventlog.Log. It reads no events.
func (l *Log) Sessions(ctx context.Context) (out []eventlog.Info, err error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	err = l.retry(ctx, func(ctx context.Context) error {
		out = nil
		return lastMessages(ctx, l.events, l.eventSubject("*"), func(_ string, h nats.Header, _ []byte) error {
			s, err := stateOf(0, h)
			if err == nil && s.info.Last.Seq > 0 {
				out = append(out, s.info)
			}
			return err
		}, true)
	})
	slices.SortFunc(out, func(a, b eventlog.Info) int {
		return cmp.Or(b.Latest.Compare(a.Latest), cmp.Compare(a.SessionID, b.SessionID))
	})
	return out, l.methodError(ctx, "list sessions", err)
}

// lastMessages calls f with the last message of each subject that matches a pattern.
func lastMessages(ctx context.Context, stream jetstream.Stream, pattern string, f func(subject string, h nats.Header, data []byte) error, headersOnly bool) error {
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, AckPolicy: jetstream.AckNonePolicy, FilterSubject: pattern,
		HeadersOnly: headersOnly, InactiveThreshold: 10 * time.Second, MemoryStorage: true,
	})
	if err != nil {
		return err
	}
	info := consumer.CachedInfo()
	defer func() { _ = stream.DeleteConsumer(context.WithoutCancel(ctx), info.Name) }() // it ends of itself too
	for left := int(info.NumPending); left > 0; {
		n := min(left, 500)
		page, err := consumer.Fetch(n, jetstream.FetchMaxWait(requestTimeout))
		if err != nil {
			return err
		}
		got := 0
		for m := range page.Messages() {
			got++
			if err := f(m.Subject(), m.Headers(), m.Data()); err != nil {
				return err
			}
		}
		if err := page.Error(); err != nil {
			return err
		}
		if got < n {
			return nil // sessions were deleted meanwhile
		}
		left -= got
	}
	return nil
}

// watched holds the subscriptions of the sessions that are followed.
type watched struct {
	mu       sync.Mutex
	sessions map[string]*subscription
}

type subscription struct {
	sub       *nats.Subscription
	followers int
}

// watch is called by each follower before it reads. The follower calls leave when it
// ends.
func (l *Log) watch(ctx context.Context, session string) (leave func(), err error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	w := &l.watching
	w.mu.Lock()
	s := w.sessions[session]
	if s == nil {
		sub, err := l.conn.Subscribe(l.storedSubject(tokenOf(session)), func(*nats.Msg) { l.changes.Notify(session) })
		if err != nil {
			w.mu.Unlock()
			return nil, l.methodError(ctx, "follow", err)
		}
		s = &subscription{sub: sub}
		if w.sessions == nil {
			w.sessions = map[string]*subscription{}
		}
		w.sessions[session] = s
	}
	s.followers++
	w.mu.Unlock()
	// The server must know the subscription before the follower reads. If it is away, the
	// follower reads again when it is back.
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_ = l.conn.FlushWithContext(limited)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if s.followers--; s.followers == 0 {
			delete(w.sessions, session)
			_ = s.sub.Unsubscribe() // fails if the connection is closed
		}
	}, nil
}

func (l *Log) snapshotSubject(session string) string {
	return l.options.Name + ".snapshots." + tokenOf(session)
}

// Headers of a snapshot's messages, one for each part.
const (
	headerSnapshot = "Turnspec-Snapshot" // equal in all parts
	headerPieces   = "Turnspec-Pieces"   // the number of parts, in the first
)

// PutSnapshot implements eventlog.Log.
func (l *Log) PutSnapshot(ctx context.Context, session string, seq int64, kind string, data []byte) error {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := eventlog.CheckSnapshot(session, seq, kind); err != nil {
		return err
	}
	limit := max(l.maxData(), 1024)
	pieces := slices.Collect(slices.Chunk(data, limit))
	if len(pieces) == 0 {
		pieces = [][]byte{nil}
	}
	id := nats.NewInbox() // a name that nobody else has
	err = l.retry(ctx, func(ctx context.Context) error {
		s, err := l.readState(ctx, session)
		if err != nil {
			return err
		}
		if last := s.info.Last.Seq; seq > last {
			return &eventlog.GapError{Session: session, Last: last, Seq: seq}
		}
		for i, piece := range slices.Backward(pieces) { // the first is stored last
			m := &nats.Msg{Subject: l.pieceSubject(session, kind, seq, i), Header: nats.Header{}, Data: piece}
			m.Header.Set(headerSnapshot, id)
			m.Header.Set(headerPieces, fmt.Sprint(len(pieces)))
			if _, err := l.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0)); err != nil {
				return err
			}
		}
		return nil
	})
	return l.methodError(ctx, "store a snapshot", err)
}

func (l *Log) pieceSubject(session, kind string, seq int64, piece int) string {
	return fmt.Sprintf("%s.%s.%d.%d", l.snapshotSubject(session), tokenOf(kind), seq, piece)
}

// Snapshot implements eventlog.Log. It leaves out those that are not complete.
func (l *Log) Snapshot(ctx context.Context, session, kind string, atOrBefore int64) (seq int64, data []byte, err error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer end()
	err = l.retry(ctx, func(ctx context.Context) error {
		seq, data = 0, nil
		seqs, err := l.snapshotSeqs(ctx, session, kind)
		if err != nil {
			return err
		}
		for _, at := range slices.Backward(seqs) {
			if at > atOrBefore {
				continue
			}
			b, err := l.readPieces(ctx, session, kind, at)
			if err == nil {
				seq, data = at, b
			}
			if !errors.Is(err, errIncomplete) {
				return err
			}
		}
		return nil
	})
	return seq, data, l.methodError(ctx, "read a snapshot", err)
}

// snapshotSeqs returns the seqs of the snapshots of a kind, in order.
func (l *Log) snapshotSeqs(ctx context.Context, session, kind string) (out []int64, err error) {
	pattern := fmt.Sprintf("%s.%s.*.0", l.snapshotSubject(session), tokenOf(kind))
	info, err := l.snapshots.Info(ctx, jetstream.WithSubjectFilter(pattern))
	if err != nil {
		return nil, err
	}
	for subject := range info.State.Subjects {
		fields := strings.Split(subject, ".")
		var seq int64
		if _, err := fmt.Sscan(fields[len(fields)-2], &seq); err == nil {
			out = append(out, seq)
		}
	}
	slices.Sort(out)
	return out, nil
}

var errIncomplete = errors.New("parts of the snapshot are missing")

func (l *Log) readPieces(ctx context.Context, session, kind string, seq int64) (data []byte, err error) {
	data = []byte{}
	id, pieces := "", 1
	for i := 0; i < pieces; i++ {
		m, err := l.snapshots.GetLastMsgForSubject(ctx, l.pieceSubject(session, kind, seq, i))
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			return nil, errIncomplete
		case err != nil:
			return nil, err
		}
		if i == 0 {
			id, pieces = m.Header.Get(headerSnapshot), int(numberIn(m.Header, headerPieces))
		}
		if m.Header.Get(headerSnapshot) != id {
			return nil, errIncomplete
		}
		data = append(data, m.Data...)
	}
	return data, nil
}
