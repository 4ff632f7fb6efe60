package logtest_test

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/logtest"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// othersEach is the sample of the checks that a defect must pass: one of so many, or all if
// TURNSPEC_MATRIX is whole.
func othersEach() int {
	if racesample.Whole() {
		return 1
	}
	return 8
}

// A store with one defect fails exactly the checks that it lists.
func TestDefectFailsItsChecks(t *testing.T) {
	stores := storeDefects()
	for n, name := range racesample.Sample(slices.Sorted(maps.Keys(stores)), 8) {
		c := stores[name]
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var failed []string
			synctest.Test(t, func(*testing.T) {
				for k, check := range logtest.Checks() {
					if check.Durable || (n+k)%othersEach() != 0 && !slices.Contains(c.fails, check.ID) {
						continue
					}
					s := logtest.Store{Timeout: time.Minute, Open: func() (eventlog.Log, error) { return c.store(), nil }}
					if err := check.Run(context.Background(), s); err != nil {
						failed = append(failed, check.ID)
						t.Logf("%s: %v", check.ID, err)
					}
				}
			})
			g.Expect(failed).To(ConsistOf(c.fails))
		})
	}
}

func TestEachCheckHasADefect(t *testing.T) {
	g := NewWithT(t)
	found := map[string]bool{}
	for _, c := range storeDefects() {
		for _, id := range c.fails {
			found[id] = true
		}
	}
	for _, check := range logtest.Checks() {
		if !check.Durable {
			g.Expect(found).To(HaveKey(check.ID), "no defect fails this check")
		}
	}
}

type storeDefect struct {
	store func() eventlog.Log
	fails []string
}

func brokenMemory(b brokenLog) func() eventlog.Log {
	return func() eventlog.Log {
		b := b
		b.Memory = &eventlog.Memory{}
		return b
	}
}

// storedEvents returns all events of a session.
func storedEvents(m *eventlog.Memory, session string) []event.Event {
	var out []event.Event
	for e, err := range eventlog.All(context.Background(), m, session, 0) {
		if err != nil {
			return out // the log is closed
		}
		out = append(out, e)
	}
	return out
}

