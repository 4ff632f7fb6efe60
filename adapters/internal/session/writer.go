package session

import (
	"io"
	"sync"
)

// writer writes lines to the runtime's stdin in its own goroutine, because a runtime
// that does not read may be waiting for the session, whose lock must be free then.
type writer struct {
	w           io.WriteCloser
	mu          sync.Mutex
	lines       [][]byte
	more        chan struct{} // a line was queued, or the end was requested
	quit        chan struct{}
	loopDone    chan struct{} // writeLoop has returned
	ended       bool
	stdinClosed chan struct{} // everything was written and stdin is closed
}

func newWriter(w io.WriteCloser) *writer {
	return &writer{w: w, more: make(chan struct{}, 1), quit: make(chan struct{}),
		loopDone: make(chan struct{}), stdinClosed: make(chan struct{})}
}

// enqueue queues a line. It returns false if too many lines wait.
func (w *writer) enqueue(line []byte) bool {
	b := append(append(make([]byte, 0, len(line)+1), line...), '\n')
	w.mu.Lock()
	full := len(w.lines) >= maxUnsent
	if !full && !w.ended {
		w.lines = append(w.lines, b)
	}
	w.mu.Unlock()
	w.signal()
	return !full
}

func (w *writer) signal() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// finish closes stdin after the queued lines are written, and returns a channel
// that is closed then. A runtime that does not read delays it.
func (w *writer) finish() <-chan struct{} {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.signal()
	return w.stdinClosed
}

// stop ends writeLoop after the process has exited. Closing stdin unblocks a
// pending write.
func (w *writer) stop() {
	close(w.quit)
	_ = w.w.Close()
	<-w.loopDone
}

func (w *writer) writeLoop() {
	defer close(w.loopDone)
	shut := false
	for {
		w.mu.Lock()
		batch, ended := w.lines, w.ended
		w.lines = nil
		w.mu.Unlock()
		for _, b := range batch {
			if _, err := w.w.Write(b); err != nil {
				// The process is exiting; the exit is reported elsewhere.
				break
			}
		}
		if ended && !shut {
			shut = true
			_ = w.w.Close()
			close(w.stdinClosed)
		}
		select {
		case <-w.more:
		case <-w.quit:
			if !shut {
				_ = w.w.Close()
				close(w.stdinClosed)
			}
			return
		}
	}
}
