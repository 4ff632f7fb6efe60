package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/pipe"
	"github.com/turnspec/turnspec/fakes/servers"
	"github.com/turnspec/turnspec/fixtures"
)

// Local runs the servers of a scenario within this program. It implements proc.Launcher and
// proc.Dialer.
type Local struct {
	servers []fixtures.Server
	others  proc.Launcher
	world   world
	network memoryNetwork
	remote  *Listener
}

// maker implements servers.Maker.
type maker struct{}

func init() { servers.Register(maker{}) } //nolint:gochecknoinits // to import the package is to ask for its servers

func (maker) Local(of []fixtures.Server, others proc.Launcher, await func(ctx context.Context, file string) error) servers.Local {
	return NewLocal(of, others, await)
}

func (maker) Install(dir string, of []fixtures.Server) error { return Install(dir, of) }

func (maker) Listen(addr string, of []fixtures.Server) (string, io.Closer, error) {
	l, err := Listen(addr, of)
	if err != nil {
		return "", nil, err
	}
	return l.Addr, l, nil
}

func (maker) Main(args []string) (handled bool, code int) { return Main(args) }

// NewLocal makes the servers of a scenario. Programs that are no servers are started by others. A
// call that waits for a file calls await. The caller closes the Local.
func NewLocal(servers []fixtures.Server, others proc.Launcher, await func(ctx context.Context, file string) error) *Local {
	l := &Local{servers: servers, others: others, network: memoryNetwork{dialed: make(chan net.Conn), closed: make(chan struct{})}}
	l.world = world{make: func(string) error { return nil }, await: await, die: func() {}}
	remote := slices.DeleteFunc(slices.Clone(servers), func(s fixtures.Server) bool { return s.Remote.Transport == "" })
	l.remote = listenOn(&l.network, remote, func(s *fixtures.Server) *mcp.Server { return newServer(s, l.world) })
	return l
}

// Close ends the connections to the servers that run already.
func (l *Local) Close() error { return l.remote.Close() }

// DialContext implements proc.Dialer: the servers that run already are the whole network.
func (l *Local) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	if addr != fixtures.ServerAddress {
		return nil, fmt.Errorf("dial %s: nothing listens there", addr)
	}
	ours, theirs := net.Pipe()
	select {
	case l.network.dialed <- theirs:
		return ours, nil
	case <-l.network.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Launch implements proc.Launcher.
func (l *Local) Launch(ctx context.Context, c proc.Command) (proc.Process, error) {
	i := slices.IndexFunc(l.servers, func(s fixtures.Server) bool {
		return len(c.Argv) > 0 && s.Remote.Transport == "" && filepath.Base(c.Argv[0]) == fixtures.ServerCommand(s.Name)
	})
	if i < 0 {
		return l.others.Launch(ctx, c)
	}
	return startLocal(&l.servers[i], c.Env, l.world), nil
}

// localProcess runs a server and implements proc.Process.
type localProcess struct {
	stdin, stdout, stderr *pipe.Pipe
	kill                  context.CancelFunc
	once                  sync.Once
	ended                 chan struct{}
	exit                  proc.Exit // once ended is closed
}

func startLocal(s *fixtures.Server, env []string, w world) *localProcess {
	running, kill := context.WithCancel(context.Background())
	p := &localProcess{stdin: pipe.New(), stdout: pipe.New(), stderr: pipe.New(), kill: kill, ended: make(chan struct{})}
	w.die = func() { p.end(errDied, proc.Exit{Code: 1}) }
	getenv := func(name string) string {
		for _, v := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
	if err := startError(s, getenv); err != nil {
		p.end(err, proc.Exit{Code: 1})
		return p
	}
	srv := newServer(s, w)
	go func() {
		err := srv.Run(running, &mcp.IOTransport{Reader: p.stdin, Writer: p.stdout})
		switch {
		case running.Err() != nil:
			p.end(nil, proc.Exit{Code: -1, Signal: proc.SIGKILL})
		case err != nil && !errors.Is(err, io.EOF):
			p.end(err, proc.Exit{Code: 1})
		default:
			p.end(nil, proc.Exit{})
		}
	}()
	return p
}

// end closes what the process has open. err is what it writes to stderr.
func (p *localProcess) end(err error, exit proc.Exit) {
	p.once.Do(func() {
		if err != nil {
			_, _ = p.stderr.TryWrite([]byte(err.Error() + "\n")) // the client may have closed it
		}
		p.exit = exit // stdin stays open: whether a write to a process that exits fails is chance
		p.stdout.CloseWrite()
		p.stderr.CloseWrite()
		close(p.ended)
		p.kill()
	})
}

// Stdin implements proc.Process.
func (p *localProcess) Stdin() io.WriteCloser { return writingEnd{p.stdin} }

// writingEnd is the end of a pipe that a client writes to.
type writingEnd struct{ *pipe.Pipe }

func (w writingEnd) Close() error {
	w.CloseWrite()
	return nil
}

// Stdout implements proc.Process.
func (p *localProcess) Stdout() io.Reader { return p.stdout }

// Stderr implements proc.Process.
func (p *localProcess) Stderr() io.Reader { return p.stderr }

// Signal implements proc.Process. Each signal ends the server.
func (p *localProcess) Signal(proc.Signal) error {
	p.kill()
	return nil
}

// Wait implements proc.Process.
func (p *localProcess) Wait() proc.Exit {
	<-p.ended
	return p.exit
}

// memoryNetwork implements net.Listener for connections within this program.
type memoryNetwork struct {
	dialed chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (n *memoryNetwork) Accept() (net.Conn, error) {
	select {
	case c := <-n.dialed:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *memoryNetwork) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *memoryNetwork) Addr() net.Addr { return memoryAddr{} }

// memoryAddr is the address of a listener within this program.
type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return fixtures.ServerAddress }