func storeDefects() map[string]storeDefect {
	return map[string]storeDefect{
		"orders events of one time by length": {brokenMemory(brokenLog{read: func(m *eventlog.Memory, ctx context.Context, session string, after int64, limit int) ([]event.Event, error) {
			page, err := m.Read(ctx, session, after, limit)
			for i := 1; i < len(page) && limit == 0; i++ {
				if page[i-1].TS.Equal(page[i].TS) && page[i-1].Type() == event.TypeThinking && page[i].Type() == event.TypeThinking {
					page[i-1], page[i] = page[i], page[i-1]
				}
			}
			return page, err
		}}), []string{"append.kept", "append.again", "append.conflict", "append.gap", "append.prefix", "append.concurrent", "append.cancelled", "session.apart", "read.cursor", "snapshot.before", "media.kept"}},

		"rejects an event that is appended again": {brokenMemory(brokenLog{append: func(m *eventlog.Memory, ctx context.Context, events []event.Event) error {
			return appendEach(ctx, m, events, func(e event.Event) error {
				if e.Data != nil && 0 < e.Seq && e.Seq <= lastSeq(m, e.SessionID) {
					return &eventlog.ConflictError{Session: e.SessionID, Seq: e.Seq}
				}
				return m.Append(ctx, e)
			})
		}}), []string{"append.kept", "append.again", "append.prefix", "append.concurrent", "append.cancelled"}},

		"ignores another event with a stored seq": {brokenMemory(brokenLog{append: appendIgnoring[*eventlog.ConflictError]}), []string{"append.conflict", "append.prefix"}},

		"ignores an event after a gap": {brokenMemory(brokenLog{append: appendIgnoring[*eventlog.GapError]}), []string{"append.gap", "append.prefix"}},

		"returns the wanted seq in a GapError": {brokenMemory(brokenLog{append: func(m *eventlog.Memory, ctx context.Context, events []event.Event) error {
			err := m.Append(ctx, events...)
			if gap, ok := errors.AsType[*eventlog.GapError](err); ok {
				gap.Seq = gap.Last + 1
			}
			return err
		}}), []string{"append.gap"}},

		"ignores an invalid event": {brokenMemory(brokenLog{append: appendIgnoring[*eventlog.InvalidError]}), []string{"append.invalid", "append.prefix"}},

		"stores more than a prefix of a failed append": {brokenMemory(brokenLog{append: func(m *eventlog.Memory, ctx context.Context, events []event.Event) error {
			err := m.Append(ctx, events...)
			if _, ok := errors.AsType[*eventlog.InvalidError](err); ok && len(events) > 1 {
				e := events[0]
				e.Seq = lastSeq(m, e.SessionID) + 1
				_ = m.Append(ctx, e)
			}
			return err
		}}), []string{"append.prefix"}},

		"keeps the caller's buffer": {func() eventlog.Log { return &aliases{Memory: &eventlog.Memory{}} }, []string{"append.copies"}},

		"loses concurrent appends": {func() eventlog.Log { return &racy{Memory: &eventlog.Memory{}} }, []string{"append.concurrent"}},

		"ignores the context": {brokenMemory(brokenLog{append: func(m *eventlog.Memory, _ context.Context, events []event.Event) error {
			return m.Append(context.Background(), events...)
		}}), []string{"append.cancelled"}},

		"ignores case in session names": {func() eventlog.Log { return folded{&eventlog.Memory{}} }, []string{"session.apart", "snapshot.before"}},

		"keeps the first provider session": {func() eventlog.Log { return &firstProvider{Memory: &eventlog.Memory{}} }, []string{"session.info"}},

		"truncates times to milliseconds": {brokenMemory(brokenLog{info: func(i eventlog.Info) eventlog.Info {
			i.Latest = i.Latest.Truncate(time.Millisecond)
			return i
		}}), []string{"session.info"}},

		"returns a zero Info for an unknown session": {brokenMemory(brokenLog{session: func(m *eventlog.Memory, ctx context.Context, session string) (eventlog.Info, error) {
			info, err := m.Session(ctx, session)
			if errors.Is(err, eventlog.ErrUnknownSession) {
				err = nil
			}
			return info, err
		}}), []string{"session.unknown"}},

		"includes the event at the cursor": {brokenMemory(brokenLog{read: func(m *eventlog.Memory, ctx context.Context, session string, after int64, limit int) ([]event.Event, error) {
			if after == eventlog.PageEvents {
				after--
			}
			return m.Read(ctx, session, after, limit)
		}}), []string{"read.cursor"}},

		"ignores the limit": {brokenMemory(brokenLog{read: func(m *eventlog.Memory, ctx context.Context, session string, after int64, _ int) ([]event.Event, error) {
			return m.Read(ctx, session, after, 0)
		}}), []string{"read.cursor"}},

		"reads all at once": {brokenMemory(brokenLog{read: func(m *eventlog.Memory, ctx context.Context, session string, after int64, limit int) ([]event.Event, error) {
			if _, err := m.Read(ctx, session, after, 1); err != nil {
				return nil, err
			}
			all := storedEvents(m, session)
			all = all[min(max(after, 0), int64(len(all))):]
			if limit > 0 {
				all = all[:min(limit, len(all))]
			}
			return all, nil
		}}), []string{"read.bounded"}},

		"starts to follow after the last event": {brokenMemory(brokenLog{follow: func(m *eventlog.Memory, ctx context.Context, session string, cursor int64) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				stored := storedEvents(m, session)
				stored = stored[min(max(cursor, 0), int64(len(stored))):]
				for _, e := range stored {
					if !yield(e, nil) {
						return
					}
				}
				for e, err := range m.Follow(ctx, session, lastSeq(m, session)) { // events appended meanwhile are lost
					if !yield(e, err) {
						return
					}
				}
			}
		}}), []string{"follow.joins", "follow.slow"}},

		"misses the change after an empty read": {brokenMemory(brokenLog{follow: func(m *eventlog.Memory, ctx context.Context, session string, cursor int64) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				after := cursor
				for {
					page, err := m.Read(ctx, session, after, 0)
					if err != nil {
						yield(event.Event{}, err)
						return
					}
					for _, e := range page {
						if !yield(e, nil) {
							return
						}
						after = e.Seq
					}
					if len(page) > 0 {
						continue
					}
					seen, changes := lastSeq(m, session), 0
					for ; changes < 2; time.Sleep(50 * time.Millisecond) {
						if last := lastSeq(m, session); last != seen {
							seen, changes = last, changes+1
						}
						if _, err := m.Read(ctx, session, 0, 1); err != nil {
							yield(event.Event{}, err)
							return
						}
					}
				}
			}
		}}), []string{"follow.joins", "follow.begins", "follow.wakes"}},

		"emits one stored event twice": {brokenMemory(brokenLog{follow: func(m *eventlog.Memory, ctx context.Context, session string, cursor int64) iter.Seq2[event.Event, error] {
			return alterFollow(m.Follow(ctx, session, cursor), func(e event.Event) (bool, bool) { return e.Seq == 40, false })
		}}), []string{"follow.joins", "follow.wakes", "follow.slow"}},

		"continues at the end of the last loop": {brokenMemory(brokenLog{follow: func(m *eventlog.Memory, ctx context.Context, session string, cursor int64) iter.Seq2[event.Event, error] {
			at := cursor
			return func(yield func(event.Event, error) bool) {
				for e, err := range m.Follow(ctx, session, at) {
					at = max(at, e.Seq)
					if !yield(e, err) {
						return
					}
				}
			}
		}}), []string{"follow.after"}},

		"rejects a session that has not begun": {brokenMemory(brokenLog{follow: func(m *eventlog.Memory, ctx context.Context, session string, cursor int64) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				if _, err := m.Session(ctx, session); errors.Is(err, eventlog.ErrUnknownSession) {
					yield(event.Event{}, err)
					return
				}
				m.Follow(ctx, session, cursor)(yield)
			}
		}}), []string{"follow.begins", "follow.ends"}},

		"skips the first event after another session's": {brokenMemory(brokenLog{follow: func(m *eventlog.Memory, ctx context.Context, session string, cursor int64) iter.Seq2[event.Event, error] {
			return alterFollow(m.Follow(ctx, session, cursor), func(e event.Event) (bool, bool) {
				_, err := m.Session(ctx, "other")
				return false, err == nil && lastSeq(m, "other") >= 50 && e.Seq == 1
			})
		}}), []string{"follow.begins"}},

		"drops events for a slow reader": {brokenMemory(brokenLog{follow: func(m *eventlog.Memory, ctx context.Context, session string, cursor int64) iter.Seq2[event.Event, error] {
			return alterFollow(m.Follow(ctx, session, cursor), func(e event.Event) (bool, bool) {
				return false, e.Seq < lastSeq(m, session)-500
			})
		}}), []string{"follow.slow"}},

		"ends a follow without an error": {brokenMemory(brokenLog{follow: func(m *eventlog.Memory, ctx context.Context, session string, cursor int64) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				for e, err := range m.Follow(ctx, session, cursor) {
					if err != nil || !yield(e, nil) {
						return
					}
				}
			}
		}}), []string{"follow.ends"}},

		"ignores the context of a follow": {brokenMemory(brokenLog{follow: func(m *eventlog.Memory, _ context.Context, session string, cursor int64) iter.Seq2[event.Event, error] {
			return m.Follow(context.Background(), session, cursor)
		}}), []string{"follow.ends"}},

		"has one snapshot a kind": {brokenMemory(brokenLog{get: func(m *eventlog.Memory, ctx context.Context, session, kind string, at int64) (int64, []byte, error) {
			seq, data, err := m.Snapshot(ctx, session, kind, math.MaxInt64)
			if seq > at {
				return 0, nil, err
			}
			return seq, data, err
		}}), []string{"snapshot.before"}},

		"keeps the first snapshot": {brokenMemory(brokenLog{put: func(m *eventlog.Memory, ctx context.Context, session string, seq int64, kind string, data []byte) error {
			if at, _, _ := m.Snapshot(ctx, session, kind, seq); at == seq && seq > 0 {
				return nil
			}
			return m.PutSnapshot(ctx, session, seq, kind, data)
		}}), []string{"snapshot.replaced"}},

		"accepts snapshots after the last event": {brokenMemory(brokenLog{put: func(m *eventlog.Memory, ctx context.Context, session string, seq int64, kind string, data []byte) error {
			err := m.PutSnapshot(ctx, session, seq, kind, data)
			if _, ok := errors.AsType[*eventlog.GapError](err); ok {
				return nil
			}
			return err
		}}), []string{"snapshot.ahead"}},

		"returns its own copy of a snapshot": {func() eventlog.Log { return &shares{Memory: &eventlog.Memory{}} }, []string{"snapshot.copies"}},

		"cuts media at a MiB": {brokenMemory(brokenLog{media: func(m *eventlog.Memory, ctx context.Context, session, sha256 string) (event.Media, []byte, error) {
			of, data, err := m.Media(ctx, session, sha256)
			return of, data[:min(len(data), 1<<20)], err
		}}), []string{"media.kept", "media.again"}},

		"keeps the last reference to a medium": {func() eventlog.Log { return &lastReference{Memory: &eventlog.Memory{}} }, []string{"media.again"}},

		"returns media of other sessions": {brokenMemory(brokenLog{media: func(m *eventlog.Memory, ctx context.Context, session, sha256 string) (event.Media, []byte, error) {
			of, data, err := m.Media(ctx, session, sha256)
			for _, other := range []string{"s", "t"} {
				if errors.Is(err, eventlog.ErrUnknownMedia) {
					of, data, err = m.Media(ctx, other, sha256)
				}
			}
			return of, data, err
		}}), []string{"media.apart"}},

		"finds a medium by the beginning of its hash": {brokenMemory(brokenLog{media: func(m *eventlog.Memory, ctx context.Context, session, sha256 string) (event.Media, []byte, error) {
			list, err := m.ListMedia(ctx, session)
			if err != nil {
				return event.Media{}, nil, err
			}
			for _, of := range list {
				if strings.HasPrefix(of.SHA256, sha256) {
					sha256 = of.SHA256
				}
			}
			return m.Media(ctx, session, sha256)
		}}), []string{"media.apart"}},

		"trusts the reference to a medium": {brokenMemory(brokenLog{putMedia: func(m *eventlog.Memory, ctx context.Context, session string, of event.Media, data []byte) error {
			err := m.PutMedia(ctx, session, of, data)
			if _, ok := errors.AsType[*eventlog.MediaError](err); ok {
				return nil
			}
			return err
		}}), []string{"media.invalid"}},

		"ignores media before the first event": {brokenMemory(brokenLog{putMedia: func(m *eventlog.Memory, ctx context.Context, session string, of event.Media, data []byte) error {
			if err := m.PutMedia(ctx, session, of, data); !errors.Is(err, eventlog.ErrUnknownSession) {
				return err
			}
			return nil
		}}), []string{"media.invalid"}},

		"keeps the caller's bytes of a medium": {func() eventlog.Log { return &sharedMedia{&eventlog.Memory{}, map[string][]byte{}} }, []string{"media.copies"}},

		"lists media out of order": {brokenMemory(brokenLog{listMedia: func(list []event.Media) []event.Media {
			slices.Reverse(list)
			return list
		}}), []string{"media.listed"}},

		"keeps the owners of sessions with events only": {brokenMemory(brokenLog{owner: func(m *eventlog.Memory, ctx context.Context, session string) (string, error) {
			if owner, err := m.Owner(ctx, session); err != nil || lastSeq(m, session) > 0 {
				return owner, err
			}
			return "", nil
		}}), []string{"owner.kept", "owner.stays"}},

		"has one owner for all sessions": {brokenMemory(brokenLog{owner: func(m *eventlog.Memory, ctx context.Context, session string) (string, error) {
			owners, err := m.Owners(ctx)
			for _, owner := range owners {
				return owner, err
			}
			return "", err
		}}), []string{"owner.kept", "owner.stays"}},

		"lets nobody's session be taken": {brokenMemory(brokenLog{putOwner: func(m *eventlog.Memory, ctx context.Context, session, owner string) error {
			if owner == "" {
				return ctx.Err()
			}
			return m.PutOwner(ctx, session, owner)
		}}), []string{"owner.stays"}},

		"ignores another owner": {brokenMemory(brokenLog{putOwner: func(m *eventlog.Memory, ctx context.Context, session, owner string) error {
			if err := m.PutOwner(ctx, session, owner); !errors.Is(err, eventlog.ErrOwned) {
				return err
			}
			return nil
		}}), []string{"owner.stays", "owner.first"}},

		"stores two owners at once": {func() eventlog.Log { return &racyOwners{Memory: &eventlog.Memory{}, owners: map[string]string{}} }, []string{"owner.stays", "owner.first"}},

		"works after Close": {brokenMemory(brokenLog{close: func(*eventlog.Memory) error { return nil }}), []string{"follow.ends", "close.closed"}},
	}
}
