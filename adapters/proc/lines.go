package proc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
)

// MaxLine is the default cap of one line, in bytes.
const MaxLine = 64 << 20

// ErrLongLine says that a line was longer than the cap and was skipped.
var ErrLongLine = errors.New("line is longer than the cap")

// Lines reads lines that end in \n only (a runtime's JSON may hold U+2028 raw).
type Lines struct {
	r   *bufio.Reader
	max int
	buf []byte
}

// NewLines reads lines of at most max bytes from r; max 0 is MaxLine.
func NewLines(r io.Reader, limit int) *Lines {
	if limit <= 0 {
		limit = MaxLine
	}
	l := released.Get().(*Lines)
	l.r.Reset(r)
	l.max = limit
	return l
}

// released are Lines that nobody uses: their buffers are large.
var released = sync.Pool{New: func() any { return &Lines{r: bufio.NewReaderSize(nil, 64<<10)} }}

// Release gives the buffers back, for Lines that are made later. What Next
// returned is not valid any more, and l must not be used again.
func (l *Lines) Release() {
	l.r.Reset(nil)
	released.Put(l)
}

// Next returns the next line without its line end (\n or \r\n). The slice is
// valid until the next call. A line past the cap is skipped and gives
// ErrLongLine with its first bytes; reading goes on after it. A last line
// without a line end counts.
func (l *Lines) Next() ([]byte, error) {
	l.buf = l.buf[:0]
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if !long && len(l.buf)+len(part) > l.max+2 {
			long = true
			if len(l.buf) == 0 {
				l.buf = append(l.buf, part[:min(len(part), 256)]...)
			}
			l.buf = l.buf[:min(len(l.buf), 256)]
		}
		if !long {
			if err == nil && len(l.buf) == 0 {
				return trim(part), nil // the whole line stands in the reader's buffer
			}
			if len(l.buf)+len(part) > cap(l.buf) { // to the double, so that a long line is copied seldom
				l.buf = slices.Grow(l.buf, min(len(l.buf)+2*len(part), l.max+2-len(l.buf)))
			}
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return l.buf, ErrLongLine
		case err == nil:
			return trim(l.buf), nil
		case len(l.buf) > 0 && errors.Is(err, io.EOF):
			if long {
				return l.buf, ErrLongLine
			}
			return trim(l.buf), nil
		default:
			return nil, err
		}
	}
}

func trim(b []byte) []byte {
	b = bytes.TrimSuffix(b, []byte("\n"))
	return bytes.TrimSuffix(b, []byte("\r"))
}

// Tail keeps the last bytes that were written to it: what a child said on
// stderr, bounded.
type Tail struct {
	mu  sync.Mutex
	max int
	b   []byte
}

// NewTail keeps the last n bytes.
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

// ReadFrom implements io.ReaderFrom: io.Copy would make a larger buffer than
// what most children say is worth.
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

func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(bytes.TrimSpace(t.b), []byte("\uFFFD")))
}
