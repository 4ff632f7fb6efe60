package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/standin"
)

// ending is the grace for a host, which ends when its stdin is closed.
var ending = proc.Grace{Stdin: 10 * time.Second, Term: time.Second}

// host plays a session on each connection until stdin is closed. The first line of a
// connection is the client's command line, as a JSON array.
func host(s *Script, socket string) error {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
		_ = l.Close()
	}()
	if _, err := os.Stdout.WriteString("\n"); err != nil {
		return err
	}
	var work sync.WaitGroup
	for {
		c, err := l.Accept()
		if err != nil {
			break
		}
		work.Go(func() {
			defer func() { _ = c.Close() }()
			in := bufio.NewReader(c)
			var argv []string
			line, err := in.ReadBytes('\n')
			if err != nil || json.Unmarshal(line, &argv) != nil || len(argv) == 0 {
				return
			}
			argv[0] = standin.ProgramName(s.c.Runtime)
			_, _ = s.Serve(ctx, Timers(), argv, in, c)
		})
	}
	work.Wait()
	if ctx.Err() == nil {
		return errors.New("the socket was closed")
	}
	return nil
}

// remote is a session of a host, as a process.
type remote struct {
	c     *net.UnixConn
	once  sync.Once
	ended chan struct{}
}

func newRemote(c *net.UnixConn) *remote { return &remote{c: c, ended: make(chan struct{})} }

func (r *remote) end() { r.once.Do(func() { close(r.ended) }) }

// Stdin implements proc.Process.
func (r *remote) Stdin() io.WriteCloser { return remoteIn{r} }

// Stdout implements proc.Process.
func (r *remote) Stdout() io.Reader { return remoteOut{r} }

// Stderr implements proc.Process.
func (r *remote) Stderr() io.Reader { return bytes.NewReader(nil) }

// Signal implements proc.Process: any signal ends the session.
func (r *remote) Signal(proc.Signal) error {
	r.end()
	return r.c.Close()
}

// Wait implements proc.Process.
func (r *remote) Wait() proc.Exit {
	<-r.ended
	return proc.Exit{}
}

type remoteIn struct{ r *remote }

func (i remoteIn) Write(b []byte) (int, error) { return i.r.c.Write(b) }
func (i remoteIn) Close() error                { return i.r.c.CloseWrite() }

type remoteOut struct{ r *remote }

func (o remoteOut) Read(b []byte) (int, error) {
	n, err := o.r.c.Read(b)
	if err != nil {
		o.r.end()
		err = io.EOF
	}
	return n, err
}
