package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/proc"
)

// Post is a folder in which a client finds a stand-in for its runtime, and the socket that the
// stand-in connects to.
type Post struct {
	Program string // the stand-in
	Dir     string // a folder for this play, which Close removes
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

// errNotReady is the error if the program never called Main.
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
		Dir: dir, Program: programPath(place, name), Home: settingsPath(place),
		name: name, launcher: l, touched: touched, conns: map[net.Conn]bool{},
	}
	if p.touched == nil {
		p.touched = func() {}
	}
	err := writeStandIn(place, name)
	if err == nil {
		p.listener, err = net.Listen("unix", socketPath(place, name))
		if err != nil {
			err = fmt.Errorf("%w; a socket's path must be short: point TMPDIR at a short one", err)
		}
	}
	if err != nil {
		return nil, err
	}
	p.work.Go(p.acceptConns)
	return p, nil
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Env returns an environment in which a client finds the stand-in.
func (p *Post) Env(base []string) []string { return environ(base, p.name, p.Program, p.Home) }

// Hide removes the stand-in. It returns base as an environment in which a client finds
// no program of the runtime at all.
func (p *Post) Hide(base []string) ([]string, error) {
	env := p.Env(base)
	for i, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if name != "PATH" {
			continue
		}
		dirs := slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, p.name))
			return err == nil && dir != filepath.Dir(p.Program)
		})
		env[i] = "PATH=" + strings.Join(dirs, string(os.PathListSeparator))
	}
	return env, os.Remove(p.Program)
}

// Close ends all stand-ins and removes the folder.
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

// Running counts the stand-ins that have not exited.
func (p *Post) Running() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

func (p *Post) acceptConns() {
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
				p.serveConn(c)
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

// serveConn launches the runtime that a stand-in was started as, and carries bytes until one
// of the two ends.
func (p *Post) serveConn(c net.Conn) {
	w := newFrames(c)
	k, b, err := w.readFrame()
	var h hello
	if err != nil || k != kindHello || json.Unmarshal(b, &h) != nil {
		return
	}
	run, err := p.launcher.Launch(context.Background(), proc.Command{Argv: h.Argv, Dir: h.Dir, Env: h.Env})
	p.touched()
	if err != nil {
		_ = w.writeFrame(kindStderr, []byte("turnspec: "+err.Error()+"\n"))
		_ = w.writeExit(proc.Exit{Code: 2})
		return
	}
	var out sync.WaitGroup
	out.Go(func() {
		_ = w.copyFrom(run.Stdout(), kindStdout)
		_ = w.writeFrame(kindMute, nil) // the process may live on
	})
	out.Go(func() { _ = w.copyFrom(run.Stderr(), kindStderr) })
	p.work.Go(func() {
		out.Wait()
		_ = w.writeExit(run.Wait())
	})
	for {
		k, b, err := w.readFrame()
		if err != nil {
			// The stand-in has exited or was killed: end the runtime too.
			_ = run.Signal(proc.SIGKILL)
			closeOutput(run)
			return
		}
		switch k {
		case kindStdin:
			if _, err := run.Stdin().Write(b); err != nil {
				_ = w.writeFrame(kindDeaf, nil)
			}
		case kindShut:
			_ = run.Stdin().Close()
		case kindSignal:
			_ = run.Signal(proc.Signal(b))
		}
		p.touched()
	}
}

// closeOutput discards the rest of a process's output.
func closeOutput(run proc.Process) {
	for _, r := range []any{run.Stdout(), run.Stderr()} {
		if c, ok := r.(interface{ Close() error }); ok {
			_ = c.Close()
		}
	}
}

func (w *frames) writeExit(e proc.Exit) error {
	b, err := json.Marshal(ending{Code: e.Code, Signal: string(e.Signal)})
	if err != nil {
		return err
	}
	return w.writeFrame(kindExit, b)
}
