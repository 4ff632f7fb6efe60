package standin

import (
	"bytes"

	"github.com/turnspec/turnspec/fixtures/wire"
)

const uuidLen = 36

// uuidAt reports whether a UUID in lower case begins at b[i].
func uuidAt(b []byte, i int) bool {
	if i+uuidLen > len(b) || i > 0 && isHex(b[i-1]) || i+uuidLen < len(b) && isHex(b[i+uuidLen]) {
		return false
	}
	for k := range uuidLen {
		dash := k == 8 || k == 13 || k == 18 || k == 23
		if c := b[i+k]; dash != (c == '-') || !dash && !isHex(c) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// uuids finds the UUIDs of a line.
func uuids(b []byte) []wire.Span {
	var out []wire.Span
	for i := 8; i+uuidLen-8 <= len(b); i++ {
		n := bytes.IndexByte(b[i:], '-')
		if n < 0 {
			break
		}
		if i += n; uuidAt(b, i-8) {
			out = append(out, wire.Span{From: i - 8, To: i - 8 + uuidLen})
			i += uuidLen - 8 - 1
		}
	}
	return out
}
