package httplines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Server lets a program that is an HTTP server be used as one that reads and writes lines.
type Server struct {
	// Ready matches the line of stdout that announces where the server listens, which is
	// the expression's first group: http://host:port.
	Ready *regexp.Regexp
}

// readyLine is the first line of a relayed server: it listens. Requests may come before it.
const readyLine = `{"ready":true}`

// Launcher returns a launcher whose processes read request lines on stdin and write replies
// on stdout. A process that writes lines of JSON instead of announcing where it listens is a
// stand-in, which is left as it is.
//
// At the end of stdin a server gets SIGTERM, and counts as one that exited by itself.
func (s Server) Launcher(inner proc.Launcher) proc.Launcher {
	return proc.LauncherFunc(func(ctx context.Context, c proc.Command) (proc.Process, error) {
		p, err := inner.Launch(ctx, c)
		if err != nil {
			return nil, err
		}
		r := &relayed{Process: p, server: s, decided: make(chan struct{}), gone: make(chan struct{}), exited: make(chan struct{})}
		r.requests, r.requestWriter = io.Pipe()
		r.replies, r.replyWriter = io.Pipe()
		go r.awaitExit()
		return r, nil
	})
}

// relayed is a process whose stdout is read until it is known what it is.
type relayed struct {
	proc.Process
	server Server

	once    sync.Once
	decided chan struct{} // it is known what the process is
	serves  bool          // it is a server
	silent  bool          // it has closed stdout before that was known
	held    []byte        // what a stand-in wrote until then

	requests      *io.PipeReader
	requestWriter *io.PipeWriter
	replies       *io.PipeReader
	replyWriter   *io.PipeWriter

	gone   chan struct{} // stdin was closed
	close  sync.Once
	exited chan struct{}
	exit   proc.Exit
}

func (r *relayed) awaitExit() {
	r.exit = r.Process.Wait()
	select {
	case <-r.gone:
		if r.isServer() && r.exit.Signal == proc.SIGTERM {
			r.exit = proc.Exit{}
		}
	default:
	}
	close(r.exited)
}

// isServer reports whether the process is known to be a server.
func (r *relayed) isServer() bool {
	select {
	case <-r.decided:
		return r.serves
	default:
		return false
	}
}

// Wait implements proc.Process.
func (r *relayed) Wait() proc.Exit {
	<-r.exited
	return r.exit
}

// Stdin implements proc.Process.
func (r *relayed) Stdin() io.WriteCloser { return relayedInput{r} }

// Stdout implements proc.Process.
func (r *relayed) Stdout() io.Reader { return relayedOutput{r} }

type relayedInput struct{ *relayed }

// Write blocks until it is known what the process is.
func (i relayedInput) Write(b []byte) (int, error) {
	select {
	case <-i.decided:
	case <-i.gone:
		return 0, io.ErrClosedPipe
	case <-i.exited:
		return 0, io.ErrClosedPipe
	}
	switch {
	case i.silent:
		return 0, io.ErrClosedPipe
	case i.serves:
		return i.requestWriter.Write(b)
	}
	return i.Process.Stdin().Write(b)
}

// Close ends a server.
func (i relayedInput) Close() error {
	var err error
	i.close.Do(func() {
		close(i.gone)
		_ = i.requestWriter.Close()
		err = i.Process.Stdin().Close()
		if i.isServer() {
			err = errors.Join(err, i.Signal(proc.SIGTERM))
		}
	})
	return err
}

type relayedOutput struct{ *relayed }

// Read decides what the process is when it is called first.
func (o relayedOutput) Read(b []byte) (int, error) {
	o.once.Do(o.decide)
	<-o.decided
	if len(o.held) > 0 {
		n := copy(b, o.held)
		o.held = o.held[n:]
		return n, nil
	}
	if o.serves {
		return o.replies.Read(b)
	}
	return o.Process.Stdout().Read(b)
}

// Close implements io.Closer.
func (o relayedOutput) Close() error {
	_ = o.replies.Close()
	if c, ok := o.Process.Stdout().(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// decide reads lines until one of them shows what the process is.
func (r *relayed) decide() {
	defer close(r.decided)
	for {
		b, err := readLine(r.Process.Stdout())
		if m := r.server.Ready.FindSubmatch(b); m != nil {
			r.serves = true
			go r.serve(string(m[1]))
			return
		}
		if err != nil || json.Valid(bytes.TrimSpace(b)) {
			r.held, r.silent = b, err != nil
			return
		}
	}
}

// readLine reads up to the end of a line, and not beyond it.
func readLine(r io.Reader) (line []byte, err error) {
	var one [1]byte
	for len(line) <= lines.MaxLength {
		n, err := r.Read(one[:])
		if n > 0 {
			line = append(line, one[0])
			if one[0] == '\n' {
				return line, nil
			}
		}
		if err != nil {
			return line, err
		}
	}
	return line, lines.ErrTooLong
}

// serve relays requests until stdin is closed or the server exits.
func (r *relayed) serve(base string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-r.exited:
		case <-r.gone:
		}
		cancel()
		_ = r.requests.Close()
	}()
	// What the server prints besides is no reply.
	go func() { _, _ = io.Copy(io.Discard, r.Process.Stdout()) }()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	if _, err := io.WriteString(r.replyWriter, readyLine+"\n"); err == nil {
		relay := Relay{Base: base, Client: &http.Client{Transport: transport}}
		_ = relay.Serve(ctx, r.requests, whileOpen{r}) // the end of stdin ends it
	}
	<-r.exited
	_ = r.replyWriter.Close()
}

// whileOpen writes what the server sends. What it sends after stdin was closed, such as the
// ends of its streams, comes by chance, and so does the failure of a request of a server that
// exits.
type whileOpen struct{ *relayed }

// failureLine is a line of a request that failed.
var failureLine = regexp.MustCompile(`^{"id":\d+,"error":`)

// exitWait is how long the failure of a request waits for the exit that may have caused it.
const exitWait = 500 * time.Millisecond

func (w whileOpen) Write(b []byte) (int, error) {
	if failureLine.Match(b) {
		t := time.NewTimer(exitWait)
		defer t.Stop()
		select {
		case <-w.exited:
			return len(b), nil
		case <-t.C:
		}
	}
	select {
	case <-w.gone:
		return len(b), nil
	default:
		return w.replyWriter.Write(b)
	}
}
