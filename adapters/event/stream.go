package event

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/turnspec/turnspec/adapters/lines"
)

// Decoder reads events from a stream of lines, one event per line. It needs memory
// for the longest line only. It skips blank lines.
type Decoder struct {
	lines *lines.Reader
	line  int
	err   error // of the reader; Next returns it from then on
}

// NewDecoder returns a Decoder that reads from r. A line may be lines.MaxLength
// bytes long.
func NewDecoder(r io.Reader) *Decoder { return newDecoder(r, lines.MaxLength) }

func newDecoder(r io.Reader, limit int) *Decoder { return &Decoder{lines: lines.NewReader(r, limit)} }

// Next returns the next event, or io.EOF after the last. If a line is bad, it
// returns a *LineError, and the next call continues with the following line. If the
// reader fails, it returns another error, and so does every later call.
func (d *Decoder) Next() (Event, error) {
	for d.err == nil {
		b, err := d.lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			d.err = io.EOF
			continue
		case err != nil && !errors.Is(err, lines.ErrTooLong):
			d.err = fmt.Errorf("read after line %d: %w", d.line, err)
			continue
		}
		d.line++
		if err != nil {
			return Event{}, &LineError{d.line, err}
		}
		if len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		e, err := Decode(b)
		if err != nil {
			return Event{}, &LineError{d.line, err}
		}
		return e, nil
	}
	return Event{}, d.err
}

// LineError is an error in one line of a stream. Lines count from 1.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the error of the line.
func (e *LineError) Unwrap() error { return e.Err }

// Encoder writes events to a stream, one line and one Write per event.
type Encoder struct {
	w     io.Writer
	buf   []byte
	times timeText
}

// NewEncoder returns an Encoder that writes to w.
func NewEncoder(w io.Writer) *Encoder { return &Encoder{w: w} }

// Encode writes one event. If the event is invalid, it writes nothing.
func (enc *Encoder) Encode(e Event) error {
	b, err := e.appendJSON(enc.buf[:0], &enc.times)
	if err != nil {
		return err
	}
	b = append(b, '\n')
	enc.buf = b
	_, err = enc.w.Write(enc.buf)
	return err
}
