package proc

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// Tail keeps the last bytes that were written to it, such as the end of a child's
// stderr.
type Tail struct {
	mu  sync.Mutex
	max int
	b   []byte
}

// NewTail returns a Tail that keeps the last n bytes.
func NewTail(n int) *Tail { return &Tail{max: n} }

// Write implements io.Writer and never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if over := len(t.b) - t.max; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

// ReadFrom implements io.ReaderFrom, because io.Copy would otherwise allocate a
// larger buffer than most children's stderr needs.
func (t *Tail) ReadFrom(r io.Reader) (n int64, err error) {
	b := make([]byte, 4<<10)
	for {
		k, err := r.Read(b)
		_, _ = t.Write(b[:k]) // it never fails
		n += int64(k)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// String returns what is kept, as valid UTF-8 without surrounding white space.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(bytes.TrimSpace(t.b), []byte("\uFFFD")))
}
