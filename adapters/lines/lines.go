// Package lines reads a stream line by line, with a limit for the length of one
// line. Adapters, stand-ins and the recorder read a runtime's output with it, and
// package event its own form.
//
// It imports the standard library only.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
)

// MaxLength is the default limit of one line, in bytes.
const MaxLength = 64 << 20

// ErrTooLong is returned for a line that is longer than the limit.
var ErrTooLong = errors.New("line is longer than the cap")

// Reader reads lines that end in \n only, because the JSON of a runtime may hold
// U+2028 unescaped.
type Reader struct {
	r   *bufio.Reader
	max int
	buf []byte
}

// NewReader returns a Reader of lines of at most limit bytes, or of MaxLength if
// limit is 0.
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = MaxLength
	}
	l := released.Get().(*Reader)
	l.r.Reset(r)
	l.max = limit
	return l
}

// released holds readers for reuse, because their buffers are large.
var released = sync.Pool{New: func() any { return &Reader{r: bufio.NewReaderSize(nil, 64<<10)} }}

// Release returns the buffers for reuse by later readers. It invalidates what
// Next returned; l must not be used again.
func (l *Reader) Release() {
	l.r.Reset(nil)
	released.Put(l)
}

// Next returns the next line without its line end (\n or \r\n), or io.EOF
// after the last one. The slice is valid until the next call. If a line is longer
// than the limit, Next skips it and returns its first bytes with ErrTooLong;
// the next call goes on after it. A last line without a line end counts.
func (l *Reader) Next() ([]byte, error) {
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
				return trimLineEnd(part), nil // the whole line is in the reader's buffer
			}
			if len(l.buf)+len(part) > cap(l.buf) { // double it, so that a long line is rarely copied
				l.buf = slices.Grow(l.buf, min(len(l.buf)+2*len(part), l.max+2-len(l.buf)))
			}
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return l.buf, ErrTooLong
		case err == nil:
			return trimLineEnd(l.buf), nil
		case len(l.buf) > 0 && errors.Is(err, io.EOF):
			if long {
				return l.buf, ErrTooLong
			}
			return trimLineEnd(l.buf), nil
		default:
			return nil, err
		}
	}
}

// NextBuffered returns the next line as Next does if all of it was read already. It
// does not read, and returns false if Next must be called.
func (l *Reader) NextBuffered() ([]byte, bool) {
	buffered, _ := l.r.Peek(l.r.Buffered())
	end := bytes.IndexByte(buffered, '\n')
	if end < 0 || end > l.max {
		return nil, false
	}
	_, _ = l.r.Discard(end + 1)
	return trimLineEnd(buffered[:end]), true
}

func trimLineEnd(b []byte) []byte {
	b = bytes.TrimSuffix(b, []byte("\n"))
	return bytes.TrimSuffix(b, []byte("\r"))
}
