//go:build unix

// Package worker answers one question: how is a part of a run done in another
// process of the same program, so that what ends or hangs there ends nothing
// here?
//
// A worker is this program, started again with the same arguments (a test: with
// -test.run of its name). It gets to the same place as the program did, finds
// there that it is a worker (Serving), and does what it is asked until it is
// asked no more. One that died is told with the first lines of what it said.
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
)

// env names the run whose worker a program is.
const env = "TURNSPEC_WORKER"

// Descriptors of a worker: what it is asked, and what it answers.
const (
	asks    = 3
	answers = 4
)

// What stands before an answer: whether the worker is there for more.
const (
	stays  = '+'
	leaves = '-'
)

// DeathError is how a worker ended while it did something.
type DeathError struct {
	How  string // exit code 2, ended by …
	Said string // the panic and the first lines of its stack, or the last of stderr
}

func (d *DeathError) Error() string {
	if d.Said == "" {
		return d.How
	}
	return d.How + "\n" + d.Said
}

// Pool starts workers of one run as they are needed, and keeps those that live.
type Pool struct {
	name string
	// Limit is how long a worker may take for one thing.
	Limit time.Duration

	mu   sync.Mutex
	free []*worker
}

var (
	poolsMu sync.Mutex
	pools   = map[string]*Pool{}
)

// Of is the pool of a run, by its name: that of a test, where it is one.
func Of(name string) *Pool {
	poolsMu.Lock()
	defer poolsMu.Unlock()
	if pools[name] == nil {
		pools[name] = &Pool{name: name, Limit: 10 * time.Minute}
	}
	return pools[name]
}

// Serving reports whether this program is a worker of the run.
func Serving(name string) bool { return name != "" && os.Getenv(env) == name }

// Serve answers until nobody asks any more, and ends the program. again false
// says that this process is not to be asked again: something hangs in it.
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

// Do asks a worker, and starts one if none is free. An error is a *DeathError, or
// says why no worker could be started.
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
	over chan struct{} // closed when it has ended
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
	// A test program that stands in for a command has parsed no flags of tests.
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
	err = w.cmd.Start()
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

// head keeps the first bytes that were written to it.
type head struct {
	mu sync.Mutex
	b  []byte
}

// kept is how much of what a worker says is kept.
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

// stackLines is how much of a stack is told.
const stackLines = 12

// panic is what a dying program says first, and where.
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
