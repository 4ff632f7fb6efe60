package transcript

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf8Mark is the byte order mark, as text in UTF-8 may begin with.
var utf8Mark = []byte("\uFEFF")

// orders are the beginnings of text in UTF-16, with its order of bytes. JSON begins with a
// bracket if there is no mark.
var orders = []struct {
	begins string
	order  binary.ByteOrder
	mark   bool
}{
	{"\xFF\xFE", binary.LittleEndian, true},
	{"\xFE\xFF", binary.BigEndian, true},
	{"{\x00", binary.LittleEndian, false},
	{"[\x00", binary.LittleEndian, false},
	{"\x00{", binary.BigEndian, false},
	{"\x00[", binary.BigEndian, false},
}

// decoded returns a reader of r in UTF-8. PowerShell, for one, saves output in UTF-16.
func decoded(r io.Reader) io.Reader { return &decoder{in: bufio.NewReader(r)} }

// decoder decodes text by its first bytes, which it waits for in the first Read.
type decoder struct {
	in      *bufio.Reader
	begun   bool
	order   binary.ByteOrder // nil: the text is in UTF-8
	pending []byte           // of a rune that was not passed on
}

// Read implements io.Reader.
func (d *decoder) Read(p []byte) (int, error) {
	if !d.begun {
		d.begin()
	}
	if d.order == nil {
		return d.in.Read(p)
	}
	n := copy(p, d.pending)
	d.pending = d.pending[n:]
	for len(p)-n >= utf8.UTFMax && (n == 0 || d.in.Buffered() >= 4) {
		x, err := d.rune()
		if err != nil {
			if n > 0 {
				return n, nil // the next Read returns the error
			}
			return 0, err
		}
		n += utf8.EncodeRune(p[n:], x)
	}
	if n == 0 && len(p) > 0 { // p is too short for any rune
		x, err := d.rune()
		if err != nil {
			return 0, err
		}
		d.pending = utf8.AppendRune(d.pending[:0], x)
		return d.Read(p)
	}
	return n, nil
}

// begin reads the first bytes.
func (d *decoder) begin() {
	d.begun = true
	first, _ := d.in.Peek(2) // Read returns the error
	for _, o := range orders {
		if !bytes.Equal(first, []byte(o.begins)) {
			continue
		}
		if d.order = o.order; o.mark {
			_, _ = d.in.Discard(len(first)) // they were read
		}
		return
	}
}

// rune returns the next rune of text in UTF-16. Half of a pair is replaced.
func (d *decoder) rune() (rune, error) {
	x, err := d.unit()
	if err != nil || !utf16.IsSurrogate(x) {
		return x, err
	}
	low, err := d.in.Peek(2)
	if err == nil {
		if pair := utf16.DecodeRune(x, rune(d.order.Uint16(low))); pair != utf8.RuneError {
			_, err = d.in.Discard(len(low))
			return pair, err
		}
	}
	return utf8.RuneError, nil
}

func (d *decoder) unit() (rune, error) {
	var b [2]byte
	if _, err := io.ReadFull(d.in, b[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF // half of a unit
		}
		return 0, err
	}
	return rune(d.order.Uint16(b[:])), nil
}
