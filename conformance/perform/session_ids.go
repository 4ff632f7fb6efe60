package perform

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// idLauncher starts real processes and reads along until each has written the id
// of its session or thread. The id that a subject reports is compared with it.
type idLauncher struct {
	proc.Launcher
	runtime string

	mu   sync.Mutex
	ids  []*idFinder // by launch
	last proc.Process
}

// signalLast sends a signal to the process that was started last.
func (l *idLauncher) signalLast(s proc.Signal) error {
	l.mu.Lock()
	p := l.last
	l.mu.Unlock()
	if p == nil {
		return errors.New("no process was started")
	}
	return p.Signal(s)
}

// Launch implements proc.Launcher.
func (l *idLauncher) Launch(ctx context.Context, c proc.Command) (proc.Process, error) {
	p, err := l.Launcher.Launch(ctx, c)
	if err != nil {
		return nil, err
	}
	f := &idFinder{runtime: l.runtime}
	l.mu.Lock()
	l.ids, l.last = append(l.ids, f), p
	l.mu.Unlock()
	return &teeProcess{p, &teeReader{p.Stdout(), f}}, nil
}

// sessionIDs returns the ids in the order of the launches. A process that wrote
// none, such as one that prints its version, is left out.
func (l *idLauncher) sessionIDs() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, f := range l.ids {
		if id := f.found(); id != "" {
			out = append(out, id)
		}
	}
	return out
}

type teeProcess struct {
	proc.Process
	out io.Reader
}

func (p *teeProcess) Stdout() io.Reader { return p.out }

// teeReader passes what it reads to an idFinder.
type teeReader struct {
	r io.Reader
	f *idFinder
}

func (t *teeReader) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	t.f.scan(b[:n])
	return n, err
}

// Close closes the reader if it is a closer.
func (t *teeReader) Close() error {
	if c, ok := t.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// idFinder looks for the session id in the lines of a runtime.
type idFinder struct {
	runtime string
	mu      sync.Mutex
	id      string
	line    []byte
}

func (f *idFinder) found() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.id
}

func (f *idFinder) scan(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.id == "" {
		head, rest, ok := bytes.Cut(b, []byte("\n"))
		f.line = append(f.line, head...)
		if !ok {
			return
		}
		f.id, f.line, b = sessionID(f.runtime, f.line), f.line[:0], rest
	}
}

// sessionID returns the id of the session or thread that a line opens, or "".
func sessionID(runtime string, line []byte) string {
	rt := runtimes.Find(runtime)
	if rt == nil {
		return ""
	}
	return rt.ReadOutput(line).Opened
}
