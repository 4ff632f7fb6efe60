package sidecar

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/window"
	"github.com/turnspec/turnspec/adapters/backend/page"
)

// patchTime is the shortest time between two patches of a view: what changes meanwhile is
// in the next one. So a listener that is slow gets fewer patches, and never old ones.
const patchTime = 30 * time.Millisecond

// view handles the stream of patches of a session's chat. The first patch is full, also
// after a reconnect.
func (s *Server) view(w http.ResponseWriter, r *http.Request) error {
	n, err := numberOf(r, "messages", 50, 10_000)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	if _, err := s.stored(r.Context(), id); err != nil && (!errors.Is(err, eventlog.ErrUnknownSession) || s.running(r.Context(), id) == nil) {
		return err
	}
	win, err := window.Open(r.Context(), s.c.Log, id, n)
	if err != nil {
		return err
	}
	st, release, err := s.openStream(w)
	if err != nil {
		return err
	}
	defer release()
	s.sendPatches(r.Context(), st, win, n)
	return nil
}

// sendPatches sends what changes in a window until the listener or the server ends.
func (s *Server) sendPatches(ctx context.Context, st *stream, win *window.Window, n int) {
	ctx, cancel := context.WithCancel(ctx)
	changed := make(chan struct{}, 1)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		defer close(changed)
		readOn(ctx, func() (some bool, err error) {
			for _, err := range win.Follow(ctx) {
				if err != nil {
					return some, err
				}
				some = true
				select {
				case changed <- struct{}{}:
				default: // the listener has not read the last change
				}
			}
			return some, nil
		})
	}()
	defer func() {
		cancel()
		<-finished
	}()
	heartbeat := time.NewTicker(s.c.Heartbeat)
	defer heartbeat.Stop()
	var differ page.Differ
	wake := (<-chan struct{})(changed)
	var rest <-chan time.Time // until the next patch may be sent
	if sendPatch(st, &differ, win, n) != nil {
		return
	}
	for {
		select {
		case _, more := <-wake:
			if !more || sendPatch(st, &differ, win, n) != nil {
				return
			}
			wake, rest = nil, time.After(patchTime)
		case <-rest:
			wake, rest = changed, nil
		case <-heartbeat.C:
			if st.heartbeat() != nil {
				return
			}
		case <-s.closing:
			return
		case <-ctx.Done():
			return
		}
	}
}

// sendPatch sends the change of the newest n messages since the last patch, and of older
// ones that were sent before.
func sendPatch(st *stream, differ *page.Differ, win *window.Window, n int) error {
	view, messages := win.View(), win.Messages()
	from := max(0, len(messages)-n)
	if first := differ.First(); first > 0 {
		for from > 0 && messages[from-1].Number >= first {
			from--
		}
	}
	messages = messages[from:]
	p := differ.Next(messages, view, len(messages) > 0 && messages[0].Number > 1)
	if p == nil {
		return nil
	}
	if err := st.add(0, "patch", p); err != nil {
		return err
	}
	return st.flush()
}
