package nats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// mostEvents limits a page.
const mostEvents = 4096

// Read implements eventlog.Log.
func (l *Log) Read(ctx context.Context, session string, after int64, limit int) (out []event.Event, err error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if limit <= 0 {
		limit = eventlog.PageEvents
	}
	limit = min(limit, mostEvents)
	after = max(after, 0)
	var lines [][]byte
	err = l.retry(ctx, func(ctx context.Context) (err error) {
		lines, err = l.readLines(ctx, session, after, limit)
		return err
	})
	if err != nil {
		return nil, l.methodError(ctx, "read", err)
	}
	for i, line := range lines {
		seq := after + 1 + int64(i)
		e, err := event.Decode(line)
		if err == nil && (e.Seq != seq || e.SessionID != session) {
			err = fmt.Errorf("it holds seq %d of session %q", e.Seq, e.SessionID)
		}
		if err == nil {
			out = append(out, e)
			continue
		}
		if i > 0 {
			break // the next Read returns the error
		}
		return nil, &eventlog.UnreadableError{Session: session, Seq: seq, Err: err}
	}
	return out, nil
}

// Follow implements eventlog.Log. While the server is away, it waits.
func (l *Log) Follow(ctx context.Context, session string, after int64) iter.Seq2[event.Event, error] {
	tail := eventlog.Tail(ctx, after,
		func() <-chan struct{} { return l.changes.Changed(session) },
		func(after int64) ([]event.Event, error) {
			for {
				page, err := l.Read(ctx, session, after, 0)
				if !errors.Is(err, eventlog.ErrBusy) {
					return page, err
				}
			}
		})
	return func(yield func(event.Event, error) bool) {
		leave, err := l.watch(ctx, session)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		defer leave()
		tail(yield)
	}
}

// readLines returns the JSON of events of a session with a seq above after: at most
// limit, and about eventlog.PageBytes.
func (l *Log) readLines(ctx context.Context, session string, after int64, limit int) (out [][]byte, err error) {
	subject := l.eventSubject(tokenOf(session))
	from, err := l.locate(ctx, session, subject, after)
	if err != nil || from == 0 {
		return nil, err
	}
	var event joiner
	size := 0
	for len(out) < limit && size < eventlog.PageBytes {
		page, err := l.readMessages(ctx, subject, from, min(limit-len(out), 256))
		if err != nil || len(page) == 0 {
			return out, err
		}
		for _, m := range page {
			from = m.sequence + 1
			first, data := event.add(m)
			for line := range bytes.SplitSeq(data, []byte("\n")) {
				if len(data) == 0 || first <= after {
					first++
					continue
				}
				if first > after+int64(len(out))+1 {
					return out, fmt.Errorf("%w: session %q: events from seq %d on are missing", eventlog.ErrCorrupt, session, after+int64(len(out))+1)
				}
				first++
				if len(out) == limit || size+len(line) > eventlog.PageBytes && len(out) > 0 {
					return out, nil
				}
				out = append(out, line)
				size += len(line)
			}
			if len(data) > 0 {
				l.places.put(session, first-1, m.sequence)
			}
		}
	}
	return out, nil
}

// joiner joins the parts of events.
type joiner struct {
	data []byte
	next int64 // the part that follows
}

// add returns the lines that a message completes, and the seq of the first.
func (j *joiner) add(m message) (first int64, data []byte) {
	part := numberIn(m.header, headerPart)
	first = numberIn(m.header, headerFirst)
	if part == 0 {
		j.data, j.next = nil, 0
		return first, m.data
	}
	if part == 1 {
		j.data, j.next = nil, 1
	}
	if part != j.next {
		return first, nil // the beginning was not read: it is before what the reader wants
	}
	j.data, j.next = append(j.data, m.data...), part+1
	if part == numberIn(m.header, headerParts) {
		data, j.data = j.data, nil
	}
	return first, data
}

// message is a stored message.
type message struct {
	sequence uint64
	header   nats.Header
	data     []byte
}

// readMessages returns messages of a subject from a sequence on: at least one if there
// is one, and at most n.
func (l *Log) readMessages(ctx context.Context, subject string, from uint64, n int) (out []message, err error) {
	inbox := l.conn.NewRespInbox()
	sub, err := l.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails if the connection broke
	request, err := json.Marshal(map[string]any{"seq": from, "next_by_subj": subject, "batch": n, "max_bytes": eventlog.PageBytes})
	if err != nil {
		return nil, err
	}
	if err := l.conn.PublishRequest("$JS.API.DIRECT.GET."+l.options.Name+"_events", inbox, request); err != nil {
		return nil, err
	}
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return nil, err
		}
		switch status := m.Header.Get("Status"); status {
		case "":
			sequence, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: a message without a sequence: %w", eventlog.ErrCorrupt, err)
			}
			out = append(out, message{sequence, m.Header, m.Data})
		case "204", "404": // the end of the batch, or no message
			return out, nil
		case "503":
			return nil, nats.ErrNoResponders
		default:
			return nil, fmt.Errorf("the server answers %s %s", status, m.Header.Get("Description"))
		}
	}
}

// locate returns a sequence from which the events of a session after a seq can be read,
// or 0 if there are none.
func (l *Log) locate(ctx context.Context, session, subject string, after int64) (uint64, error) {
	if sequence, known := l.places.get(session, after); known {
		return sequence + 1, nil
	}
	last, err := l.readState(ctx, session)
	switch {
	case err != nil:
		return 0, err
	case after >= last.info.Last.Seq:
		return 0, nil
	case after == 0:
		return 1, nil
	}
	// The first message of the subject in [low, high] that ends above after.
	low, high := uint64(1), last.sequence
	for low < high {
		middle := low + (high-low)/2
		m, err := l.events.GetMsg(ctx, middle, jetstream.WithGetMsgSubject(subject))
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			high = middle
		case err != nil:
			return 0, err
		case numberIn(m.Header, headerLast) <= after:
			low = m.Sequence + 1
		case numberIn(m.Header, headerStart) > 0:
			return uint64(numberIn(m.Header, headerStart)), nil // the last part of an event, or after it
		case m.Sequence > high:
			high = middle
		default:
			high = middle
		}
	}
	m, err := l.events.GetMsg(ctx, low, jetstream.WithGetMsgSubject(subject))
	if err == nil && numberIn(m.Header, headerStart) > 0 {
		return uint64(numberIn(m.Header, headerStart)), nil
	}
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = nil
	}
	return low, err
}

// places remembers after which message a reader was last: readers go forward.
type places struct {
	mu sync.Mutex
	m  map[place]uint64
}

type place struct {
	session string
	seq     int64
}

// mostPlaces is the number of places above which they are forgotten.
const mostPlaces = 20_000

func (p *places) put(session string, seq int64, sequence uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.m == nil || len(p.m) >= mostPlaces {
		p.m = map[place]uint64{}
	}
	p.m[place{session, seq}] = sequence
}

func (p *places) get(session string, seq int64) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	sequence, known := p.m[place{session, seq}]
	return sequence, known
}
