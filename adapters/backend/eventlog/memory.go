package eventlog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/notify"
	"github.com/turnspec/turnspec/adapters/event"
)

// Memory is a Log that ends with the program. Its zero value is empty and ready
// for use.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]*memorySession
	owners   map[string]string // of sessions, also of those without events
	closed   bool
	changes  notify.Notifier
}

var _ Log = (*Memory)(nil)

type memorySession struct {
	info      Info
	events    [][]byte // JSON, seq 1 first
	snapshots map[string][]memorySnapshot
	media     map[string]medium // by hash
}

type memorySnapshot struct {
	seq  int64
	data []byte
}

// lock locks m, or returns an error if ctx is done or m is closed.
func (m *Memory) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	return nil
}

// Append implements Log.
func (m *Memory) Append(ctx context.Context, events ...event.Event) error {
	encoded := make([][]byte, len(events))
	for i, e := range events {
		var err error
		if encoded[i], err = Encode(e); err != nil {
			return err
		}
	}
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for i, e := range events {
		if err := m.appendEvent(e, encoded[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *Memory) appendEvent(e event.Event, b []byte) error {
	s := m.sessions[e.SessionID]
	var last int64
	if s != nil {
		last = s.info.Last.Seq
	}
	switch {
	case e.Seq <= last:
		if !bytes.Equal(s.events[e.Seq-1], b) {
			return &ConflictError{e.SessionID, e.Seq}
		}
		return nil
	case e.Seq > last+1:
		return &GapError{e.SessionID, last, e.Seq}
	}
	if s == nil {
		s = &memorySession{snapshots: map[string][]memorySnapshot{}, media: map[string]medium{}}
		if m.sessions == nil {
			m.sessions = map[string]*memorySession{}
		}
		m.sessions[e.SessionID] = s
	}
	s.events = append(s.events, b)
	s.info.Add(e)
	m.changes.Notify(e.SessionID)
	return nil
}

// Read implements Log.
func (m *Memory) Read(ctx context.Context, session string, after int64, limit int) ([]event.Event, error) {
	page, err := m.storedPage(ctx, session, after, limit)
	if err != nil {
		return nil, err
	}
	var out []event.Event
	for _, b := range page {
		e, err := event.Decode(b)
		if err != nil {
			if len(out) > 0 {
				break
			}
			return nil, &UnreadableError{session, max(after, 0) + 1, err}
		}
		out = append(out, e)
	}
	return out, nil
}

// storedPage returns the encoded events of one Read. They are never written to
// again.
func (m *Memory) storedPage(ctx context.Context, session string, after int64, limit int) ([][]byte, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil || after >= s.info.Last.Seq {
		return nil, nil
	}
	if limit <= 0 {
		limit = PageEvents
	}
	page := s.events[max(after, 0):]
	page = page[:min(limit, len(page))]
	size := 0
	for i, b := range page {
		if size += len(b); size > PageBytes && i > 0 {
			return page[:i:i], nil
		}
	}
	return slices.Clip(page), nil
}

// Follow implements Log.
func (m *Memory) Follow(ctx context.Context, session string, after int64) iter.Seq2[event.Event, error] {
	return Tail(ctx, after,
		func() <-chan struct{} { return m.changes.Changed(session) },
		func(after int64) ([]event.Event, error) { return m.Read(ctx, session, after, 0) })
}

// Sessions implements Log.
func (m *Memory) Sessions(ctx context.Context) ([]Info, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []Info
	for _, s := range m.sessions {
		out = append(out, s.info)
	}
	slices.SortFunc(out, func(a, b Info) int {
		return cmp.Or(b.Latest.Compare(a.Latest), cmp.Compare(a.SessionID, b.SessionID))
	})
	return out, nil
}

// Session implements Log.
func (m *Memory) Session(ctx context.Context, session string) (Info, error) {
	if err := m.lock(ctx); err != nil {
		return Info{}, err
	}
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return Info{}, fmt.Errorf("%w: %q", ErrUnknownSession, session)
	}
	return s.info, nil
}

// PutSnapshot implements Log.
func (m *Memory) PutSnapshot(ctx context.Context, session string, seq int64, kind string, data []byte) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if err := CheckSnapshot(session, seq, kind); err != nil {
		return err
	}
	s := m.sessions[session]
	if s == nil {
		return &GapError{session, 0, seq}
	}
	if seq > s.info.Last.Seq {
		return &GapError{session, s.info.Last.Seq, seq}
	}
	list := s.snapshots[kind]
	i, found := slices.BinarySearchFunc(list, seq, func(s memorySnapshot, seq int64) int { return cmp.Compare(s.seq, seq) })
	if !found {
		list = slices.Insert(list, i, memorySnapshot{seq: seq})
		s.snapshots[kind] = list
	}
	list[i].data = bytes.Clone(data)
	return nil
}

// Snapshot implements Log.
func (m *Memory) Snapshot(ctx context.Context, session, kind string, atOrBefore int64) (int64, []byte, error) {
	if err := m.lock(ctx); err != nil {
		return 0, nil, err
	}
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return 0, nil, nil
	}
	list := s.snapshots[kind]
	for _, kept := range slices.Backward(list) {
		if kept.seq <= atOrBefore {
			return kept.seq, bytes.Clone(kept.data), nil
		}
	}
	return 0, nil, nil
}

// PutMedia implements Log.
func (m *Memory) PutMedia(ctx context.Context, session string, media event.Media, data []byte) error {
	media, err := CheckMedia(session, media, data)
	if err != nil {
		return err
	}
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	s := m.sessions[session]
	if s == nil {
		return fmt.Errorf("%w: %q", ErrUnknownSession, session)
	}
	if _, there := s.media[media.SHA256]; !there {
		s.media[media.SHA256] = medium{Media: media, data: bytes.Clone(data)}
	}
	return nil
}

// Media implements Log.
func (m *Memory) Media(ctx context.Context, session, sha256 string) (event.Media, []byte, error) {
	if err := m.lock(ctx); err != nil {
		return event.Media{}, nil, err
	}
	defer m.mu.Unlock()
	if s := m.sessions[session]; s != nil {
		if kept, there := s.media[sha256]; there {
			return kept.Media, bytes.Clone(kept.data), nil
		}
	}
	return event.Media{}, nil, UnknownMedia(session, sha256)
}

// ListMedia implements Log.
func (m *Memory) ListMedia(ctx context.Context, session string) (out []event.Media, err error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	if s := m.sessions[session]; s != nil {
		for _, sha256 := range slices.Sorted(maps.Keys(s.media)) {
			out = append(out, s.media[sha256].Media)
		}
	}
	return out, nil
}

// PutOwner implements Log.
func (m *Memory) PutOwner(ctx context.Context, session, owner string) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if stored, is := m.owners[session]; is && stored != owner {
		return fmt.Errorf("%w: %q", ErrOwned, session)
	}
	if m.owners == nil {
		m.owners = map[string]string{}
	}
	m.owners[session] = owner
	return nil
}

// Owner implements Log.
func (m *Memory) Owner(ctx context.Context, session string) (string, error) {
	if err := m.lock(ctx); err != nil {
		return "", err
	}
	defer m.mu.Unlock()
	return m.owners[session], nil
}

// Owners implements Log.
func (m *Memory) Owners(ctx context.Context) (map[string]string, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	out := maps.Clone(m.owners)
	maps.DeleteFunc(out, func(_, owner string) bool { return owner == "" })
	return out, nil
}

// Close implements Log.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.sessions = true, nil
	m.changes.Close()
	return nil
}
