package different

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

var rewritesJSON = Adapter{
	Name: "rewrites-json", Sentence: "writes JSON values with other escapes, numbers and white space, and the members in another order",
	Events: changed(func(d event.Data) event.Data {
		switch d := d.(type) {
		case event.ToolStart:
			d.Input = otherForm(d.Input)
			return d
		case event.PermissionRequest:
			d.ToolInput = otherForm(d.ToolInput)
			return d
		case event.Interrupt:
			d.Props = otherForm(d.Props)
			return d
		case event.InterruptResolved:
			d.Value = otherForm(d.Value)
			return d
		case event.ComponentUpdate:
			d.Props = otherForm(d.Props)
			return d
		}
		return d
	}),
}

// otherForm returns another form of a JSON value: the members of objects in reverse
// order, letters as escapes, whole numbers with a fraction of 0, and white space.
func otherForm(v jsontext.Value) jsontext.Value {
	d := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	var b strings.Builder
	if len(v) == 0 || writeOther(&b, d) != nil {
		return v
	}
	return jsontext.Value(b.String())
}

func writeOther(b *strings.Builder, d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '{', '[':
		var parts []string
		object := token.Kind() == '{'
		for d.PeekKind() != '}' && d.PeekKind() != ']' {
			var part strings.Builder
			if err := writeOther(&part, d); err != nil {
				return err
			}
			if object {
				part.WriteString(" :\t")
				if err := writeOther(&part, d); err != nil {
					return err
				}
				parts = append([]string{part.String()}, parts...)
				continue
			}
			parts = append(parts, part.String())
		}
		end, err := d.ReadToken()
		if err != nil {
			return err
		}
		b.WriteString(token.String() + " " + strings.Join(parts, " , ") + " " + end.String())
	case '"':
		b.WriteByte('"')
		for _, r := range token.String() {
			switch {
			case r >= 1<<16 || r >= 0xd800 && r < 0xe000 || r == '\ufffd':
				b.WriteRune(r)
			default:
				fmt.Fprintf(b, `\u%04x`, r)
			}
		}
		b.WriteByte('"')
	case '0':
		number := token.String()
		if !strings.ContainsAny(number, ".eE") {
			number += ".0"
		}
		b.WriteString(number)
	default:
		b.WriteString(token.String())
	}
	return nil
}

// eachLine returns a Write that changes each line. A line may be written in pieces.
func eachLine(f func(line []byte, w io.Writer) error) func([]byte, io.Writer) error {
	return func(b []byte, w io.Writer) error {
		for line := range bytes.Lines(b) {
			if err := f(line, w); err != nil {
				return err
			}
		}
		return nil
	}
}

var writesJSONOtherwise = Adapter{
	Name: "writes-json-otherwise", Sentence: "sorts the members of what it writes to the runtime",
	Write: eachLine(func(line []byte, w io.Writer) error {
		v := jsontext.Value(bytes.Clone(bytes.TrimRight(line, "\n")))
		if v.Canonicalize() != nil {
			_, err := w.Write(line)
			return err
		}
		_, err := w.Write(append(v, '\n'))
		return err
	}),
}

var writesInPieces = Adapter{
	Name: "writes-in-pieces", Sentence: "writes each line to the runtime in two pieces",
	Write: eachLine(func(line []byte, w io.Writer) error {
		if _, err := w.Write(line[:len(line)/2]); err != nil {
			return err
		}
		_, err := w.Write(line[len(line)/2:])
		return err
	}),
}

var readsBytes = Adapter{
	Name: "reads-bytes", Sentence: "reads at most 100 bytes at a time",
	Read: func(r io.Reader) io.Reader { return &shortReader{r} },
}

type shortReader struct{ r io.Reader }

func (s *shortReader) Read(b []byte) (int, error) { return s.r.Read(b[:min(len(b), 100)]) }

func (s *shortReader) Close() error {
	if c, ok := s.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
