package redact

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures/wire"
)

// token is a decoded string of a document.
type token struct {
	text string
	// at holds the offset in the document of each byte of text, and of its end.
	// It is nil if nothing was escaped; the offset is base+i then.
	at   []int
	base int
	name bool   // a member's name
	key  string // the name of the member that holds it, directly or in arrays
	path string // the names from the top, joined by dots; arrays have none
}

func (t *token) offset(i int) int {
	if t.at == nil {
		return t.base + i
	}
	return t.at[i]
}

// isJSON reports whether a line is read as JSON, and not as plain text.
func isJSON(line []byte) bool {
	line = bytes.TrimLeft(line, " \t\r\n")
	return len(line) > 0 && (line[0] == '{' || line[0] == '[') && jsontext.Value(line).IsValid(wire.AsWritten)
}

// plainToken returns the only token of a text that is not JSON.
func plainToken(b []byte) token { return token{text: string(b)} }

// tokens returns all strings of a JSON value, in order.
func tokens(raw []byte) ([]token, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), wire.AsWritten)
	type frame struct {
		object, wantName bool
		key, path        string
	}
	stack := []frame{{}}
	var out []token
	for {
		top := &stack[len(stack)-1]
		kind := dec.PeekKind()
		switch kind {
		case '"':
			v, err := dec.ReadValue()
			if err != nil {
				return nil, err
			}
			t := unescape(v, int(dec.InputOffset())-len(v))
			if t.name = top.object && top.wantName; t.name {
				parent := stack[len(stack)-2]
				top.key, top.path = t.text, t.text
				if parent.path != "" {
					top.path = parent.path + "." + t.text
				}
			}
			t.key, t.path = top.key, top.path
			top.wantName = !top.wantName
			out = append(out, t)
			continue
		case '{', '[':
			top.wantName = true // once this value has ended
			stack = append(stack, frame{kind == '{', true, top.key, top.path})
		case '}', ']':
			stack = stack[:len(stack)-1]
		default:
			top.wantName = true
		}
		if _, err := dec.ReadToken(); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// unescape reads a quoted string that begins at offset start.
func unescape(v []byte, start int) token {
	in := v[1 : len(v)-1]
	t := token{base: start + 1}
	if bytes.IndexByte(in, '\\') < 0 {
		t.text = string(in)
		return t
	}
	b := make([]byte, 0, len(in))
	t.at = make([]int, 0, len(in)+1)
	appendAt := func(i int, p ...byte) {
		for range p {
			t.at = append(t.at, t.base+i)
		}
		b = append(b, p...)
	}
	for i := 0; i < len(in); {
		if in[i] != '\\' {
			appendAt(i, in[i])
			i++
			continue
		}
		switch c := in[i+1]; c {
		case 'u':
			r, n := hexRune(in[i:]), 6
			if utf16.IsSurrogate(r) && i+12 <= len(in) && in[i+6] == '\\' && in[i+7] == 'u' {
				if both := utf16.DecodeRune(r, hexRune(in[i+6:])); both != utf8.RuneError {
					r, n = both, 12
				}
			}
			appendAt(i, utf8.AppendRune(nil, r)...)
			i += n
		default:
			if j := strings.IndexByte("bfnrt", c); j >= 0 {
				c = "\b\f\n\r\t"[j]
			}
			appendAt(i, c)
			i += 2
		}
	}
	t.at = append(t.at, t.base+len(in))
	t.text = string(b)
	return t
}

// hexRune reads \uXXXX, which is valid.
func hexRune(b []byte) rune {
	n, _ := strconv.ParseUint(string(b[2:6]), 16, 32)
	return rune(n)
}
