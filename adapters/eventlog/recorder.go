package eventlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// RecorderOptions bound what a Recorder holds. Zero fields take the defaults.
type RecorderOptions struct {
	Queue      int           // events that may wait for the log: 4096
	QueueBytes int           // and about how much memory they may take: 16 MiB
	Patience   time.Duration // how long to try again while the log is busy or full: 1m
	Failed     func(error)   // called once, when the recorder gives up
}

// Recorder tees the events of a session into a log and to a listener. The
// listener has each event at once, before it is stored: only when more wait for
// the log than the options allow does it wait too, and with it the runtime.
// A listener that must not see what a crash may take back follows the log
// instead, and detaches.
//
// While the log is busy or full the recorder tries again; when it gives up, and
// with any other error, nothing more is stored, since a log has no gaps, and the
// events go to the listener alone.
type Recorder struct {
	log Log
	o   RecorderOptions
	out chan event.Event

	detached chan struct{}
	detach   sync.Once

	mu       sync.Mutex
	queue    []waiting
	bytes    int
	taken    int64 // events that were put into the queue
	stored   int64 // and of those, that are in the log
	ended    bool  // no more will come
	err      error
	progress chan struct{} // closed and made anew when any of that changes
}

type waiting struct {
	event event.Event
	bytes int
	since time.Time
}

// What one Append of a recorder takes at most.
const (
	appendEvents = 1024
	appendBytes  = 1 << 20
)

// Record begins to record. It ends when events is closed, and leaves no
// goroutine behind then, if the listener has taken all or was detached.
func Record(log Log, events <-chan event.Event, o RecorderOptions) *Recorder {
	if o.Queue <= 0 {
		o.Queue = 4096
	}
	if o.QueueBytes <= 0 {
		o.QueueBytes = 16 << 20
	}
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	r := &Recorder{log: log, o: o, out: make(chan event.Event), detached: make(chan struct{}), progress: make(chan struct{})}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.write()
	}()
	go func() {
		defer close(r.out)
		r.forward(events)
		<-finished
	}()
	return r
}

// Events is the listener's. It is not buffered, and closed when the session has
// ended and all is stored, or the recorder has given up.
func (r *Recorder) Events() <-chan event.Event { return r.out }

// Detach tells that nobody listens to Events any more. The recording goes on.
func (r *Recorder) Detach() { r.detach.Do(func() { close(r.detached) }) }

// Flush returns when all that the listener has been given, or was about to be
// given, is stored, or with the error for which the recorder gave up.
func (r *Recorder) Flush(ctx context.Context) error {
	r.mu.Lock()
	goal := r.taken
	r.mu.Unlock()
	return r.wait(ctx, func() bool { return r.stored >= goal })
}

// Err is the error for which the recorder gave up, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Backlog is how many events wait for the log, and how long the oldest has.
func (r *Recorder) Backlog() (depth int, oldest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) > 0 {
		oldest = time.Since(r.queue[0].since)
	}
	return len(r.queue), oldest
}

// wait waits until the recorder has come so far. The lock is held for done.
func (r *Recorder) wait(ctx context.Context, done func() bool) error {
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

// changed wakes who waits. The lock is held.
func (r *Recorder) changed() {
	close(r.progress)
	r.progress = make(chan struct{})
}

func (r *Recorder) forward(events <-chan event.Event) {
	for e := range events {
		r.enqueue(e)
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
	r.changed()
	r.mu.Unlock()
}

// enqueue waits while the queue is full. One event always has room.
func (r *Recorder) enqueue(e event.Event) {
	w := waiting{e, weight(e), time.Now()}
	room := func() bool {
		return len(r.queue) == 0 || len(r.queue) < r.o.Queue && r.bytes+w.bytes <= r.o.QueueBytes
	}
	if r.wait(context.Background(), room) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, w)
	r.bytes += w.bytes
	r.taken++
	if len(r.queue) == 1 {
		r.changed() // the writer may be waiting
	}
}

// write appends what waits until the session ends.
func (r *Recorder) write() {
	var batch []event.Event
	for {
		if r.wait(context.Background(), func() bool { return len(r.queue) > 0 || r.ended }) != nil {
			return
		}
		batch = batch[:0]
		size := 0
		r.mu.Lock()
		for _, w := range r.queue {
			if len(batch) == appendEvents || size+w.bytes > appendBytes && len(batch) > 0 {
				break
			}
			batch = append(batch, w.event)
			size += w.bytes
		}
		r.mu.Unlock()
		if len(batch) == 0 {
			return // it has ended
		}
		if err := r.append(batch); err != nil {
			r.giveUp(err)
			return
		}
		r.mu.Lock()
		// They left room only now: until they are stored they are held.
		n := copy(r.queue, r.queue[len(batch):])
		clear(r.queue[n:])
		r.queue = r.queue[:n]
		r.bytes -= size
		r.stored += int64(len(batch))
		r.changed()
		r.mu.Unlock()
		clear(batch)
	}
}

// append stores a batch, and tries again where that may help.
func (r *Recorder) append(batch []event.Event) error {
	const most = 2 * time.Second
	began := time.Now()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, most) {
		err := r.log.Append(context.Background(), batch...)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, ErrBusy) && !errors.Is(err, ErrFull):
			return err
		case time.Since(began)+pause > r.o.Patience:
			return fmt.Errorf("given up after %v: %w", r.o.Patience, err)
		}
		time.Sleep(pause)
	}
}

func (r *Recorder) giveUp(err error) {
	r.mu.Lock()
	r.err = err
	r.queue, r.bytes = nil, 0
	r.changed()
	r.mu.Unlock()
	if r.o.Failed != nil {
		r.o.Failed(err)
	}
}

// weight is about how much memory an event takes.
func weight(e event.Event) int {
	const envelope = 256
	switch d := e.Data.(type) {
	case event.Delta:
		return envelope + len(d.Text)
	case event.Thinking:
		return envelope + len(d.Text)
	case event.ToolOutput:
		return envelope + len(d.Text)
	case event.UserMessage:
		return envelope + len(d.Text)
	case event.BlockEnd:
		return envelope + len(d.Text)
	case event.Result:
		return envelope + len(d.Text)
	case event.ToolStart:
		return envelope + len(d.Input) + len(d.Command)
	case event.PermissionRequest:
		return envelope + len(d.ToolInput)
	case event.Notice:
		return envelope + len(d.Text) + len(d.Raw)
	case event.ToolResult:
		n := envelope + len(d.Output)
		for i := range d.Changes {
			n += len(d.Changes[i].Diff)
		}
		return n
	}
	return 2 * envelope
}
