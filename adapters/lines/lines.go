// Package lines reads a stream line by line, with a limit for the length of one line. It
// is not part of the stable interface. Adapters, stand-ins and the recorder read a
// runtime's output with it, and package event its own form.
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
	r     *bufio.Reader // small, or that of large
	small *bufio.Reader
	large *large // nil while small is enough
	max   int
	buf   []byte // of a line that is longer than r's buffer
}

// large is what a Reader needs for many lines or a long one.
type large struct {
	r   *bufio.Reader // reads from small
	buf []byte
}

// A Reader has a large buffer from when a read fills the small one until it waits for
// the next line, because runtimes wait most of the time.
const (
	smallBuffer = 4 << 10
	largeBuffer = 64 << 10
)

// NewReader returns a Reader of lines of at most limit bytes, or of MaxLength if
// limit is 0.
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = MaxLength
	}
	l := released.Get().(*Reader)
	l.small.Reset(r)
	l.r, l.max = l.small, limit
	return l
}

// released and largeBuffers hold readers and their large buffers for reuse.
var (
	released     = sync.Pool{New: func() any { return &Reader{small: bufio.NewReaderSize(nil, smallBuffer)} }}
	largeBuffers = sync.Pool{New: func() any { return &large{r: bufio.NewReaderSize(nil, largeBuffer)} }}
)

// Release returns the buffers for reuse by later readers. It invalidates what
// Next returned; l must not be used again.
func (l *Reader) Release() {
	l.shrink()
	l.small.Reset(nil)
	released.Put(l)
}

// grow begins to read with the large buffer, and first what the small one still holds.
func (l *Reader) grow() {
	if l.large == nil {
		l.large = largeBuffers.Get().(*large)
		l.large.r.Reset(l.small)
		l.r, l.buf = l.large.r, l.large.buf[:0]
	}
}

// shrink gives the large buffer back.
func (l *Reader) shrink() {
	if l.large != nil {
		l.large.r.Reset(nil)
		l.large.buf = l.buf
		largeBuffers.Put(l.large)
		l.r, l.large, l.buf = l.small, nil, nil
	}
}

// Next returns the next line without its line end (\n or \r\n), or io.EOF
// after the last one. The slice is valid until the next call. If a line is longer
// than the limit, Next skips it and returns its first bytes with ErrTooLong;
// the next call goes on after it. A last line without a line end counts.
func (l *Reader) Next() ([]byte, error) {
	l.buf = l.buf[:0]
	long := false
	if l.r.Buffered() == 0 && l.small.Buffered() == 0 {
		l.shrink()
	}
	for {
		part, err := l.r.ReadSlice('\n')
		if len(part)+l.r.Buffered() == smallBuffer {
			l.grow() // it was filled, or the line is longer
		}
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
