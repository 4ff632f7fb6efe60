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
)

func TestTailKeepsTheEnd(t *testing.T) {
	g := gomega.NewWithT(t)
	tail := proc.NewTail(10)
	n, err := io.Copy(tail, io.MultiReader(bytes.NewReader(bytes.Repeat([]byte("x"), 10_000)), strings.NewReader("the end of it")))
	g.Expect(n, err).To(gomega.Equal(int64(10_013)))
	g.Expect(tail.String()).To(gomega.Equal("end of it"))
	bad := errors.New("bad")
	_, err = io.Copy(proc.NewTail(10), iotest.ErrReader(bad))
	g.Expect(err).To(gomega.MatchError(bad))
}
