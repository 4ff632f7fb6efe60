package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// RecorderOptions limit the queue of a Recorder. Zero fields take the defaults.
type RecorderOptions struct {
	Queue      int           // events that may wait for the log: 4096
	QueueBytes int           // approximate memory that they may take: 16 MiB
	RetryFor   time.Duration // how long to retry while the log is busy or full: 1m
	FullFor    time.Duration // how long to retry while it is full: RetryFor
	Failed     func(error)   // called once if the recorder gives up

	// Observe receives each event in place of the channel of Events, which then only says
	// when all are stored. It must not block. It spares a goroutine that would wake for
	// each event.
	Observe func(event.Event)

	// Waits is called before each retry with the error of the log, and with nil when the log
	// takes events again or the recorder gives up. It must not block.
	Waits func(error)

	// Media holds the media that the session hands over. If it is nil, none are stored.
	Media *MediaQueue
	// MediaFailed is called for each reference whose bytes are not stored, and why.
	MediaFailed func(event.Media, error)
}

// Recorder tees the events of a session into a log and to a listener. The
// listener receives each event at once, before it is stored. If more events wait
// for the log than the options allow, the listener waits too, and with it the
// runtime. A listener that must not see events that a crash may lose should
// detach and follow the log instead.
//
// If the log is busy or full, the recorder retries. If it gives up or gets any
// other error, it stores nothing more, because a log has no gaps, and emits the
// events to the listener alone.
type Recorder struct {
	log Log
	o   RecorderOptions
	out chan event.Event

	detached chan struct{}
	detach   sync.Once

	mu       sync.Mutex
	queue    []queuedEvent
	bytes    int
	queued   int64 // events that were ever put into the queue
	stored   int64 // events that are in the log
	ended    bool  // the session's channel is closed
	err      error
	progress chan struct{} // closed and replaced when any of these fields changes
}

type queuedEvent struct {
	event event.Event
	bytes int
	since time.Time
	media []medium // stored before the event
}

// Limits of one Append of a recorder.
const (
	appendEvents = 1024
	appendBytes  = 1 << 20
)

// Record starts a recorder. It ends when events is closed. Its goroutines have
// ended once the listener has received all events or is detached.
func Record(log Log, events <-chan event.Event, o RecorderOptions) *Recorder {
	if o.Queue <= 0 {
		o.Queue = 4096
	}
	if o.QueueBytes <= 0 {
		o.QueueBytes = 16 << 20
	}
	if o.RetryFor == 0 {
		o.RetryFor = time.Minute
	}
	o.FullFor = cmp.Or(o.FullFor, o.RetryFor)
	if o.Waits == nil {
		o.Waits = func(error) {}
	}
	r := &Recorder{log: log, o: o, out: make(chan event.Event), detached: make(chan struct{}), progress: make(chan struct{})}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.writeQueue()
	}()
	go func() {
		defer close(r.out)
		r.forwardEvents(events)
		<-finished
	}()
	return r
}

// Events returns the listener's channel. It is unbuffered, and closed when the
// session has ended and all events are stored or the recorder has given up.
func (r *Recorder) Events() <-chan event.Event { return r.out }

// Detach lets the recorder go on without a listener: nothing has to receive from
// Events any more.
func (r *Recorder) Detach() { r.detach.Do(func() { close(r.detached) }) }

// Flush waits until all events that the listener has received, or is about to
// receive, are stored. It returns the error if the recorder gave up.
func (r *Recorder) Flush(ctx context.Context) error {
	r.mu.Lock()
	goal := r.queued
	r.mu.Unlock()
	return r.waitUntil(ctx, func() bool { return r.stored >= goal })
}

// Err returns the error for which the recorder gave up, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Backlog returns how many events wait for the log, and for how long the oldest
// has waited.
func (r *Recorder) Backlog() (depth int, oldest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) > 0 {
		oldest = time.Since(r.queue[0].since)
	}
	return len(r.queue), oldest
}

// waitUntil blocks until done reports true, which is called with the lock held,
// or the recorder has given up.
func (r *Recorder) waitUntil(ctx context.Context, done func() bool) error {
	r.mu.Lock()
	for {
		if r.err != nil || done() {
			defer r.mu.Unlock()
			return r.err
		}
		progress := r.progress
		r.mu.Unlock()
		select {
		case <-progress:
		case <-ctx.Done():
			return ctx.Err()
		}
		r.mu.Lock()
	}
}

