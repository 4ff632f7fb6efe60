// Package pipe offers a pipe within the program that behaves like the pipe of a process.
// It is not part of the stable interface.
//
// A Pipe holds 64 KiB; a writer blocks while it is full. Unlike a pipe of the system it
// keeps the bounds of writes: one Read never returns bytes of two writes, so that lines
// that a fault has cut arrive in pieces. It blocks only on a sync.Cond, so that a bubble of
// testing/synctest may hold both of its ends.
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
	data   queue[byte] // written and not read
	writes queue[int]  // the length of each write
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
		n += p.appendBytes(b[n:])
		if n == len(b) {
			return n, nil
		}
		p.change.Wait()
	}
}

// TryWrite writes as many bytes as there is room for, and returns how many.
func (p *Pipe) TryWrite(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.noMore || p.broken {
		return 0, io.ErrClosedPipe
	}
	return p.appendBytes(b), nil
}

func (p *Pipe) appendBytes(b []byte) int {
	n := min(len(b), Size-len(p.data.items()))
	if n > 0 {
		p.data.push(b[:n]...)
		p.writes.push(n)
		p.change.Broadcast()
	}
	return n
}

// Read implements io.Reader. It returns what was written before CloseWrite, then
// io.EOF.
func (p *Pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.writes.items()) == 0 {
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
	first := &p.writes.items()[0]
	n := copy(b, p.data.items()[:*first])
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
	return len(p.data.items())
}

// CloseWrite ends the stream: what the pipe holds can still be read.
func (p *Pipe) CloseWrite() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noMore = true
	p.change.Broadcast()
}

// Close closes the reading end. Writers get io.ErrClosedPipe, and the bytes in the pipe
// are lost.
func (p *Pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken, p.writes, p.data = true, queue[int]{}, queue[byte]{}
	p.change.Broadcast()
	return nil
}

// queue is a slice that grows at its end and shrinks at its front. It reuses its array.
type queue[T any] struct {
	s    []T
	from int // elements before it were dropped
}

func (q *queue[T]) items() []T { return q.s[q.from:] }

func (q *queue[T]) push(v ...T) {
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
