// Package transcript reads the output of a runtime in the forms in which people have it: lines
// of JSON, server-sent events as curl saves them, JSON over several lines, arrays of messages,
// and text in UTF-16.
package transcript

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/lines"
)

// lenient accepts what runtimes really write.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Reader reads the messages of a transcript. Its memory is bounded by the longest line or
// JSON value.
type Reader struct {
	in     *lines.Reader
	read   int      // how many lines were read
	undone [][]byte // lines that were read ahead, in order
	ready  [][]byte // messages that the last line held
	event  [][]byte // the data of a server-sent event that is not complete
	line   int      // of the last message
	limit  int      // of a value over several lines, in bytes
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: lines.NewReader(decoded(r), 0), limit: lines.MaxLength}
}

// Line returns the number of the line at which the last message ends, or at which reading has
// failed.
func (r *Reader) Line() int { return r.line }

// Next returns the next message, or io.EOF after the last one. A message is a JSON value
// without line ends, [DONE], or a line that is not JSON. The slice is valid until the next call.
// A line that is too long comes with lines.ErrTooLong, as its first bytes.
func (r *Reader) Next() ([]byte, error) {
	for {
		if len(r.ready) > 0 {
			b := r.ready[0]
			r.ready = r.ready[1:]
			return b, nil
		}
		b, err := r.nextLine()
		switch {
		case errors.Is(err, lines.ErrTooLong):
			return b, err
		case err != nil:
			if r.endEvent(); len(r.ready) == 0 {
				return nil, err
			}
		case len(b) == 0:
			r.endEvent()
		case !r.addField(b):
			r.endEvent()
			r.addValue(b)
		}
	}
}

// nextLine returns the next line without the space around it.
func (r *Reader) nextLine() ([]byte, error) {
	if len(r.undone) > 0 {
		b := r.undone[0]
		r.undone = r.undone[1:]
		r.line = r.read - len(r.undone)
		return b, nil
	}
	b, err := r.in.Next()
	r.line = r.read + 1
	if err == nil || errors.Is(err, lines.ErrTooLong) {
		r.read++
	}
	return bytes.TrimSpace(bytes.TrimPrefix(b, utf8Mark)), err
}

// addField adds a line of a server-sent event. It reports whether the line is one. Some
// programs save events without the empty lines between them.
func (r *Reader) addField(b []byte) bool {
	name, value, ok := bytes.Cut(b, []byte(":"))
	if !ok {
		return false
	}
	switch string(name) {
	case "data":
		if jsontext.Value(bytes.Join(r.event, []byte("\n"))).IsValid(lenient) {
			r.endEvent()
		}
		r.event = append(r.event, bytes.Clone(bytes.TrimSpace(value)))
		return true
	case "", "event", "id", "retry": // the data says what the event is
		return true
	}
	return false
}

// endEvent makes the data of a server-sent event a message.
func (r *Reader) endEvent() {
	data := bytes.Join(r.event, []byte("\n"))
	r.event = r.event[:0]
	if len(data) > 0 {
		r.addMessage(data)
	}
}

// addMessage adds a message, or those of an array. b is retained.
func (r *Reader) addMessage(b []byte) {
	v := jsontext.Value(b)
	if !v.IsValid(lenient) {
		r.ready = append(r.ready, b)
		return
	}
	if bytes.IndexByte(b, '\n') >= 0 {
		_ = v.Compact(lenient) // it is valid
	}
	var elements []jsontext.Value
	if v.Kind() == '[' {
		_ = json.Unmarshal(v, &elements, lenient) // it is valid
	}
	if len(elements) == 0 || slices.ContainsFunc(elements, func(e jsontext.Value) bool { return e.Kind() != '{' }) {
		r.ready = append(r.ready, v)
		return
	}
	for _, e := range elements {
		r.ready = append(r.ready, e)
	}
}

// addValue adds the message that begins with a line.
func (r *Reader) addValue(b []byte) {
	if b[0] != '{' && b[0] != '[' || jsontext.Value(b).IsValid(lenient) {
		r.addMessage(b)
		return
	}
	if b, ok := bytes.CutSuffix(b, []byte(",")); ok && jsontext.Value(b).IsValid(lenient) {
		r.addMessage(b) // of an array whose beginning was cut off
		return
	}
	s, line := &source{r: r}, r.line
	s.add(b)
	end, err := endOfValue(s)
	if err != nil {
		r.undone = append(s.lines[1:], r.undone...)
		r.line = line
		r.addMessage(s.lines[0])
		return
	}
	if rest := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(s.text[end:]), []byte(","))); len(rest) > 0 {
		r.undone = append([][]byte{rest}, r.undone...)
	}
	r.addMessage(s.text[:end])
}

// endOfValue returns where the first JSON value of in ends.
func endOfValue(in io.Reader) (int64, error) {
	d := jsontext.NewDecoder(in, lenient)
	for {
		if _, err := d.ReadToken(); err != nil {
			return 0, err
		}
		if d.StackDepth() == 0 {
			return d.InputOffset(), nil
		}
	}
}

// source is the text from a line on, of which it reads no more than is needed.
type source struct {
	r     *Reader
	lines [][]byte // that were read
	text  []byte   // of these lines
	taken int      // bytes of text that were passed on
}

func (s *source) add(b []byte) {
	s.lines = append(s.lines, bytes.Clone(b))
	s.text = append(append(s.text, b...), '\n')
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	if s.taken == len(s.text) {
		if len(s.text) > s.r.limit {
			return 0, lines.ErrTooLong
		}
		b, err := s.r.nextLine()
		if err != nil && len(b) == 0 {
			return 0, err
		}
		s.add(b)
	}
	n := copy(p, s.text[s.taken:])
	s.taken += n
	return n, nil
}
