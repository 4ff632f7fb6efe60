package table_test

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/report/table"
)

func TestColumnsAreAligned(t *testing.T) {
	g := NewWithT(t)
	var b strings.Builder
	w := table.New(&b)
	w.Columns("  ", [][]string{{"\x1b[31ma\x1b[0m", "b"}, {"long", ""}})
	g.Expect(w.Err()).To(Succeed())
	g.Expect(b.String()).To(Equal("  \x1b[31ma\x1b[0m     b\n  long\n"))
}

func TestMarkdownAlignsNumbers(t *testing.T) {
	g := NewWithT(t)
	var b strings.Builder
	w := table.New(&b)
	w.Markdown([]string{"name", table.Align + "n"}, [][]string{{table.Escape("a|_b\nc"), "7"}})
	g.Expect(b.String()).To(Equal("| name | n |\n|---|---:|\n| a\\|\\_b c | 7 |\n"))
}

type failing struct{ n int }

func (f *failing) Write([]byte) (int, error) {
	f.n++
	return 0, errors.New("disk full")
}

func TestFirstErrorEndsWriting(t *testing.T) {
	g := NewWithT(t)
	f := &failing{}
	w := table.New(f)
	w.Printf("a")
	w.Columns("", [][]string{{"b"}})
	w.Markdown([]string{"c"}, nil)
	g.Expect(w.Err()).To(MatchError("disk full"))
	g.Expect(f.n).To(Equal(1))
}
