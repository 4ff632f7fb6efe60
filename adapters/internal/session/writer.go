package session

import (
	"io"
	"sync"
)

// writer writes lines to the runtime's stdin in a goroutine of its own, so that
// the session's goroutine never waits for a runtime that waits for it.
type writer struct {
	w     io.WriteCloser
	mu    sync.Mutex
	lines [][]byte
	more  chan struct{} // a line was queued, or the end was asked for
	quit  chan struct{}
	idle  chan struct{} // run has returned
	ended bool
	shut  chan struct{} // everything was written and stdin is closed
	once  sync.Once
}

func (w *writer) init(out io.WriteCloser) {
	w.w = out
	w.more = make(chan struct{}, 1)
	w.quit = make(chan struct{})
	w.idle = make(chan struct{})
	w.shut = make(chan struct{})
}

// put queues a line; false when too many wait already.
func (w *writer) put(line []byte) bool {
	b := append(append(make([]byte, 0, len(line)+1), line...), '\n')
	w.mu.Lock()
	full := len(w.lines) >= maxUnsent
	if !full && !w.ended {
		w.lines = append(w.lines, b)
	}
	w.mu.Unlock()
	w.wake()
	return !full
}

func (w *writer) wake() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// finish lets run write what is queued and then close stdin, and tells when
// that is done. A runtime that does not read keeps it waiting.
func (w *writer) finish() <-chan struct{} {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.wake()
	return w.shut
}

// stop ends run when the process is gone. Closing stdin wakes a write that
// nobody will read.
func (w *writer) stop() {
	w.once.Do(func() { close(w.quit) })
	_ = w.w.Close()
	<-w.idle
}

func (w *writer) run() {
	defer close(w.idle)
	shut := false
	for {
		w.mu.Lock()
		batch, ended := w.lines, w.ended
		w.lines = nil
		w.mu.Unlock()
		for _, b := range batch {
			if _, err := w.w.Write(b); err != nil {
				// The process is ending: its exit tells the rest.
				break
			}
		}
		if ended && !shut {
			shut = true
			_ = w.w.Close()
			close(w.shut)
		}
		select {
		case <-w.more:
		case <-w.quit:
			if !shut {
				_ = w.w.Close()
				close(w.shut)
			}
			return
		}
	}
}
