package eventlog

import (
	"context"
	"iter"
	"time"
	"unicode"

	"github.com/turnspec/turnspec/adapters/event"
)

// Log is an append-only log of events. The package comment holds its contract.
type Log interface {
	// Append stores events, of one session or of several, in their order. If
	// ctx ends before the result is known, they may be stored or not.
	Append(ctx context.Context, events ...event.Event) error

	// Read returns events of a session with a seq above after, in order: at
	// most limit, or a number that the Log chooses if limit is not positive.
	// It may return fewer to bound memory, but returns none only if there are
	// no more. An unknown session has no events. If a stored event cannot be
	// read, Read returns those before it; the next call, which begins at that
	// event, returns an *UnreadableError.
	Read(ctx context.Context, session string, after int64, limit int) ([]event.Event, error)

	// Follow iterates over the events of a session with a seq above after:
	// first the stored ones and then new ones as they are appended, each once
	// and without a gap. The session need not exist yet. The iteration ends
	// only with an error, such as ctx.Err() or ErrClosed, in its last pair. It
	// holds one page of events at most, however slow the reader is, and
	// releases everything if the reader leaves the loop.
	Follow(ctx context.Context, session string, after int64) iter.Seq2[event.Event, error]

	// Sessions lists all sessions, the one with the latest event first.
	Sessions(ctx context.Context) ([]Info, error)

	// Session returns the Info of one session, or ErrUnknownSession.
	Session(ctx context.Context, session string) (Info, error)

	// PutSnapshot stores bytes that represent the events of a session up to
	// seq, so that a reader can begin there. Only the owner of the kind
	// interprets them. A snapshot of the same kind and seq is replaced. It
	// returns a *GapError if seq is above the last event, because the log
	// could still lose the events that the snapshot represents.
	PutSnapshot(ctx context.Context, session string, seq int64, kind string, data []byte) error

	// Snapshot returns the last snapshot of a kind whose seq is at most
	// atOrBefore, and its seq: 0 and nil if there is none. Pass math.MaxInt64
	// for the last one.
	Snapshot(ctx context.Context, session, kind string, atOrBefore int64) (seq int64, data []byte, err error)

	// PutMedia stores the bytes of a medium to which an event of the session refers, or will
	// refer, under their hash. If the session holds them already, nothing changes. It returns
	// ErrUnknownSession if the session has no events, and a *MediaError if the medium has more
	// than MediaBytes or is not what m says.
	PutMedia(ctx context.Context, session string, m event.Media, data []byte) error

	// Media returns a medium of a session by its hash, or ErrUnknownMedia, also if only
	// another session holds it.
	Media(ctx context.Context, session, sha256 string) (m event.Media, data []byte, err error)

	// ListMedia lists the media that a session holds, in the order of their hashes.
	ListMedia(ctx context.Context, session string) ([]event.Media, error)

	// PutOwner stores whose a session is; "" is a name too. A server calls it before it opens a session,
	// which need not have events. If the session has another owner, that one stays, and PutOwner returns
	// ErrOwned. PutOwner writes even if the owner is stored already, so that it returns ErrFull if the
	// log has no room.
	PutOwner(ctx context.Context, session, owner string) error

	// Owner returns the owner of a session: "" if none is stored.
	Owner(ctx context.Context, session string) (string, error)

	// Owners returns the owner of each session that has one other than "".
	Owners(ctx context.Context) (map[string]string, error)

	// Close waits for running appends. Afterwards every method but Close
	// returns ErrClosed. Close may be called again.
	Close() error
}

// Info describes a session. A log returns it without reading events.
type Info struct {
	SessionID         string         `json:"session_id"`
	Runtime           string         `json:"runtime,omitempty"`
	ProviderSessionID string         `json:"provider_session_id,omitempty"` // from the last session_ready that has one
	Title             string         `json:"title,omitempty"`               // the beginning of the user's first message
	First             time.Time      `json:"first"`                         // ts of the first event
	Latest            time.Time      `json:"latest"`                        // ts of the last event
	Last              event.Position `json:"last"`                          // the last seq and the highest turn
}

// titleRunes is the maximal length of a title.
const titleRunes = 80

// Add updates i with the next event. It is for implementations of Log.
func (i *Info) Add(e event.Event) {
	if i.Last.Seq == 0 {
		i.SessionID, i.First = e.SessionID, e.TS.UTC().Round(0)
	}
	i.Latest = e.TS.UTC().Round(0) // without the monotonic clock, which is not stored
	i.Last.Seq = e.Seq
	i.Last.Turn = max(i.Last.Turn, e.Turn)
	switch d := e.Data.(type) {
	case event.SessionReady:
		i.Runtime = validText(d.Runtime)
		if d.ProviderSessionID != "" {
			i.ProviderSessionID = validText(d.ProviderSessionID)
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

// validText replaces each invalid byte with U+FFFD, as the JSON form does.
func validText(s string) string { return string([]rune(s)) }

// All iterates over the stored events of a session with a seq above after. It
// reads a page at a time. If reading fails, the last pair holds the error.
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

// Tail implements Log.Follow on a store's read function. The channel that
// changed returns must be closed when read can return events that it could not
// return at the time of the call, or ErrClosed.
func Tail(ctx context.Context, after int64, changed func() <-chan struct{}, read func(after int64) ([]event.Event, error)) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		after := after // each loop over the iterator begins here
		for {
			if err := ctx.Err(); err != nil {
				yield(event.Event{}, err)
				return
			}
			wake := changed() // before the read, so that no append between them is missed
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
