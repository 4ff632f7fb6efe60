package window

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/replay"
)

// Window is the end of a session's chat. Its methods may be called from any
// goroutine, Follow from one at a time.
type Window struct {
	log     eventlog.Log
	session string
	options []replay.Option

	mu    sync.Mutex
	r     *replay.Reducer
	older []*replay.Message // sealed ones from before the reducer's first
	from  int               // the number of the first message in the window
}

// Open reads the newest n messages of a session, and more if that costs nothing.
// A session that does not exist has no messages yet. The options are those of
// replay.New.
func Open(ctx context.Context, log eventlog.Log, session string, n int, options ...replay.Option) (*Window, error) {
	w := &Window{log: log, session: session, options: options}
	var err error
	if w.r, err = reduceUpTo(ctx, log, session, math.MaxInt64, options); err != nil {
		return nil, err
	}
	w.from = w.r.First()
	have := w.Messages()
	if missing := n - len(have); missing > 0 && w.from > 1 {
		older, err := w.readBefore(ctx, w.from, w.firstSeq(have), missing)
		if err != nil {
			return nil, err
		}
		if len(older) > 0 {
			w.from = older[0].Number
		}
		live, open := w.liveMessages(w.r.First()), w.r.Open()
		w.older = slices.DeleteFunc(older, func(m *replay.Message) bool {
			return live[m.Number] != nil || slices.Contains(open, m.Number)
		})
	}
	return w, nil
}

// firstSeq returns the seq of the first message, or the reducer's seq if there is
// none.
func (w *Window) firstSeq(messages []*replay.Message) int64 {
	if len(messages) > 0 {
		return messages[0].Seq
	}
	return w.r.Seq()
}

// View returns the current chat: the newest messages, and those older ones that
// held something open when the window was opened.
func (w *Window) View() *replay.View {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.r.View()
}

// Messages returns the newest messages in their current state, in order and
// without a gap. The caller must not modify them.
func (w *Window) Messages() []*replay.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*replay.Message
	older := w.older
	for m := range w.r.View().Messages() {
		if m.Number < w.from {
			continue
		}
		for len(older) > 0 && older[0].Number < m.Number {
			out, older = append(out, older[0]), older[1:]
		}
		out = append(out, m)
	}
	return append(out, older...)
}

// Follow reads the session's events as they are appended and returns the view
// after each. Its last pair holds an error, such as ctx.Err() or
// eventlog.ErrClosed.
func (w *Window) Follow(ctx context.Context) iter.Seq2[*replay.View, error] {
	return func(yield func(*replay.View, error) bool) {
		w.mu.Lock()
		after := w.r.Seq()
		w.mu.Unlock()
		for e, err := range w.log.Follow(ctx, w.session, after) {
			if err != nil {
				yield(nil, err)
				return
			}
			w.mu.Lock()
			w.r.Add(e)
			v := w.r.View()
			w.mu.Unlock()
			if !yield(v, nil) {
				return
			}
		}
	}
}

// Before reads the n messages before m, in order: fewer if there are no more. If
// the session still changes one of them, Before returns its current state; View
// returns later ones.
func (w *Window) Before(ctx context.Context, m *replay.Message, n int) ([]*replay.Message, error) {
	return w.readBefore(ctx, m.Number, m.Seq, n)
}

// readBefore reads the n messages before the given number, whose message begins at
// seq.
func (w *Window) readBefore(ctx context.Context, number int, seq int64, n int) ([]*replay.Message, error) {
	var out []*replay.Message
	for number > 1 && seq > 0 && len(out) < n {
		page, first, began, err := w.readPage(ctx, number, seq, n-len(out))
		if err != nil {
			return nil, err
		}
		out = append(page, out...)
		if number, seq = first, began; len(page) > 0 {
			number, seq = page[0].Number, page[0].Seq
		}
	}
	return out, nil
}

// readPage reads at most n messages before the given number. It read all messages
// from number first on, and the events after seq began.
func (w *Window) readPage(ctx context.Context, number int, seq int64, n int) (page []*replay.Message, first int, began int64, err error) {
	// A snapshot at seq itself may hold only the message that begins there.
	r, _, err := restoreLatest(ctx, w.log, w.session, seq-1, w.options)
	if err != nil {
		return nil, 0, 0, err
	}
	began = r.Seq()
	next, stop := iter.Pull2(eventlog.All(ctx, w.log, w.session, r.Seq()))
	defer stop()
	read := func() (bool, error) {
		e, err, more := next()
		if more && err == nil {
			r.Add(e)
		}
		return more, err
	}
	for r.Seq() < seq {
		if more, err := read(); err != nil {
			return nil, 0, 0, err
		} else if !more {
			break
		}
	}
	live := w.liveMessages(number)
	for {
		page = pickMessages(r.View(), r.First(), live, number, n)
		from := r.First() // an open message without blocks is hidden and may come back
		if len(page) == n {
			from = page[0].Number
		}
		if allSealed(r, live, from, number) {
			break
		}
		if more, err := read(); err != nil { // later events may still change them
			return nil, 0, 0, err
		} else if !more {
			break
		}
	}
	return page, r.First(), began, nil
}

// liveMessages returns the window's own messages before the given number.
func (w *Window) liveMessages(number int) map[int]*replay.Message {
	out := map[int]*replay.Message{}
	for m := range w.View().Messages() {
		if m.Number >= number {
			break
		}
		out[m.Number] = m
	}
	return out
}

// pickMessages returns the newest n messages before the given number, from live if
// they are there and else from v.
func pickMessages(v *replay.View, first int, live map[int]*replay.Message, number, n int) []*replay.Message {
	var out []*replay.Message
	for i := number - 1; i >= first && len(out) < n; i-- {
		if m := live[i]; m != nil {
			out = append(out, m)
		} else if m := v.Message(i); m != nil {
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	return out
}

// allSealed reports if no event can change the messages from number from up to the
// given number, except those that the window has itself.
func allSealed(r *replay.Reducer, live map[int]*replay.Message, from, number int) bool {
	for _, open := range r.Open() {
		if from <= open && open < number && live[open] == nil {
			return false
		}
	}
	return true
}

// reduceUpTo returns the reducer of a session's events up to seq.
func reduceUpTo(ctx context.Context, log eventlog.Log, session string, seq int64, options []replay.Option) (*replay.Reducer, error) {
	r, _, err := restoreLatest(ctx, log, session, seq, options)
	if err != nil {
		return nil, err
	}
	for e, err := range eventlog.All(ctx, log, session, r.Seq()) {
		if err != nil {
			return nil, err
		}
		if e.Seq > seq {
			break
		}
		r.Add(e)
	}
	return r, nil
}

// snapshotTries is how many snapshots are tried: one of an older version mostly has
// others of that version before it.
const snapshotTries = 4

// restoreLatest restores the last snapshot at or before seq and returns its size. If
// none can be used, it returns a new reducer.
func restoreLatest(ctx context.Context, log eventlog.Log, session string, seq int64, options []replay.Option) (*replay.Reducer, int, error) {
	for range snapshotTries {
		at, data, err := log.Snapshot(ctx, session, Kind, seq)
		switch {
		case ctx.Err() != nil:
			return nil, 0, ctx.Err()
		case errors.Is(err, eventlog.ErrClosed):
			return nil, 0, err
		case err != nil || at == 0:
			return replay.New(options...), 0, nil //nolint:nilerr // without a snapshot the events are read
		}
		r, err := replay.Restore(data, options...)
		if err == nil && r.Seq() == at && r.Session() == session {
			return r, len(data), nil
		}
		seq = at - 1
	}
	return replay.New(options...), 0, nil
}
