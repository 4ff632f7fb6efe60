package fastjson

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// Each byte value at each position of a machine word.
func TestEveryByteAtEveryPosition(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			g := NewWithT(t)
			body := []byte(strings.Repeat("a", at) + string([]byte{byte(c)}) + strings.Repeat("b", 19-at))
			s := New(append(append([]byte(`"`), body...), `" `...))
			got := s.Text()
			switch {
			case c == '"':
				g.Expect(s.Done()).To(BeFalse(), "%q", body)
			case c < ' ' || c >= 0x80:
				g.Expect(s.Bad).To(BeTrue(), "%q", body)
			case c == '\\' && at < 19:
				g.Expect(s.Bad).To(BeFalse(), "%q: \\b is an escape", body)
				g.Expect(got).To(ContainSubstring("\b"))
			case c != '\\':
				g.Expect(s.Done()).To(BeTrue(), "%q", body)
				g.Expect(got).To(Equal(string(body)))
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for in, ok := range map[string]bool{"0": true, "7": true, "123456789012345": true, "1234567890123456": false,
		"01": false, "-1": false, "1.5": false, "1e3": false, "": false, "x": false} {
		s := New([]byte(in))
		s.Number()
		if s.Done() != ok {
			t.Errorf("%q: %v, want %v", in, !ok, ok)
		}
	}
}

// FuzzText compares strings with encoding/json.
func FuzzText(f *testing.F) {
	for _, s := range []string{`"plain"`, `"a\"b\\\/\n\t\r\b\f"`, `"\u00e9\u2028 é"`, `"\ud83d\ude00"`, `"01234567\u0020"`, "\"\x00\"", "\"\xff\"", `"a`, `"a\"`, `"\x"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := New(b)
		got := s.Text()
		if !s.Done() {
			return
		}
		var want string
		if err := json.Unmarshal(b, &want); err != nil || got != want {
			t.Fatalf("%q: read %q, want %q (%v)", b, got, want, err)
		}
		if again := New(b); again.TextOr(want) != want || again.TextOr("") == want && want != "" {
			t.Fatalf("%q: TextOr does not agree", b)
		}
	})
}
