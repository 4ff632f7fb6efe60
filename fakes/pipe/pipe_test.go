package pipe_test

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fakes/pipe"
)

func TestWriterBlocksAt64KiB(t *testing.T) {
	g := gomega.NewWithT(t)
	var blocked, wrote bool
	var got []byte
	synctest.Test(t, func(*testing.T) {
		p := pipe.New()
		go func() {
			_, _ = p.Write(bytes.Repeat([]byte("x"), pipe.Size))
			_, _ = p.Write([]byte("y"))
			wrote = true
			p.CloseWrite()
		}()
		synctest.Wait()
		blocked = !wrote
		got, _ = io.ReadAll(p)
		synctest.Wait()
	})
	g.Expect(blocked).To(gomega.BeTrue(), "the write past 64 KiB did not block")
	g.Expect(wrote).To(gomega.BeTrue())
	g.Expect(got).To(gomega.HaveLen(pipe.Size + 1))
}

func TestReadKeepsTheBoundsOfWrites(t *testing.T) {
	g := gomega.NewWithT(t)
	p := pipe.New()
	for _, s := range []string{"a", "bc", "def"} {
		_, err := p.Write([]byte(s))
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	p.CloseWrite()
	var got []string
	b := make([]byte, 2)
	for {
		n, err := p.Read(b)
		if err != nil {
			g.Expect(err).To(gomega.Equal(io.EOF))
			break
		}
		got = append(got, string(b[:n]))
	}
	g.Expect(got).To(gomega.Equal([]string{"a", "bc", "de", "f"}))
	_, err := p.Write([]byte("late"))
	g.Expect(err).To(gomega.MatchError(io.ErrClosedPipe))
}

func TestCloseUnblocksAWriterAndAReader(t *testing.T) {
	g := gomega.NewWithT(t)
	var werr, rerr error
	synctest.Test(t, func(*testing.T) {
		p := pipe.New()
		go func() { _, werr = p.Write(make([]byte, pipe.Size+1)) }()
		q := pipe.New()
		go func() { _, rerr = q.Read(make([]byte, 1)) }()
		synctest.Wait()
		_ = p.Close()
		_ = q.Close()
	})
	g.Expect(werr).To(gomega.MatchError(io.ErrClosedPipe))
	g.Expect(rerr).To(gomega.MatchError(io.ErrClosedPipe))
}

func TestTryWriteTakesWhatFits(t *testing.T) {
	g := gomega.NewWithT(t)
	p := pipe.New()
	n, err := p.TryWrite(make([]byte, pipe.Size+5))
	g.Expect(n, err).To(gomega.Equal(pipe.Size))
	n, err = p.TryWrite([]byte("x"))
	g.Expect(n, err).To(gomega.Equal(0))
}
