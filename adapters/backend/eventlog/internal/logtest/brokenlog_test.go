package logtest_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// brokenLog is a Memory with one defect: a function that is not nil replaces the method.
type brokenLog struct {
	*eventlog.Memory
	append  func(m *eventlog.Memory, ctx context.Context, events []event.Event) error
	read    func(m *eventlog.Memory, ctx context.Context, session string, after int64, limit int) ([]event.Event, error)
	follow  func(m *eventlog.Memory, ctx context.Context, session string, after int64) iter.Seq2[event.Event, error]
	info    func(eventlog.Info) eventlog.Info
	session func(m *eventlog.Memory, ctx context.Context, session string) (eventlog.Info, error)
	put     func(m *eventlog.Memory, ctx context.Context, session string, seq int64, kind string, data []byte) error
	get     func(m *eventlog.Memory, ctx context.Context, session, kind string, at int64) (int64, []byte, error)
	close   func(m *eventlog.Memory) error

	putMedia  func(m *eventlog.Memory, ctx context.Context, session string, of event.Media, data []byte) error
	media     func(m *eventlog.Memory, ctx context.Context, session, sha256 string) (event.Media, []byte, error)
	listMedia func(list []event.Media) []event.Media

	putOwner func(m *eventlog.Memory, ctx context.Context, session, owner string) error
	owner    func(m *eventlog.Memory, ctx context.Context, session string) (string, error)
}

func (b brokenLog) Append(ctx context.Context, events ...event.Event) error {
	if b.append == nil {
		return b.Memory.Append(ctx, events...)
	}
	return b.append(b.Memory, ctx, events)
}

func (b brokenLog) Read(ctx context.Context, session string, after int64, limit int) ([]event.Event, error) {
	if b.read == nil {
		return b.Memory.Read(ctx, session, after, limit)
	}
	return b.read(b.Memory, ctx, session, after, limit)
}

func (b brokenLog) Follow(ctx context.Context, session string, after int64) iter.Seq2[event.Event, error] {
	if b.follow == nil {
		return b.Memory.Follow(ctx, session, after)
	}
	return b.follow(b.Memory, ctx, session, after)
}

func (b brokenLog) Sessions(ctx context.Context) ([]eventlog.Info, error) {
	infos, err := b.Memory.Sessions(ctx)
	if b.info != nil {
		for i := range infos {
			infos[i] = b.info(infos[i])
		}
	}
	return infos, err
}

func (b brokenLog) Session(ctx context.Context, session string) (eventlog.Info, error) {
	if b.session != nil {
		return b.session(b.Memory, ctx, session)
	}
	info, err := b.Memory.Session(ctx, session)
	if b.info != nil {
		info = b.info(info)
	}
	return info, err
}

func (b brokenLog) PutSnapshot(ctx context.Context, session string, seq int64, kind string, data []byte) error {
	if b.put == nil {
		return b.Memory.PutSnapshot(ctx, session, seq, kind, data)
	}
	return b.put(b.Memory, ctx, session, seq, kind, data)
}

func (b brokenLog) Snapshot(ctx context.Context, session, kind string, at int64) (int64, []byte, error) {
	if b.get == nil {
		return b.Memory.Snapshot(ctx, session, kind, at)
	}
	return b.get(b.Memory, ctx, session, kind, at)
}

func (b brokenLog) PutMedia(ctx context.Context, session string, m event.Media, data []byte) error {
	if b.putMedia == nil {
		return b.Memory.PutMedia(ctx, session, m, data)
	}
	return b.putMedia(b.Memory, ctx, session, m, data)
}

func (b brokenLog) Media(ctx context.Context, session, sha256 string) (event.Media, []byte, error) {
	if b.media == nil {
		return b.Memory.Media(ctx, session, sha256)
	}
	return b.media(b.Memory, ctx, session, sha256)
}

func (b brokenLog) ListMedia(ctx context.Context, session string) ([]event.Media, error) {
	list, err := b.Memory.ListMedia(ctx, session)
	if b.listMedia != nil {
		list = b.listMedia(list)
	}
	return list, err
}

func (b brokenLog) PutOwner(ctx context.Context, session, owner string) error {
	if b.putOwner == nil {
		return b.Memory.PutOwner(ctx, session, owner)
	}
	return b.putOwner(b.Memory, ctx, session, owner)
}

func (b brokenLog) Owner(ctx context.Context, session string) (string, error) {
	if b.owner == nil {
		return b.Memory.Owner(ctx, session)
	}
	return b.owner(b.Memory, ctx, session)
}

func (b brokenLog) Close() error {
	if b.close == nil {
		return b.Memory.Close()
	}
	return b.close(b.Memory)
}

func appendEach(ctx context.Context, m *eventlog.Memory, events []event.Event, one func(event.Event) error) error {
	for _, e := range events {
		if err := one(e); err != nil {
			return err
		}
	}
	return m.Append(ctx)
}

// appendIgnoring appends events one by one and ignores errors of type E.
func appendIgnoring[E error](m *eventlog.Memory, ctx context.Context, events []event.Event) error {
	return appendEach(ctx, m, events, func(e event.Event) error {
		err := m.Append(ctx, e)
		if _, ok := errors.AsType[E](err); ok {
			return nil
		}
		return err
	})
}

