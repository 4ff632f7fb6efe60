package sse

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// outputKept is how much of what a sidecar writes stands in a mistake.
const outputKept = 4 << 10

// ending is how a sidecar is ended: a server does not look at its stdin.
var ending = proc.Grace{Term: 10 * time.Second}

// program is a sidecar that was started here.
type program struct {
	p    proc.Process
	tail *proc.Tail
	over chan struct{} // closed when it has ended
	exit proc.Exit     // then
	free func()        // gives up its port
}

// started starts the sidecar of a session, with the stand-in in its way, and
// returns the address that it is to listen at.
func (s *Subject) started(ctx context.Context, o conformance.Open) (*program, string, error) {
	launch := o.Launch
	if launch == nil {
		launch = proc.Exec{}
	}
	name, err := exec.LookPath(s.Command[0]) // in our PATH: the stand-in's folder is only for the sidecar
	if err != nil {
		return nil, "", notStarted(s.Command, err)
	}
	base, port, free, err := s.address()
	if err != nil {
		return nil, "", err
	}
	argv := []string{name}
	for _, a := range s.Command[1:] {
		argv = append(argv, strings.ReplaceAll(a, "{port}", port))
	}
	env := o.Env
	if env == nil {
		env = os.Environ()
	}
	p, err := launch.Launch(ctx, proc.Command{Argv: argv, Dir: s.Dir, Env: append(slices.Clip(env), "PORT="+port)})
	if err != nil {
		free()
		return nil, "", notStarted(s.Command, err)
	}
	g := &program{p: p, tail: proc.NewTail(outputKept), over: make(chan struct{}), free: free}
	go g.watch()
	return g, base, nil
}

// watch keeps what the sidecar writes and notes its end.
func (g *program) watch() {
	var reads sync.WaitGroup
	for _, r := range []io.Reader{g.p.Stdout(), g.p.Stderr()} {
		reads.Go(func() { _, _ = io.Copy(g.tail, r) })
	}
	g.exit = g.p.Wait()
	finish := time.AfterFunc(time.Second, func() { // somebody else may hold its output
		for _, r := range []any{g.p.Stdout(), g.p.Stderr()} {
			if f, ok := r.(io.Closer); ok {
				_ = f.Close()
			}
		}
	})
	reads.Wait()
	finish.Stop()
	g.free()
	close(g.over)
}

// end ends the sidecar, and reports whether it ended by itself.
func (g *program) end() bool {
	start := time.Now()
	proc.End(g.p, ending)
	<-g.over
	return time.Since(start) < ending.Term
}

// soon reports whether the sidecar has ended, or does within a moment: a
// connection is cut before the end of its process is known.
func (g *program) soon() bool {
	if g == nil {
		return false
	}
	t := time.NewTimer(endLimit)
	defer t.Stop()
	select {
	case <-g.over:
		return true
	case <-t.C:
		return false
	}
}

// ports are those that sidecars of this program were given.
var ports = struct {
	sync.Mutex
	held map[string]bool
}{held: map[string]bool{}}

// address is where a sidecar is to listen: a port 0 is a free one.
func (s *Subject) address() (base, port string, free func(), err error) {
	u, err := s.parse()
	if err != nil {
		return "", "", nil, err
	}
	if port = u.Port(); port != "0" {
		conn, err := net.DialTimeout("tcp", u.Host, time.Second)
		if err == nil {
			_ = conn.Close()
			return "", "", nil, taken(u.Host)
		}
		return strings.TrimSuffix(u.String(), "/"), port, func() {}, nil
	}
	for {
		l, err := net.Listen("tcp", net.JoinHostPort(u.Hostname(), "0"))
		if err != nil {
			return "", "", nil, badURL(s.URL, err.Error())
		}
		_, port, err = net.SplitHostPort(l.Addr().String())
		_ = l.Close()
		if err != nil {
			return "", "", nil, badURL(s.URL, err.Error())
		}
		ports.Lock()
		held := ports.held[port]
		ports.held[port] = true
		ports.Unlock()
		if !held {
			break
		}
	}
	u.Host = net.JoinHostPort(u.Hostname(), port)
	return strings.TrimSuffix(u.String(), "/"), port, func() {
		ports.Lock()
		defer ports.Unlock()
		delete(ports.held, port)
	}, nil
}

// parse reads the address.
func (s *Subject) parse() (*url.URL, error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil:
		return nil, badURL(s.URL, "it is no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, badURL(s.URL, "it does not begin with http://")
	case u.Hostname() == "":
		return nil, badURL(s.URL, "it names no host")
	case len(s.Command) > 0 && u.Port() == "":
		return nil, badURL(s.URL, "it names no port, and the sidecar is to be started")
	case len(s.Command) == 0 && u.Port() == "0":
		return nil, badURL(s.URL, "port 0 is one that a command gets, and there is none")
	}
	return u, nil
}

// asMistake is an error as a mistake, if it is one.
func asMistake(err error) (*jsonl.PlugError, bool) { return errors.AsType[*jsonl.PlugError](err) }
