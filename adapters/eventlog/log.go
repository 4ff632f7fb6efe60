package eventlog

import (
	"context"
	"iter"
	"time"
	"unicode"

	"github.com/turnspec/turnspec/adapters/event"
)

// Log is an append-only log of events. The package's comment is its contract.
type Log interface {
	// Append stores events, of one session or of several, in their order.
	// With ctx done before it is known how that went, they may be stored or not.
	Append(ctx context.Context, events ...event.Event) error

	// Read returns events of a session with a seq past after, in order: at
	// most limit, or as many as the Log likes where limit is not positive. It
	// may return fewer, to bound memory, but none only where there are no
	// more. A session that does not exist has no events. A stored event that
	// cannot be read is an *UnreadableError, after those before it were given.
	Read(ctx context.Context, session string, after int64, limit int) ([]event.Event, error)

	// Follow goes through the events of a session with a seq past after, first
	// those that are stored and then, without a gap and without one twice,
	// those that come; the session need not exist yet. It never ends by
	// itself: the last pair is an error, ctx's own or ErrClosed among them. It
	// holds one page of events at most, however slow its reader is, and
	// nothing once the reader has left the loop.
	Follow(ctx context.Context, session string, after int64) iter.Seq2[event.Event, error]

	// Sessions lists all sessions, the one with the latest event first.
	Sessions(ctx context.Context) ([]Info, error)

	// Session returns what Sessions says of one, or ErrUnknownSession.
	Session(ctx context.Context, session string) (Info, error)

	// PutSnapshot keeps bytes that stand for the events of a session up to
	// seq, so that a reader can begin there. What they mean is the business of
	// whoever names the kind. The same kind at the same seq is replaced. One
	// past the last event is a *GapError: it would stand for events that the
	// log may yet lose.
	PutSnapshot(ctx context.Context, session string, seq int64, kind string, data []byte) error

	// Snapshot returns the last snapshot of a kind that stands at atOrBefore or
	// before it, with its seq: 0 and nil where there is none. math.MaxInt64
	// asks for the last.
	Snapshot(ctx context.Context, session, kind string, atOrBefore int64) (seq int64, data []byte, err error)

	// Close waits for appends that run. Then every method returns ErrClosed,
	// but Close itself, which may be called again.
	Close() error
}

// Info is what a log knows of a session without reading its events.
type Info struct {
	SessionID         string         `json:"session_id"`
	Runtime           string         `json:"runtime,omitempty"`
	ProviderSessionID string         `json:"provider_session_id,omitempty"` // the last that session_ready named
	Title             string         `json:"title,omitempty"`               // the beginning of the first message of the user
	First             time.Time      `json:"first"`                         // ts of the first event
	Latest            time.Time      `json:"latest"`                        // ts of the last event
	Last              event.Position `json:"last"`                          // the last seq, and the highest turn: as many turns there were
}

// titleRunes bounds a title.
const titleRunes = 80

// Add counts a further event. Stores that keep an Info beside their events use it.
func (i *Info) Add(e event.Event) {
	if i.Last.Seq == 0 {
		i.SessionID, i.First = e.SessionID, e.TS.UTC().Round(0)
	}
	i.Latest = e.TS.UTC().Round(0) // without the monotonic clock, which does not last
	i.Last.Seq = e.Seq
	i.Last.Turn = max(i.Last.Turn, e.Turn)
	switch d := e.Data.(type) {
	case event.SessionReady:
		i.Runtime = validUTF8(d.Runtime)
		if d.ProviderSessionID != "" {
			i.ProviderSessionID = validUTF8(d.ProviderSessionID)
		}
	case event.UserMessage:
		if i.Title == "" && e.SubagentID == "" {
			i.Title = titleOf(d.Text)
		}
	}
}

// titleOf returns a text on one line, cut to titleRunes.
func titleOf(text string) string {
	var runes []rune
	space := false
	for _, r := range text { // one U+FFFD for each byte that is not UTF-8
		if unicode.IsSpace(r) {
			space = len(runes) > 0
			continue
		}
		if space {
			runes = append(runes, ' ')
			space = false
		}
		if runes = append(runes, r); len(runes) > titleRunes {
			return string(runes[:titleRunes-1]) + "…"
		}
	}
	return string(runes)
}

// validUTF8 replaces each invalid byte with U+FFFD, as the JSON form does.
func validUTF8(s string) string { return string([]rune(s)) }

// All goes through the stored events of a session with a seq past after, a page
// at a time. An error is the last pair.
func All(ctx context.Context, log Log, session string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for {
			page, err := log.Read(ctx, session, after, 0)
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if len(page) == 0 {
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.Seq
			}
		}
	}
}

// Tail is Follow for a store that can tell when to read again: changed returns
// a channel that is closed once read may return more than it does from now on,
// or ErrClosed.
func Tail(ctx context.Context, after int64, changed func() <-chan struct{}, read func(after int64) ([]event.Event, error)) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		after := after // each loop over the iterator begins anew
		for {
			if err := ctx.Err(); err != nil {
				yield(event.Event{}, err)
				return
			}
			wake := changed() // before the read: what comes between them wakes too
			page, err := read(after)
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
			select {
			case <-wake:
			case <-ctx.Done():
			}
		}
	}
}
