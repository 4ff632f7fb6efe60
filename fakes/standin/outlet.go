package standin

import "github.com/turnspec/turnspec/fakes/pipe"

// outlet is stdout or stderr of a process, on the side of the process.
type outlet struct {
	*pipe.Pipe
	l       *launch
	pending [][]byte // writes that the pipe has no room for yet
	pumping bool
}

// writeOut passes bytes to the client. Bytes that the pipe has no room for wait and
// must not be changed. It never blocks.
func (o *outlet) writeOut(b []byte) {
	chunks := [][]byte{b}
	if o.l.p.o.Chunk != nil && o == o.l.stdout {
		chunks = o.l.p.o.Chunk(b)
	}
	if o.l.ended {
		return
	}
	for _, c := range chunks {
		if len(o.pending) == 0 {
			n, err := o.TryWrite(c)
			if err != nil || n == len(c) {
				continue
			}
			c = c[n:]
		}
		o.pending = append(o.pending, c)
	}
	if len(o.pending) > 0 && !o.pumping {
		o.pumping = true
		o.l.p.work.Go(o.pump)
	}
}

// pump writes the pending bytes as the reader makes room.
func (o *outlet) pump() {
	mu := &o.l.p.mu
	mu.Lock()
	defer mu.Unlock()
	for len(o.pending) > 0 {
		c := o.pending[0]
		mu.Unlock()
		_, err := o.Write(c)
		mu.Lock()
		if err != nil || o.l.ended {
			o.pending = nil
			break
		}
		o.pending = o.pending[1:]
	}
	o.pumping = false
	o.l.p.change.Broadcast()
}

// isFull reports whether the process waits for its client to read.
func (l *launch) isFull() bool { return len(l.stdout.pending)+len(l.stderr.pending) > 0 }