// broadcast wakes all callers of waitUntil. The caller holds the lock.
func (r *Recorder) broadcast() {
	close(r.progress)
	r.progress = make(chan struct{})
}

func (r *Recorder) forwardEvents(events <-chan event.Event) {
	for e := range events {
		r.enqueue(e)
		if r.o.Observe != nil {
			r.o.Observe(e)
			continue
		}
		select {
		case <-r.detached:
			continue
		default:
		}
		select {
		case r.out <- e:
		case <-r.detached:
		}
	}
	r.mu.Lock()
	r.ended = true
	r.broadcast()
	r.mu.Unlock()
}

// enqueue waits while the queue is full. An empty queue has room for any event.
func (r *Recorder) enqueue(e event.Event) {
	w := queuedEvent{event: e, bytes: e.Size(), since: time.Now()}
	if d, is := e.Data.(event.ToolResult); is && r.o.Media != nil {
		var size int
		w.media, size = r.o.Media.take(d.Media)
		w.bytes += size
	}
	room := func() bool {
		return len(r.queue) == 0 || len(r.queue) < r.o.Queue && r.bytes+w.bytes <= r.o.QueueBytes
	}
	if r.waitUntil(context.Background(), room) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, w)
	r.bytes += w.bytes
	r.queued++
	if len(r.queue) == 1 {
		r.broadcast() // the writer may be waiting
	}
}

// writeQueue appends queued events to the log until the session ends.
func (r *Recorder) writeQueue() {
	var batch []event.Event
	var media []medium // of the first event
	for {
		if r.waitUntil(context.Background(), func() bool { return len(r.queue) > 0 || r.ended }) != nil {
			return
		}
		batch, media = batch[:0], nil
		size := 0
		r.mu.Lock()
		for _, w := range r.queue {
			if len(batch) == appendEvents || len(batch) > 0 && (size+w.bytes > appendBytes || len(w.media) > 0) {
				break
			}
			if len(batch) == 0 {
				media = w.media
			}
			batch = append(batch, w.event)
			size += w.bytes
		}
		r.mu.Unlock()
		if len(batch) == 0 {
			return // the session has ended
		}
		r.storeMedia(batch[0].SessionID, media)
		if err := r.retry(func() error { return r.log.Append(context.Background(), batch...) }); err != nil {
			r.stopRecording(err)
			return
		}
		r.mu.Lock()
		// Events take up room in the queue until they are stored.
		n := copy(r.queue, r.queue[len(batch):])
		clear(r.queue[n:])
		r.queue = r.queue[:n]
		r.bytes -= size
		r.stored += int64(len(batch))
		r.broadcast()
		r.mu.Unlock()
		clear(batch)
	}
}

// storeMedia stores the media of an event. The events before it are stored.
func (r *Recorder) storeMedia(session string, media []medium) {
	for _, m := range media {
		err := errNotHandedOver
		if !m.lost {
			err = r.retry(func() error { return r.log.PutMedia(context.Background(), session, m.Media, m.data) })
		}
		if err != nil && r.o.MediaFailed != nil {
			r.o.MediaFailed(m.Media, err)
		}
	}
}

// retry calls store again while the log is busy or full.
func (r *Recorder) retry(store func() error) error {
	const maxPause = 2 * time.Second
	began, waits := time.Now(), false
	defer func() {
		if waits {
			r.o.Waits(nil)
		}
	}()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, maxPause) {
		err := store()
		limit := r.o.RetryFor
		if errors.Is(err, ErrFull) {
			limit = r.o.FullFor
		}
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, ErrBusy) && !errors.Is(err, ErrFull):
			return err
		case time.Since(began)+pause > limit:
			return fmt.Errorf("given up after %v: %w", limit, err)
		}
		waits = true
		r.o.Waits(err)
		time.Sleep(pause)
	}
}

func (r *Recorder) stopRecording(err error) {
	r.mu.Lock()
	r.err = err
	r.queue, r.bytes = nil, 0
	r.broadcast()
	r.mu.Unlock()
	if r.o.Failed != nil {
		r.o.Failed(err)
	}
}
