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
)

// duplicates and invalid UTF-8 are the runtime's business: they are kept.
var asItCame = []jsontext.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}

// token is one string of a document, decoded.
type token struct {
	text string
	// at holds for each byte of text, and for its end, the offset in the
	// document. It is nil if nothing was escaped: then base+i is the offset.
	at   []int
	base int
	name bool   // a member's name
	key  string // the name of the member that holds it, also through arrays
	path string // the names from the top, joined by dots; arrays add none
}

func (t *token) offset(i int) int {
	if t.at == nil {
		return t.base + i
	}
	return t.at[i]
}

// isJSON reports whether a line is walked as JSON. All else is plain text.
func isJSON(line []byte) bool {
	line = bytes.TrimLeft(line, " \t\r\n")
	return len(line) > 0 && (line[0] == '{' || line[0] == '[') && jsontext.Value(line).IsValid(asItCame...)
}

// plain is the only token of what is not JSON.
func plain(b []byte) token { return token{text: string(b)} }

// tokens returns all strings of a JSON value, in order.
func tokens(raw []byte) ([]token, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), asItCame...)
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
			t := decode(v, int(dec.InputOffset())-len(v))
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

// decode undoes the escapes of a quoted string that begins at offset start.
func decode(v []byte, start int) token {
	in := v[1 : len(v)-1]
	t := token{base: start + 1}
	if bytes.IndexByte(in, '\\') < 0 {
		t.text = string(in)
		return t
	}
	b := make([]byte, 0, len(in))
	t.at = make([]int, 0, len(in)+1)
	put := func(i int, p ...byte) {
		for range p {
			t.at = append(t.at, t.base+i)
		}
		b = append(b, p...)
	}
	for i := 0; i < len(in); {
		if in[i] != '\\' {
			put(i, in[i])
			i++
			continue
		}
		switch c := in[i+1]; c {
		case 'u':
			r, n := hex4(in[i:]), 6
			if utf16.IsSurrogate(r) && i+12 <= len(in) && in[i+6] == '\\' && in[i+7] == 'u' {
				if both := utf16.DecodeRune(r, hex4(in[i+6:])); both != utf8.RuneError {
					r, n = both, 12
				}
			}
			put(i, utf8.AppendRune(nil, r)...)
			i += n
		default:
			if j := strings.IndexByte("bfnrt", c); j >= 0 {
				c = "\b\f\n\r\t"[j]
			}
			put(i, c)
			i += 2
		}
	}
	t.at = append(t.at, t.base+len(in))
	t.text = string(b)
	return t
}

// hex4 reads \uXXXX, which the decoder has found valid.
func hex4(b []byte) rune {
	n, _ := strconv.ParseUint(string(b[2:6]), 16, 32)
	return rune(n)
}