// alterFollow emits events of a Follow twice or drops them.
func alterFollow(events iter.Seq2[event.Event, error], skip func(event.Event) (twice, drop bool)) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range events {
			twice, drop := false, false
			if err == nil {
				twice, drop = skip(e)
			}
			if drop {
				continue
			}
			if !yield(e, err) || twice && !yield(e, err) {
				return
			}
		}
	}
}

func lastSeq(m *eventlog.Memory, session string) int64 {
	info, _ := m.Session(context.Background(), session)
	return info.Last.Seq
}

// aliases returns the raw input that it was given instead of a copy.
type aliases struct {
	*eventlog.Memory
	mu    sync.Mutex
	input event.Raw // guarded by mu
}

func (a *aliases) Append(ctx context.Context, events ...event.Event) error {
	a.mu.Lock()
	for _, e := range events {
		if d, ok := e.Data.(event.ToolStart); ok {
			a.input = d.Input
		}
	}
	a.mu.Unlock()
	return a.Memory.Append(ctx, events...)
}

func (a *aliases) Read(ctx context.Context, session string, after int64, limit int) ([]event.Event, error) {
	page, err := a.Memory.Read(ctx, session, after, limit)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range page {
		if d, ok := page[i].Data.(event.ToolStart); ok && len(d.Input) == len(a.input) {
			d.Input = a.input
			page[i].Data = d
		}
	}
	return page, err
}

// racy loses an append that is concurrent to another.
type racy struct {
	*eventlog.Memory
	mu sync.Mutex
}

func (r *racy) Append(ctx context.Context, events ...event.Event) error {
	if !r.mu.TryLock() {
		return nil
	}
	defer r.mu.Unlock()
	time.Sleep(time.Nanosecond) // in a bubble: until all other goroutines block
	return r.Memory.Append(ctx, events...)
}

// folded stores session a as A.
type folded struct{ *eventlog.Memory }

func (f folded) Append(ctx context.Context, events ...event.Event) error {
	for i := range events {
		if events[i].SessionID == "a" {
			events[i].SessionID = "A"
		}
	}
	return f.Memory.Append(ctx, events...)
}

// racyOwners checks whether a session has an owner before it locks.
type racyOwners struct {
	*eventlog.Memory
	mu     sync.Mutex
	owners map[string]string
}

func (r *racyOwners) PutOwner(ctx context.Context, session, owner string) error {
	if stored, err := r.Owner(ctx, session); err != nil || stored != "" && stored != owner {
		return errors.Join(err, r.Memory.PutOwner(ctx, session, owner))
	}
	time.Sleep(time.Nanosecond) // in a bubble: until all other goroutines block
	if err := r.Memory.PutOwner(ctx, session, owner); err != nil && !errors.Is(err, eventlog.ErrOwned) {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners[session] = owner
	return nil
}

func (r *racyOwners) Owner(ctx context.Context, session string) (string, error) {
	r.mu.Lock()
	owner := r.owners[session]
	r.mu.Unlock()
	_, err := r.Memory.Owner(ctx, session)
	return owner, err
}

// firstProvider returns the first provider session after a resume.
type firstProvider struct{ *eventlog.Memory }

func (f *firstProvider) Sessions(ctx context.Context) ([]eventlog.Info, error) {
	infos, err := f.Memory.Sessions(ctx)
	for i := range infos {
		infos[i].ProviderSessionID = "thread of " + infos[i].SessionID
	}
	return infos, err
}

// shares returns the bytes that it stores.
type shares struct {
	*eventlog.Memory
	seq  int64
	data []byte
}

func (s *shares) PutSnapshot(ctx context.Context, session string, seq int64, kind string, data []byte) error {
	s.seq, s.data = seq, append([]byte(nil), data...)
	return s.Memory.PutSnapshot(ctx, session, seq, kind, data)
}

func (s *shares) Snapshot(ctx context.Context, session, kind string, at int64) (int64, []byte, error) {
	seq, data, err := s.Memory.Snapshot(ctx, session, kind, at)
	if seq == 5 && s.seq == 5 {
		data = s.data
	}
	return seq, data, err
}

// sharedMedia returns the bytes of a medium that it was given, and not a copy.
type sharedMedia struct {
	*eventlog.Memory
	data map[string][]byte
}

func (s *sharedMedia) PutMedia(ctx context.Context, session string, m event.Media, data []byte) error {
	err := s.Memory.PutMedia(ctx, session, m, data)
	if err == nil && s.data[m.SHA256] == nil {
		s.data[m.SHA256] = data
	}
	return err
}

func (s *sharedMedia) Media(ctx context.Context, session, sha256 string) (event.Media, []byte, error) {
	m, data, err := s.Memory.Media(ctx, session, sha256)
	if err == nil {
		data = s.data[sha256]
	}
	return m, data, err
}

// lastReference returns the last reference to a medium.
type lastReference struct {
	*eventlog.Memory
	last event.Media
}

func (l *lastReference) PutMedia(ctx context.Context, session string, m event.Media, data []byte) error {
	l.last = m
	return l.Memory.PutMedia(ctx, session, m, data)
}

func (l *lastReference) Media(ctx context.Context, session, sha256 string) (event.Media, []byte, error) {
	m, data, err := l.Memory.Media(ctx, session, sha256)
	if l.last.SHA256 == sha256 && err == nil && m.Kind != l.last.Kind {
		m = l.last
	}
	return m, data, err
}
