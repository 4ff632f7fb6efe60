package window

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/turnspec/turnspec/adapters/eventlog"
	"github.com/turnspec/turnspec/adapters/replay"
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

// Open reads the newest n messages of a session, and more where that is no more
// work. A session that does not exist has none yet. The options are those of
// replay.New.
func Open(ctx context.Context, log eventlog.Log, session string, n int, options ...replay.Option) (*Window, error) {
	w := &Window{log: log, session: session, options: options}
	var err error
	if w.r, err = upTo(ctx, log, session, math.MaxInt64, options); err != nil {
		return nil, err
	}
	w.from = w.r.First()
	have := w.Messages()
	if missing := n - len(have); missing > 0 && w.from > 1 {
		older, err := w.before(ctx, w.from, w.seqOf(have), missing)
		if err != nil {
			return nil, err
		}
		if len(older) > 0 {
			w.from = older[0].Number
		}
		live, open := w.live(w.r.First()), w.r.Open()
		w.older = slices.DeleteFunc(older, func(m *replay.Message) bool {
			return live[m.Number] != nil || slices.Contains(open, m.Number)
		})
	}
	return w, nil
}

// seqOf is where the first of the messages begins, or how far the reducer is.
func (w *Window) seqOf(messages []*replay.Message) int64 {
	if len(messages) > 0 {
		return messages[0].Seq
	}
	return w.r.Seq()
}

// View is the chat as it stands: the newest messages, and of the older ones
// those that held something open when the window was opened.
func (w *Window) View() *replay.View {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.r.View()
}

// Messages is the newest messages as they stand, without a gap, in their order.
// They must not be written to.
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

// Follow goes on with the session's events as they come and gives the view
// after each. Its last pair is an error, ctx's own or eventlog.ErrClosed among
// them.
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

// Before reads the n messages before m, in their order: fewer where there are
// no more. One that the session still changes is as it is now, and does not
// change any more; what View has of it does.
func (w *Window) Before(ctx context.Context, m *replay.Message, n int) ([]*replay.Message, error) {
	return w.before(ctx, m.Number, m.Seq, n)
}

// before reads the n messages before the one of that number, which begins at seq.
func (w *Window) before(ctx context.Context, number int, seq int64, n int) ([]*replay.Message, error) {
	var out []*replay.Message
	for number > 1 && seq > 0 && len(out) < n {
		page, first, began, err := w.page(ctx, number, seq, n-len(out))
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

// page reads at most n messages before the one of that number, and says from
// which on it saw all, and which seq it began behind.
func (w *Window) page(ctx context.Context, number int, seq int64, n int) (page []*replay.Message, first int, began int64, err error) {
	// A snapshot at seq itself may hold nothing but what begins there.
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
	live := w.live(number)
	for {
		page = pick(r.View(), r.First(), live, number, n)
		from := r.First() // an open message without blocks is hidden and may come back
		if len(page) == n {
			from = page[0].Number
		}
		if settled(r, live, from, number) {
			break
		}
		if more, err := read(); err != nil { // what comes may still change them
			return nil, 0, 0, err
		} else if !more {
			break
		}
	}
	return page, r.First(), began, nil
}

// live is what the window itself has of messages before the one of that number.
func (w *Window) live(number int) map[int]*replay.Message {
	out := map[int]*replay.Message{}
	for m := range w.View().Messages() {
		if m.Number >= number {
			break
		}
		out[m.Number] = m
	}
	return out
}

// pick is the newest n messages before the one of that number: what the window
// has goes before what its past has.
func pick(v *replay.View, first int, live map[int]*replay.Message, number, n int) []*replay.Message {
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

// settled reports whether nothing comes any more to the messages from from on,
// before the one of that number, that the window does not have anyway.
func settled(r *replay.Reducer, live map[int]*replay.Message, from, number int) bool {
	for _, open := range r.Open() {
		if from <= open && open < number && live[open] == nil {
			return false
		}
	}
	return true
}

// upTo reduces a session up to seq.
func upTo(ctx context.Context, log eventlog.Log, session string, seq int64, options []replay.Option) (*replay.Reducer, error) {
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

// tries is how many snapshots that cannot be used are passed over: one of an
// older version mostly stands behind others of its kind.
const tries = 4

// restoreLatest restores the last snapshot at seq or before it, and says its size; a
// reducer that has seen nothing where there is none that can be used.
func restoreLatest(ctx context.Context, log eventlog.Log, session string, seq int64, options []replay.Option) (*replay.Reducer, int, error) {
	for range tries {
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
