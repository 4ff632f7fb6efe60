package eventlog

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/turnspec/turnspec/adapters/event"
)

// MediaBytes is the size of the largest medium that a Log stores.
const MediaBytes = 32 << 20

// ErrUnknownMedia is returned for a hash of which a session holds no bytes.
var ErrUnknownMedia = errors.New("the session holds no medium with this hash")

// MediaError is returned if a medium cannot be stored, because it is too large or not what
// its reference says.
type MediaError struct {
	Session string
	Media   event.Media
	Err     error
}

func (e *MediaError) Error() string {
	return fmt.Sprintf("medium %.16s of session %q: %v", e.Media.SHA256, e.Session, e.Err)
}

// Unwrap returns the cause.
func (e *MediaError) Unwrap() error { return e.Err }

// errNotHandedOver is why a Recorder cannot store a medium.
var errNotHandedOver = fmt.Errorf("the bytes were dropped: a medium may have %d bytes, and %d may wait for the recorder", MediaBytes, maxWaiting)

// CheckMedia returns the reference under which a Log stores a medium, or a *MediaError if no
// store may hold it. A MIME type that is not printable ASCII, or longer than 255 characters, is
// left out. CheckMedia is for implementations of Log.
func CheckMedia(session string, m event.Media, data []byte) (event.Media, error) {
	fail := func(format string, args ...any) (event.Media, error) {
		return m, &MediaError{session, m, fmt.Errorf(format, args...)}
	}
	switch {
	case len(data) > MediaBytes:
		return fail("it has %d bytes, more than %d", len(data), MediaBytes)
	case !slices.Contains([]event.MediaKind{event.MediaImage, event.MediaAudio, event.MediaDocument}, m.Kind):
		return fail("its kind is %q", m.Kind)
	case m != event.MediaOf(m.Kind, m.MIME, data):
		return fail("the bytes have another size or hash than the reference")
	}
	if len(m.MIME) > 255 || slices.ContainsFunc([]byte(m.MIME), func(b byte) bool { return b < ' ' || b > '~' }) {
		m.MIME = ""
	}
	return m, nil
}

// UnknownMedia returns the error of Log.Media for a hash of which a session holds no bytes.
func UnknownMedia(session, sha256 string) error {
	return fmt.Errorf("session %q, %.64q: %w", session, sha256, ErrUnknownMedia)
}

// MediaQueue holds the media of one session from when the session hands them over until a
// Recorder stores them, which it does right before it appends the event that refers to them.
// Its zero value is empty and ready for use:
//
//	var media eventlog.MediaQueue
//	session, err := adapter.Open(ctx, adapters.Options{Media: media.Add})
//	…
//	eventlog.Record(log, session.Events(), eventlog.RecorderOptions{Media: &media})
type MediaQueue struct {
	mu      sync.Mutex
	waiting []medium
	bytes   int
}

type medium struct {
	event.Media
	data []byte
	lost bool // the session did not hand it over, or there was no room
}

// maxWaiting limits the bytes of the media whose events the recorder has not received.
const maxWaiting = 64 << 20

// Add puts a medium into the queue, which owns the bytes. It never blocks: a medium for which
// there is no room is dropped, and the Recorder reports it.
func (q *MediaQueue) Add(m event.Media, data []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(data) > MediaBytes || q.bytes+len(data) > maxWaiting {
		return
	}
	q.waiting = append(q.waiting, medium{m, data, false})
	q.bytes += len(data)
}

// take removes the media of an event.
func (q *MediaQueue) take(refs []event.Media) (out []medium, size int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, ref := range refs {
		i := slices.IndexFunc(q.waiting, func(m medium) bool { return m.Media == ref })
		if i < 0 {
			out = append(out, medium{ref, nil, true})
			continue
		}
		out = append(out, q.waiting[i])
		size += len(q.waiting[i].data)
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	q.bytes -= size
	return out, size
}
