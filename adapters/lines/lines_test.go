package lines_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// limit is the longest line of these tests.
const limit = 300_000

// readAll returns all lines of r; "long:" and its first byte stand for a line that
// is longer than the limit.
func readAll(t *testing.T, r io.Reader) (out []string) {
	t.Helper()
	l := lines.NewReader(r, limit)
	defer l.Release()
	for {
		b, err := l.Next()
		for err == nil { // the lines that were read together
			out = append(out, string(b))
			var ok bool
			if b, ok = l.NextBuffered(); !ok {
				b, err = l.Next()
			}
		}
		switch {
		case errors.Is(err, lines.ErrTooLong):
			out = append(out, "long:"+string(b[:1]))
		case errors.Is(err, io.EOF):
			return out
		default:
			t.Fatal(err)
		}
	}
}

// TestLinesOfAnyLength reads lines around the size of the buffer and around the
// limit. A reader that reuses the buffer of a released one returns nothing of it.
func TestLinesOfAnyLength(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, n := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000, limit - 1, limit} {
		want := []string{"a", strings.Repeat("x", n), "z"}
		text := strings.Join(want, "\n") + "\n"
		g.Expect(readAll(t, strings.NewReader(text))).To(gomega.Equal(want), "%d", n)
		g.Expect(readAll(t, iotest.HalfReader(strings.NewReader(strings.ReplaceAll(text, "\n", "\r\n"))))).To(gomega.Equal(want), "%d, CRLF", n)
		g.Expect(readAll(t, strings.NewReader(text+"tail"))).To(gomega.Equal(append(want, "tail")), "%d, no last line end", n)
	}
	for _, n := range []int{limit + 3, 4 * limit} {
		g.Expect(readAll(t, strings.NewReader("a\n"+strings.Repeat("x", n)+"\nz\n"))).To(gomega.Equal([]string{"a", "long:x", "z"}), "%d", n)
	}
}

// TestLongLineAllocatesLittle: a line costs a small multiple of its length.
func TestLongLineAllocatesLittle(t *testing.T) {
	if racesample.Enabled {
		t.Skip("with the race detector, a sync.Pool drops items at random")
	}
	g := gomega.NewWithT(t)
	text := strings.Repeat("x", 8<<20) + "\n"
	r := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		for b.Loop() {
			l := lines.NewReader(strings.NewReader(text), 0)
			_, _ = l.Next()
			l.Release()
		}
	})
	g.Expect(r.AllocedBytesPerOp()).To(gomega.BeNumerically("<", 4*len(text)))
}
