package plug

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
)

// Program describes the program under test. The subjects of the protocols embed
// it.
type Program struct {
	Title   string   // shown in reports; Of if empty
	Of      string   // the runtime that the program wraps
	Command []string // the program and its arguments
	Dir     string   // its working directory; "" is the current one

	// StartLimit is how long the program may take for its first line, and ReplyLimit for a
	// reply to a command that replies at once; 0: the limits of the protocol.
	StartLimit, ReplyLimit time.Duration

	// Watch is called with each line that is written to (in) or read from the
	// program. It may be nil.
	Watch func(in bool, line string)
}

// Name implements conformance.Subject.
func (p *Program) Name() string {
	if p.Title != "" {
		return p.Title
	}
	return p.Of
}

// Runtime implements conformance.Subject.
func (p *Program) Runtime() string { return p.Of }

// External implements conformance.External.
func (*Program) External() {}

// SetLimits sets StartLimit and ReplyLimit.
func (p *Program) SetLimits(start, reply time.Duration) { p.StartLimit, p.ReplyLimit = start, reply }

// Show passes a line to Watch.
func (p *Program) Show(in bool, line string) {
	if p.Watch != nil {
		p.Watch(in, line)
	}
}

// outputKept is how many bytes of a program's stderr an error quotes.
const outputKept = 4 << 10

// drainLimit bounds the wait for output after the program has ended: a child of
// it may still hold the pipe.
const drainLimit = time.Second

// Process is a running Program.
type Process struct {
	proc.Process
	Done   chan struct{} // closed when Reap has returned
	Exit   proc.Exit     // valid after Done
	output *proc.Tail
	copies sync.WaitGroup
}

// Start starts the program. The program is looked up in the PATH of this process,
// because o.Env has the stand-in's folder in its PATH. If args is not nil, it
// replaces the arguments. kind names the program in the error, which is an *Error.
func (p *Program) Start(ctx context.Context, o conformance.Open, kind string, args []string) (*Process, error) {
	process, err := p.launch(ctx, o, args)
	if err != nil {
		return nil, Errorf("the %s %q could not be started: %v", kind, strings.Join(p.Command, " "), err).
			Advise("run it by hand in this folder; a program that is not in PATH needs its path, a script its interpreter, an npm package npx")
	}
	out := &Process{Process: process, Done: make(chan struct{}), output: proc.NewTail(outputKept)}
	out.Keep(process.Stderr())
	return out, nil
}

// defaultSignals lets the programs get SIGHUP and SIGINT as usual. A process that was
// started with a signal ignored, as by nohup, hands that on to the programs that it starts,
// which then could not end at the signal.
var defaultSignals = sync.OnceFunc(func() {
	for _, s := range []os.Signal{syscall.SIGHUP, os.Interrupt} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // without a reader: this process ignores s as before
		}
	}
})

func (p *Program) launch(ctx context.Context, o conformance.Open, args []string) (proc.Process, error) {
	if len(p.Command) == 0 {
		return nil, errors.New("no command")
	}
	name, err := exec.LookPath(p.Command[0])
	if err == nil && p.Dir == "" {
		name, err = filepath.Abs(name)
	}
	if err != nil {
		return nil, err
	}
	if args == nil {
		args = p.Command[1:]
	}
	defaultSignals()
	launcher := o.Launch
	if launcher == nil {
		launcher = proc.Exec{EndWithProgram: true}
	}
	return launcher.Launch(ctx, proc.Command{Argv: append([]string{name}, args...), Dir: p.Dir, Env: o.Env})
}

// Keep reads r to its end. Its last bytes are part of Stderr.
func (p *Process) Keep(r io.Reader) { p.copies.Go(func() { _, _ = io.Copy(p.output, r) }) }

// Output returns the last lines that the program wrote to stderr, or "" if p is
// nil. Long lines are cut, and control characters are escaped.
func (p *Process) Output() string {
	if p == nil {
		return ""
	}
	return lastLines(p.output.String())
}

// maxLines bounds the lines of stderr that an error quotes.
const maxLines = 20

func lastLines(text string) string {
	text = strings.TrimRight(text, "\r\n")
	if text == "" {
		return ""
	}
	all := strings.Split(text, "\n")
	all = all[max(0, len(all)-maxLines):]
	for i, l := range all {
		all[i] = Clip(strings.TrimRight(l, "\r"))
	}
	return strings.Join(all, "\n")
}

// Reap waits until end returns and the output has been read, calls last, and
// closes Done. It must be called once.
func (p *Process) Reap(end func() proc.Exit, last func()) {
	p.Exit = end()
	closePipes := func() {
		for _, r := range []any{p.Stdout(), p.Stderr()} {
			if f, ok := r.(io.Closer); ok {
				_ = f.Close()
			}
		}
	}
	t := time.AfterFunc(drainLimit, closePipes)
	p.copies.Wait()
	t.Stop()
	closePipes()
	last()
	close(p.Done)
}

// Kill kills the program and what it started.
func (p *Process) Kill() { _ = p.Signal(proc.SIGKILL) }

// WaitFor waits for c to be closed. It reports false if the limit passes or ctx
// ends before.
func WaitFor(ctx context.Context, c <-chan struct{}, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return false
}

// MCPServer is an MCP server as the protocols write it.
type MCPServer struct {
	Name    string            `json:"name"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`

	// Of a server that runs already:
	Type    string            `doc:"Of a server that runs already."    json:"type,omitempty"    of:"http sse"`
	URL     string            `doc:"Its address, in place of command." json:"url,omitempty"`
	Headers map[string]string `doc:"Sent with each request to it."     json:"headers,omitempty"`
}

// MCPServers returns the MCP servers of an opening.
func MCPServers(o conformance.Open) (out []MCPServer) {
	for _, m := range o.MCP {
		s := MCPServer{Name: m.Name, Command: m.Command, Args: m.Args, Env: m.Env}
		if m.URL != "" {
			s = MCPServer{Name: m.Name, Type: "http", URL: m.URL, Headers: m.Headers}
			if m.SSE {
				s.Type = "sse"
			}
		}
		out = append(out, s)
	}
	return out
}

// Mode returns the permission mode of an opening.
func Mode(o conformance.Open) string {
	switch {
	case o.Mode != "":
		return o.Mode
	case o.Ask:
		return adapters.ModeAsk
	}
	return adapters.ModeNever
}

// RuntimeOnly returns the first option of an opening that neither ACP nor a vocabulary
// without a command open can express. It returns "" if there is none.
func RuntimeOnly(o conformance.Open) string {
	for _, w := range op.Wants(o) {
		if w.Soft == "" && w.Can != CanResume && w.Can != CanMCP {
			return w.Key
		}
	}
	switch {
	case len(o.Args) > 0:
		return "arguments of the runtime"
	case o.Questions:
		return "questions of MCP servers"
	case o.Model != "":
		return "the runtime's name of a model"
	}
	return ""
}

// StartError is the error of an Open whose program did not start.
func StartError(op string, err error) error {
	return &adapters.OpenError{Code: event.ErrorStartFailure, Op: op, Err: err}
}
