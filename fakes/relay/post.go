package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/proc"
)

// Post is where a client finds a stand-in for its runtime.
type Post struct {
	Program string // the stand-in
	Dir     string // a folder of this play alone, which Close removes
	Home    string // the runtime's folder of settings: empty

	name     string
	listener net.Listener
	launcher proc.Launcher
	touched  func()
	work     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]bool
}

// errNotReady says what a program lacks that is to be a stand-in.
var errNotReady = errors.New("this program cannot be started as a stand-in: call conformance.Main() first in main, " +
	"and in a test in TestMain: `func TestMain(m *testing.M) { conformance.Main(); os.Exit(m.Run()) }`")

// NewPost makes a post for the runtime of this program name (codex, claude).
// Each process that is started there is launched by l. touched is called
// whenever the client does something; it may be nil.
func NewPost(name string, l proc.Launcher, touched func()) (*Post, error) {
	if !ready {
		return nil, errNotReady
	}
	dir, err := os.MkdirTemp("", "turnspec-")
	if err != nil {
		return nil, err
	}
	p, err := newPost(dir, dir, name, l, touched)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

func newPost(place, dir, name string, l proc.Launcher, touched func()) (*Post, error) {
	p := &Post{
		Dir: dir, Program: program(place, name), Home: settings(place),
		name: name, launcher: l, touched: touched, conns: map[net.Conn]bool{},
	}
	if p.touched == nil {
		p.touched = func() {}
	}
	err := furnish(place, name)
	if err == nil {
		p.listener, err = net.Listen("unix", socket(place, name))
		if err != nil {
			err = fmt.Errorf("%w; a socket's path must be short: point TMPDIR at a short one", err)
		}
	}
	if err != nil {
		return nil, err
	}
	p.work.Go(p.accept)
	return p, nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Env is an environment in which a client finds the stand-in.
func (p *Post) Env(base []string) []string { return environ(base, p.name, p.Program, p.Home) }

// Close ends what was started, and removes the folder.
func (p *Post) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.work.Wait()
	return errors.Join(err, os.RemoveAll(p.Dir))
}

// Running counts the stand-ins that have not ended.
func (p *Post) Running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

func (p *Post) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		if p.closed {
			_ = c.Close()
		} else {
			p.conns[c] = true
			p.work.Go(func() {
				p.serve(c)
				p.mu.Lock()
				delete(p.conns, c)
				p.mu.Unlock()
				_ = c.Close()
				p.touched()
			})
		}
		p.mu.Unlock()
	}
}

// serve launches what a stand-in was started as, and carries bytes until one of
// the two ends.
func (p *Post) serve(c net.Conn) {
	w := newWire(c)
	k, b, err := w.read()
	var h hello
	if err != nil || k != kindHello || json.Unmarshal(b, &h) != nil {
		return
	}
	run, err := p.launcher.Launch(context.Background(), proc.Command{Argv: h.Argv, Dir: h.Dir, Env: h.Env})
	p.touched()
	if err != nil {
		_ = w.write(kindStderr, []byte("turnspec: "+err.Error()+"\n"))
		_ = w.end(proc.Exit{Code: 2})
		return
	}
	var out sync.WaitGroup
	out.Go(func() { _ = w.copyFrom(run.Stdout(), kindStdout) })
	out.Go(func() { _ = w.copyFrom(run.Stderr(), kindStderr) })
	p.work.Go(func() {
		out.Wait()
		_ = w.end(run.Wait())
	})
	for {
		k, b, err := w.read()
		if err != nil {
			// It has ended, perhaps killed: so has what it stood for.
			_ = run.Signal(proc.SIGKILL)
			drop(run)
			return
		}
		switch k {
		case kindStdin:
			_, _ = run.Stdin().Write(b)
		case kindShut:
			_ = run.Stdin().Close()
		case kindSignal:
			_ = run.Signal(proc.Signal(b))
		}
		p.touched()
	}
}

// drop lets what is left of a process's output go.
func drop(run proc.Process) {
	for _, r := range []any{run.Stdout(), run.Stderr()} {
		if c, ok := r.(interface{ Close() error }); ok {
			_ = c.Close()
		}
	}
}

func (w *wire) end(e proc.Exit) error {
	b, err := json.Marshal(ending{Code: e.Code, Signal: string(e.Signal)})
	if err != nil {
		return err
	}
	return w.write(kindExit, b)
}
