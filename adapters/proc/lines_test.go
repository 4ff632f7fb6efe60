package proc_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// limit is the cap of these tests.
const limit = 300_000

// lines reads all lines; one past the cap stands as "long:" and its beginning.
func lines(t *testing.T, r io.Reader) (out []string) {
	t.Helper()
	l := proc.NewLines(r, limit)
	defer l.Release()
	for {
		b, err := l.Next()
		switch {
		case errors.Is(err, proc.ErrLongLine):
			out = append(out, "long:"+string(b[:1]))
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatal(err)
		default:
			out = append(out, string(b))
		}
	}
}

// TestLinesOfAnyLength: lines around the size of the buffer and around the cap
// come whole, and a reader that is made of a released one's buffer holds nothing
// of it.
func TestLinesOfAnyLength(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, n := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000, limit - 1, limit} {
		want := []string{"a", strings.Repeat("x", n), "z"}
		text := strings.Join(want, "\n") + "\n"
		g.Expect(lines(t, strings.NewReader(text))).To(gomega.Equal(want), "%d", n)
		g.Expect(lines(t, iotest.HalfReader(strings.NewReader(strings.ReplaceAll(text, "\n", "\r\n"))))).To(gomega.Equal(want), "%d, CRLF", n)
		g.Expect(lines(t, strings.NewReader(text+"tail"))).To(gomega.Equal(append(want, "tail")), "%d, no last line end", n)
	}
	for _, n := range []int{limit + 3, 4 * limit} {
		g.Expect(lines(t, strings.NewReader("a\n"+strings.Repeat("x", n)+"\nz\n"))).To(gomega.Equal([]string{"a", "long:x", "z"}), "%d", n)
	}
}

// TestALongLineIsCopiedSeldom: what is allocated for a line is a small multiple
// of it.
func TestALongLineIsCopiedSeldom(t *testing.T) {
	if racesample.Enabled {
		t.Skip("a pool forgets by chance where the race detector watches")
	}
	g := gomega.NewWithT(t)
	text := strings.Repeat("x", 8<<20) + "\n"
	r := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		for b.Loop() {
			l := proc.NewLines(strings.NewReader(text), 0)
			_, _ = l.Next()
			l.Release()
		}
	})
	g.Expect(r.AllocedBytesPerOp()).To(gomega.BeNumerically("<", 4*len(text)))
}

func TestATailKeepsTheEnd(t *testing.T) {
	g := gomega.NewWithT(t)
	tail := proc.NewTail(10)
	n, err := io.Copy(tail, io.MultiReader(bytes.NewReader(bytes.Repeat([]byte("x"), 10_000)), strings.NewReader("the end of it")))
	g.Expect(n, err).To(gomega.Equal(int64(10_013)))
	g.Expect(tail.String()).To(gomega.Equal("end of it"))
	bad := errors.New("bad")
	_, err = io.Copy(proc.NewTail(10), iotest.ErrReader(bad))
	g.Expect(err).To(gomega.MatchError(bad))
}
