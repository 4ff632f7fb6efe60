// Package browser drives pages in a headless Chromium, through a pipe and the DevTools
// protocol. It is not part of the stable interface. Tests and benchmarks of the chat page
// use it.
package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limit bounds each call to the browser, and what Until waits.
const Limit = time.Minute

// ErrNotInstalled means that there is no Chromium in PATH.
var ErrNotInstalled = errors.New("chromium is not installed: install Debian's package chromium, or put a program of that name in PATH")

// Browser is a running Chromium.
type Browser struct {
	in, out *os.File
	cmd     *exec.Cmd
	kill    context.CancelFunc
	profile string

	mu    sync.Mutex
	id    int
	calls map[int]chan reply
}

type reply struct {
	ID     int            `json:"id"`
	Result jsontext.Value `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Start starts a Chromium with an empty profile. It runs until Close.
func Start(ctx context.Context) (*Browser, error) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return nil, ErrNotInstalled
	}
	profile, err := os.MkdirTemp("", "turnspec-browser-")
	if err != nil {
		return nil, err
	}
	toBrowser, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ctx, kill := context.WithCancel(context.WithoutCancel(ctx))
	cmd := exec.CommandContext(ctx, chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+profile, "--remote-debugging-pipe", "--hide-scrollbars", "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Start()
	_, _ = toBrowser.Close(), fromBrowser.Close()
	b := &Browser{in: in, out: out, cmd: cmd, kill: kill, profile: profile, calls: map[int]chan reply{}}
	if err != nil {
		return nil, errors.Join(err, b.wipe())
	}
	go b.read()
	return b, nil
}

// Close ends the browser and removes its profile.
func (b *Browser) Close() error {
	_ = b.in.Close() // the browser ends with its pipe
	late := time.AfterFunc(5*time.Second, b.kill)
	_ = b.cmd.Wait() // its exit code says nothing
	late.Stop()
	return b.wipe()
}

func (b *Browser) wipe() error {
	b.kill()
	_, _ = b.in.Close(), b.out.Close()
	return os.RemoveAll(b.profile)
}

// read gives each reply to the call that waits for it.
func (b *Browser) read() {
	var rest []byte
	buf := make([]byte, 1<<16)
	for {
		n, err := b.out.Read(buf)
		rest = append(rest, buf[:n]...)
		for {
			message, more, found := bytes.Cut(rest, []byte{0})
			if !found {
				break
			}
			rest = more
			var r reply
			if json.Unmarshal(message, &r) != nil || r.ID == 0 {
				continue // an event
			}
			b.mu.Lock()
			b.calls[r.ID] <- r
			delete(b.calls, r.ID)
			b.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// callMethod sends a command to the browser, or to a tab if session is not empty.
func (b *Browser) callMethod(ctx context.Context, session, method string, params, into any) error {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	answer := make(chan reply, 1)
	b.mu.Lock()
	b.id++
	b.calls[b.id] = answer
	message := map[string]any{"id": b.id, "method": method}
	if params != nil {
		message["params"] = params
	}
	if session != "" {
		message["sessionId"] = session
	}
	line, err := json.Marshal(message)
	if err == nil {
		_, err = b.in.Write(append(line, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case r := <-answer:
		switch {
		case r.Error != nil:
			return fmt.Errorf("%s: %s", method, r.Error.Message)
		case into == nil:
			return nil
		}
		return json.Unmarshal(r.Result, into)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}
