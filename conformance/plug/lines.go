package plug

import (
	"bytes"
	"io"

	"github.com/turnspec/turnspec/adapters/lines"
)

// MaxLine is the longest line of a program, or message of a server, in bytes. It is part of the
// budget of a step, and as large as the bytes that a step may always emit. A fault may make a line of the
// runtime longer (65 MiB), but no event has to repeat such a line; the longest that an event may
// repeat, in a notice, has 8 MiB.
const MaxLine = 16 << 20

// NewLines returns a Reader of the lines that a program writes. A line longer than MaxLine is the
// last one: Next returns its first bytes and lines.ErrTooLong without reading the rest, which may
// have no end.
func NewLines(r io.Reader) *lines.Reader {
	return lines.NewReader(&untilTooLong{r: r}, MaxLine)
}

// untilTooLong reads r up to a line that is longer than a Reader of lines of MaxLine bytes takes.
type untilTooLong struct {
	r io.Reader
	n int // bytes of the line that has not ended
}

func (u *untilTooLong) Read(p []byte) (int, error) {
	if u.n > MaxLine+len("\r\n") {
		return 0, io.EOF
	}
	n, err := u.r.Read(p)
	if end := bytes.LastIndexByte(p[:n], '\n'); end >= 0 {
		u.n = n - end - 1
	} else {
		u.n += n
	}
	return n, err
}

// TooLong returns the error for a line that is longer than MaxLine. what names the line, and
// beginning is its first bytes, if they are known.
func TooLong(what string, beginning []byte) *Error {
	e := Errorf("%s is longer than %d bytes, the longest that a program may write", what, MaxLine).
		Advise("shorten what the runtime wrote before you pass it on, such as the raw line of a notice")
	if len(beginning) > 0 {
		e.What += ": " + Clip(string(beginning))
	}
	e.overBudget = true
	return e
}
