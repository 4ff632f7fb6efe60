package perform

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/proc"
)

// watcher starts real processes and reads along until each has told the id of
// its session or thread: what a subject reports is compared with that.
type watcher struct {
	proc.Launcher

	mu   sync.Mutex
	ids  []*idFinder // by launch
	last proc.Process
}

// signal sends a signal to the process that was started last.
func (w *watcher) signal(s proc.Signal) error {
	w.mu.Lock()
	p := w.last
	w.mu.Unlock()
	if p == nil {
		return errors.New("no process was started")
	}
	return p.Signal(s)
}

// Launch implements proc.Launcher.
func (w *watcher) Launch(ctx context.Context, c proc.Command) (proc.Process, error) {
	p, err := w.Launcher.Launch(ctx, c)
	if err != nil {
		return nil, err
	}
	f := &idFinder{}
	w.mu.Lock()
	w.ids, w.last = append(w.ids, f), p
	w.mu.Unlock()
	return &watched{p, &tee{p.Stdout(), f}}, nil
}

// found are the ids that processes told, in the order of their launch. A
// process that told none (one that was asked for its version, say) is left out.
func (w *watcher) found() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, f := range w.ids {
		if id := f.get(); id != "" {
			out = append(out, id)
		}
	}
	return out
}

type watched struct {
	proc.Process
	out io.Reader
}

func (p *watched) Stdout() io.Reader { return p.out }

// tee reads from r and shows what it read to f.
type tee struct {
	r io.Reader
	f *idFinder
}

func (t *tee) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	t.f.add(b[:n])
	return n, err
}

// Close implements io.Closer, where the pipe does.
func (t *tee) Close() error {
	if c, ok := t.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// idFinder looks for the id in the lines of a runtime.
type idFinder struct {
	mu   sync.Mutex
	id   string
	line []byte
}

func (f *idFinder) get() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.id
}

func (f *idFinder) add(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.id == "" {
		head, rest, ok := bytes.Cut(b, []byte("\n"))
		f.line = append(f.line, head...)
		if !ok {
			return
		}
		f.id, f.line, b = sessionID(f.line), f.line[:0], rest
	}
}

// sessionID is the id that a line tells: claude's init, codex's reply to the
// request that opens a thread.
func sessionID(line []byte) string {
	var m struct {
		Type      string `json:"type"`
		Subtype   string `json:"subtype"`
		SessionID string `json:"session_id"`
		Result    struct {
			Thread struct {
				ID string `json:"id"`
			} `json:"thread"`
		} `json:"result"`
	}
	if json.Unmarshal(line, &m, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
		return ""
	}
	if m.Type == "system" && m.Subtype == "init" {
		return m.SessionID
	}
	return m.Result.Thread.ID
}
