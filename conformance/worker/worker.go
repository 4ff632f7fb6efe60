//go:build unix

// Package worker runs parts of a run in other processes of the same program. It is not
// part of the stable interface. If a part panics, exits or hangs, only its worker process
// ends, not this one.
//
// A worker is this program, started again with the same arguments (a test: with
// -test.run of its name). It runs to the same place as the program did. There
// Serving reports that it is a worker, and Serve handles requests until the program
// closes the pipe. If a worker ends during a request, Do returns a DeathError with
// the first lines of the panic.
package worker

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/proc"
)

// Supported reports whether this system has worker processes.
const Supported = true

// env is the variable that holds the name of the run that a worker belongs to.
const env = "TURNSPEC_WORKER"

// The file descriptors from which a worker reads requests and to which it writes
// replies.
const (
	asks    = 3
	answers = 4
)

// The first byte of a reply: whether the worker accepts further requests.
const (
	stays  = '+'
	leaves = '-'
)

// DeathError reports that a worker ended during a request.
type DeathError struct {
	How  string // exit code 2, ended by …
	Said string // the panic and the first lines of its stack, or else the first lines of stderr
}

func (d *DeathError) Error() string {
	if d.Said == "" {
		return d.How
	}
	return d.How + "\n" + d.Said
}

// Pool starts the workers of one run when they are needed, and reuses idle ones.
type Pool struct {
	name string
	// Limit is how long a worker may take for one request.
	Limit time.Duration

	mu   sync.Mutex
	free []*worker
}

var (
	poolsMu sync.Mutex
	pools   = map[string]*Pool{}
)

// Of returns the pool of the run with this name. In a test the name is t.Name().
func Of(name string) *Pool {
	poolsMu.Lock()
	defer poolsMu.Unlock()
	if pools[name] == nil {
		pools[name] = &Pool{name: name, Limit: 10 * time.Minute}
	}
	return pools[name]
}

// Serving reports whether this process is a worker of the run.
func Serving(name string) bool { return name != "" && os.Getenv(env) == name }

// Serve calls do with each request and writes its reply. When the requests end, it
// exits the process. It also exits if do returns again false, which means that
// something hangs in this process.
func Serve[Q, A any](do func(Q) (a A, again bool)) {
	in := bufio.NewReader(os.NewFile(asks, "asks"))
	out := os.NewFile(answers, "answers")
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		var q Q
		if err := json.Unmarshal(line, &q); err != nil {
			panic(err)
		}
		a, again := do(q)
		b, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		mark := byte(stays)
		if !again {
			mark = leaves
		}
		if _, err := out.Write(append(append([]byte{mark}, b...), '\n')); err != nil || !again {
			os.Exit(0)
		}
	}
}

// Do sends a request to an idle worker, or to a new one if none is idle, and returns
// the reply. It returns a *DeathError if the worker ended or exceeded p.Limit, and
// another error if no worker could be started.
func Do[Q, A any](p *Pool, q Q) (A, error) {
	var a A
	b, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	w, err := p.take()
	if err != nil {
		return a, err
	}
	line, err := w.ask(append(b, '\n'), p.Limit)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(line[1:], &a); err != nil {
		return a, err
	}
	if line[0] == leaves {
		return a, errors.Join(w.in.Close(), w.end.Close())
	}
	p.mu.Lock()
	p.free = append(p.free, w)
	p.mu.Unlock()
	return a, nil
}

type worker struct {
	cmd  *exec.Cmd
	in   *os.File
	end  *os.File // of out
	out  *bufio.Reader
	said *head
	over chan struct{} // closed when the process has ended
}

func (p *Pool) take() (*worker, error) {
	p.mu.Lock()
	for len(p.free) > 0 {
		w := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		select {
		case <-w.over:
			continue
		default:
		}
		p.mu.Unlock()
		return w, nil
	}
	p.mu.Unlock()
	return p.start()
}

func (p *Pool) start() (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	asksR, asksW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answersR, answersW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, asksR.Close(), asksW.Close())
	}
	args := os.Args[1:]
	// A test program that runs as a command has not parsed the flags of tests.
	if testing.Testing() && flag.Parsed() {
		var parts []string
		for part := range strings.SplitSeq(p.name, "/") {
			parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
		}
		args = []string{"-test.run=" + strings.Join(parts, "/"), "-test.timeout=0"}
	}
	w := &worker{cmd: exec.Command(self, args...), in: asksW, end: answersR, out: bufio.NewReader(answersR), said: &head{}, over: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), env+"="+p.name)
	w.cmd.ExtraFiles = []*os.File{asksR, answersW}
	w.cmd.Stderr = w.said
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = proc.StartBound(w.cmd)
	err = errors.Join(err, asksR.Close(), answersW.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a worker: %w", err), asksW.Close(), answersR.Close())
	}
	go func() {
		_ = w.cmd.Wait()
		close(w.over)
	}()
	return w, nil
}

func (w *worker) ask(line []byte, limit time.Duration) ([]byte, error) {
	w.said.reset()
	late := time.AfterFunc(limit, func() { _ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL) })
	_, err := w.in.Write(line)
	var b []byte
	if err == nil {
		b, err = w.out.ReadBytes('\n')
	}
	inTime := late.Stop()
	if err == nil {
		return b, nil
	}
	<-w.over
	_ = errors.Join(w.in.Close(), w.end.Close())
	how := w.cmd.ProcessState.String()
	if !inTime {
		how = fmt.Sprintf("did not end within %v", limit)
	}
	return nil, &DeathError{How: how, Said: w.said.panic()}
}

// head is a writer that keeps the first bytes written to it.
type head struct {
	mu sync.Mutex
	b  []byte
}

// kept is how many bytes of a worker's stderr are kept.
const kept = 64 << 10

func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.b = append(h.b, b[:min(len(b), kept-len(h.b))]...)
	return len(b), nil
}

func (h *head) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.b = nil
}

// stackLines is how many lines of a panic and its stack an error quotes.
const stackLines = 12

// panic returns the first lines of the panic in the output. If there is none, it
// returns the first lines of the output.
func (h *head) panic() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.b
	for _, start := range []string{"panic: ", "fatal error: "} {
		if i := bytes.Index(b, []byte(start)); i >= 0 {
			b = b[i:]
			break
		}
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[:min(len(lines), stackLines)], "\n")
}

var _ io.Writer = (*head)(nil)
