// Package pipe answers one question: how does a stand-in hand bytes to its
// client as the pipe of a process would?
//
// A Pipe holds 64 KiB; a writer blocks while it is full. Unlike a pipe of the
// system it keeps the bounds of writes: one Read never returns bytes of two, so
// that what a fault cut apart arrives cut apart. It blocks on a sync.Cond only,
// so that a bubble of testing/synctest may hold both of its ends.
package pipe

import (
	"io"
	"sync"
)

// Size is how many bytes a pipe holds.
const Size = 64 << 10

// Pipe is a pipe within this program.
type Pipe struct {
	mu     sync.Mutex
	change sync.Cond
	data   queue[byte] // what was written and not read
	writes queue[int]  // how much of it each write brought
	noMore bool        // the writing end is closed
	broken bool        // the reading end is closed
}

// New makes an empty pipe.
func New() *Pipe {
	p := &Pipe{}
	p.change.L = &p.mu
	return p
}

// Write implements io.Writer: it blocks until the pipe has taken all of b.
func (p *Pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for {
		if p.noMore || p.broken {
			return n, io.ErrClosedPipe
		}
		n += p.put(b[n:])
		if n == len(b) {
			return n, nil
		}
		p.change.Wait()
	}
}

// TryWrite writes what there is room for, and says how much that was.
func (p *Pipe) TryWrite(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.noMore || p.broken {
		return 0, io.ErrClosedPipe
	}
	return p.put(b), nil
}

func (p *Pipe) put(b []byte) int {
	n := min(len(b), Size-len(p.data.all()))
	if n > 0 {
		p.data.add(b[:n]...)
		p.writes.add(n)
		p.change.Broadcast()
	}
	return n
}

// Read implements io.Reader. It gives what was written before CloseWrite, then
// io.EOF.
func (p *Pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.writes.all()) == 0 {
		switch {
		case p.broken:
			return 0, io.ErrClosedPipe
		case p.noMore:
			return 0, io.EOF
		case len(b) == 0:
			return 0, nil
		}
		p.change.Wait()
	}
	first := &p.writes.all()[0]
	n := copy(b, p.data.all()[:*first])
	p.data.drop(n)
	if *first -= n; *first == 0 {
		p.writes.drop(1)
	}
	p.change.Broadcast()
	return n, nil
}

// Unread is how many bytes were written and not read.
func (p *Pipe) Unread() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.data.all())
}

// CloseWrite ends the stream: what the pipe holds can still be read.
func (p *Pipe) CloseWrite() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noMore = true
	p.change.Broadcast()
}

// Close closes the reading end: writers get io.ErrClosedPipe, what the pipe
// holds is lost.
func (p *Pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken, p.writes, p.data = true, queue[int]{}, queue[byte]{}
	p.change.Broadcast()
	return nil
}

// queue is a slice that is added to at its end and dropped from at its front,
// without a new array each time that it has wandered through the old one.
type queue[T any] struct {
	s    []T
	from int // what lies before was dropped
}

func (q *queue[T]) all() []T { return q.s[q.from:] }

func (q *queue[T]) add(v ...T) {
	if len(q.s)+len(v) > cap(q.s) && q.from >= len(q.s)/2 {
		q.s, q.from = q.s[:copy(q.s, q.s[q.from:])], 0
	}
	q.s = append(q.s, v...)
}

func (q *queue[T]) drop(n int) {
	if q.from += n; q.from == len(q.s) {
		q.s, q.from = q.s[:0], 0
	}
}
