package proc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
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
	return &Lines{r: bufio.NewReaderSize(r, 64<<10), max: limit}
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

func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(bytes.TrimSpace(t.b), []byte("\uFFFD")))
}
