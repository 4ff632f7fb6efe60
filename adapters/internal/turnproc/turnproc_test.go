package turnproc

import (
	"bufio"
	"context"
	"io"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/proc"
)

// TestDescendantKeepsThePipes checks that the end of a process is noticed although a descendant
// keeps its stdout open.
func TestDescendantKeepsThePipes(t *testing.T) {
	g := NewWithT(t)
	var err error
	synctest.Test(t, func(t *testing.T) {
		p := New(proc.LauncherFunc(func(context.Context, proc.Command) (proc.Process, error) { return openPipes{fakeproc.New()}, nil }), adapters.Limits{}.WithDefaults())
		go func() { _, _ = io.Copy(io.Discard, p.Stderr()) }()
		_, err = p.Stdin().Write([]byte(`{"argv":["x"]}`))
		line, _ := bufio.NewReader(p.Stdout()).ReadBytes('\n')
		e, ok := p.Ending(line)
		g.Expect(ok).To(BeTrue())
		g.Expect(e.Code).To(Equal(7))
		_ = p.Stdin().Close()
	})
	g.Expect(err).NotTo(HaveOccurred())
}

// openPipes is a process that has exited and whose pipes stay open.
type openPipes struct{ *fakeproc.Process }

func (p openPipes) Wait() proc.Exit { return proc.Exit{Code: 7} }

func (p openPipes) Stdin() io.WriteCloser { return nopCloser{io.Discard} }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
