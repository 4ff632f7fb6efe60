package tap_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/recorder/tap"
)

// echo is a process that writes what it reads.
type echo struct {
	in   *io.PipeWriter
	out  *io.PipeReader
	err  io.Reader
	done chan struct{}
}

func newEcho(context.Context, proc.Command) (proc.Process, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	e := &echo{in: inW, out: outR, err: eof{}, done: make(chan struct{})}
	go func() {
		_, _ = io.Copy(outW, inR)
		_ = outW.Close()
		close(e.done)
	}()
	return e, nil
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

func (e *echo) Stdin() io.WriteCloser    { return e.in }
func (e *echo) Stdout() io.Reader        { return e.out }
func (e *echo) Stderr() io.Reader        { return e.err }
func (e *echo) Signal(proc.Signal) error { return nil }
func (e *echo) Wait() proc.Exit          { <-e.done; return proc.Exit{Code: 4} }

func TestFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		f := &tap.Folder{Dir: filepath.Join(t.TempDir(), "recordings"), Failed: func(err error) { t.Error(err) }}
		p, err := f.Launcher(proc.LauncherFunc(newEcho)).Launch(t.Context(), proc.Command{Argv: []string{"/bin/claude", "-p"}})
		g.Expect(err).NotTo(HaveOccurred())
		go func() {
			_, _ = io.WriteString(p.Stdin(), "on")
			_, _ = io.WriteString(p.Stdin(), "e\n")
		}()
		b := make([]byte, 4)
		_, err = io.ReadFull(p.Stdout(), b)
		g.Expect(string(b), err).To(Equal("one\n"))
		g.Expect(p.Stdin().Close()).To(Succeed())
		_, err = p.Stdout().Read(b)
		g.Expect(err).To(MatchError(io.EOF))
		g.Expect(p.Wait()).To(Equal(proc.Exit{Code: 4}))
		f.Wait() // nobody has read stderr
		files, err := filepath.Glob(filepath.Join(f.Dir, "*-claude-*.jsonl"))
		g.Expect(files, err).To(HaveLen(1))
		b, err = os.ReadFile(files[0])
		g.Expect(err).NotTo(HaveOccurred())
		times := regexp.MustCompile(`"t":"[0-9.]+s"`)
		g.Expect(times.ReplaceAllString(string(b), `"t":""`)).To(Equal(`{"t":"","p":1,"spawn":["claude","-p"]}
{"t":"","p":1,"in":{"raw":"one"}}
{"t":"","p":1,"out":{"raw":"one"}}
{"t":"","p":1,"eof":true}
{"t":"","p":1,"exit":4}
`))
	})
}

// A folder that cannot be written leaves the process as it is.
func TestFolderThatCannotBeWritten(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	var failed error
	f := &tap.Folder{Dir: file, Failed: func(err error) { failed = errors.Join(failed, err) }}
	p, err := f.Launcher(proc.LauncherFunc(newEcho)).Launch(t.Context(), proc.Command{Argv: []string{"claude"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(failed).To(HaveOccurred())
	g.Expect(p.Stdin().Close()).To(Succeed())
	g.Expect(p.Wait()).To(Equal(proc.Exit{Code: 4}))
	f.Wait()
}
