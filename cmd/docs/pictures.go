package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/page/browser"
	"github.com/turnspec/turnspec/fixtures"
)

// pictureFolder holds the pictures of index.md.
const pictureFolder = "cmd/docs/pictures"

// The terminal of the pictures.
const (
	terminalWidth  = 100
	terminalHeight = 40
)

// pictureLimit bounds each command of which there is a picture.
const pictureLimit = 3 * time.Minute

// adapterDefects are put into the adapter that `turnspec init` writes, to have something to show.
var adapterDefects = []struct{ in, out string }{
	{`event["delta"]["text"], str(`, `event["delta"]["text"].rstrip(), str(`},
	{`failed = block.get("is_error", False)`, `failed = False`},
}

// adapterFile is the adapter in the project of a studio.
const adapterFile = "conformance/adapter.py"

// studio takes the pictures: of a project in Python, in an empty folder, as a newcomer has it.
type studio struct {
	dir     string // of the project
	env     []string
	browser *browser.Browser
	out     string // the folder of the pictures
}

// takePictures writes the pictures of index.md, with the turnspec of this repository.
func takePictures(ctx context.Context, out string) (err error) {
	dir, err := os.MkdirTemp("", "turnspec-pictures-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	library, err := filepath.Abs("conformance/plug/python/src")
	if err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	if b, err := exec.CommandContext(ctx, "go", "build", "-o", bin+string(filepath.Separator), "./cmd/turnspec").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, b)
	}
	b, err := browser.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	s := &studio{dir: filepath.Join(dir, "my-adapter"), browser: b, out: out, env: append(os.Environ(),
		"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "PYTHONPATH="+library, "HOME="+dir, "XDG_CACHE_HOME="+dir, "TERM=xterm-256color", "NO_COLOR=", "PYTHONDONTWRITEBYTECODE=1")}
	for _, folder := range []string{s.dir, out} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	if _, err := s.record(ctx, "turnspec init --lang python --runtime claude", nil); err != nil {
		return err
	}
	return s.takeAll(ctx)
}

func (s *studio) takeAll(ctx context.Context) error {
	const subject = " --runtime claude@newest -- python3 conformance/plug.py"
	if err := s.terminal(ctx, "smoke", "turnspec smoke"+subject, false, nil); err != nil {
		return err
	}
	good, err := os.ReadFile(filepath.Join(s.dir, adapterFile))
	if err != nil {
		return err
	}
	bad := string(good)
	for _, d := range adapterDefects {
		if !strings.Contains(bad, d.in) {
			return fmt.Errorf("%s has no %s: change adapterDefects in pictures.go", adapterFile, d.in)
		}
		bad = strings.Replace(bad, d.in, d.out, 1)
	}
	save := func(text string) error {
		return os.WriteFile(filepath.Join(s.dir, adapterFile), []byte(text), 0o644)
	}
	if err := save(bad); err != nil {
		return err
	}
	const chosen = " --case text --case permission"
	if err := s.terminal(ctx, "run", "turnspec run"+chosen+" --report html=report.html"+subject, true, nil); err != nil {
		return err
	}
	if err := s.report(ctx); err != nil {
		return err
	}
	if err := s.terminal(ctx, "debug", "turnspec debug text/plain"+subject, false, func(t *terminal) error {
		return t.types("next (n", "n\n", "next (n", "c\n")
	}); err != nil {
		return err
	}
	return s.terminal(ctx, "watch", "turnspec run --case text/plain --case text/two-blocks --check text --watch"+subject, true, func(t *terminal) error {
		if err := t.waitFor("ends\r\n"); err != nil {
			return err
		}
		if err := save(strings.Replace(bad, adapterDefects[0].out, adapterDefects[0].in, 1)); err != nil {
			return err
		}
		return t.interrupt("ends\r\n")
	})
}

// terminal takes a picture of a command in a terminal. While it runs, meanwhile types and
// reads; nil: it only runs.
func (s *studio) terminal(ctx context.Context, name, command string, dark bool, meanwhile func(*terminal) error) error {
	output, err := s.record(ctx, command, meanwhile)
	if err != nil {
		return err
	}
	const clearScreen = "\x1b[2J\x1b[H"
	prompt := "\x1b[2m$\x1b[0m \x1b[1m" + breakCommand(command) + "\x1b[0m\r\n"
	if i := strings.LastIndex(output, clearScreen); i >= 0 {
		output, prompt = output[i+len(clearScreen):], ""
	}
	screen, err := show(prompt+output, terminalWidth).html(dark)
	if err != nil {
		return err
	}
	page := "data:text/html;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(screen))
	return s.photograph(ctx, name, page, "document.body !== null", func(ctx context.Context, tab *browser.Tab) (width, height int, err error) {
		size, err := browser.Eval[[2]int](ctx, tab, "[document.body.offsetWidth, document.body.offsetHeight]")
		return size[0], size[1], err
	})
}

// breakCommand breaks a command that is wider than the terminal before its last flags, as one types
// it for a reader.
func breakCommand(command string) string {
	const prompt = "$ "
	if len(prompt+command) <= terminalWidth {
		return command
	}
	i := strings.LastIndex(command, " --runtime ")
	return command[:i] + " \\\r\n   " + command[i:]
}

// report takes pictures of the HTML report: its first page, and a failed case.
func (s *studio) report(ctx context.Context) error {
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(s.dir, "report.html"))}
	for _, p := range []struct {
		name, hash    string
		width, height int
	}{
		{"report", "", 1100, 800},
		{"report-case", "case=" + url.QueryEscape(fixtures.Embedded().Resolve("claude/newest/text/plain")), 1100, 900},
	} {
		file.RawFragment, file.Fragment = p.hash, p.hash
		size := func(context.Context, *browser.Tab) (width, height int, err error) { return p.width, p.height, nil }
		address := file.Scheme + "://" + file.Path
		if p.hash != "" {
			address += "#" + p.hash
		}
		if err := s.photograph(ctx, p.name, address, `document.querySelector("h2") !== null`, size); err != nil {
			return err
		}
	}
	return nil
}

// photograph writes a picture of a page, of the size that size returns.
func (s *studio) photograph(ctx context.Context, name, address, ready string, size func(context.Context, *browser.Tab) (width, height int, err error)) (err error) {
	tab, err := s.browser.NewTab(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tab.Close(ctx)) }()
	resize := func(width, height int) error {
		return tab.Call(ctx, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	}
	if err := errors.Join(resize(1100, 800), tab.Open(ctx, address, ready)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	width, height, err := size(ctx, tab)
	if err != nil {
		return err
	}
	var shot struct {
		Data []byte `json:"data"`
	}
	if err := errors.Join(resize(width, height), tab.Call(ctx, "Page.captureScreenshot", map[string]any{"format": "png", "optimizeForSpeed": false}, &shot)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.out, name+".png"), shot.Data, 0o644)
}

// record runs a command in a terminal, and returns what it writes there.
func (s *studio) record(ctx context.Context, command string, meanwhile func(*terminal) error) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pictureLimit)
	defer cancel()
	// script, of util-linux, gives it a terminal.
	sized := fmt.Sprintf("stty cols %d rows %d; exec %s", terminalWidth, terminalHeight, command)
	cmd := exec.CommandContext(ctx, "script", "-qec", sized, os.DevNull)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.env, 10*time.Second
	t := &terminal{ctx: ctx, more: make(chan struct{}, 1)}
	cmd.Stdout = t
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	t.in = in
	if err := cmd.Start(); err != nil {
		return "", err
	}
	var failed error
	if meanwhile != nil {
		failed = meanwhile(t)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); failed != nil || ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		return "", fmt.Errorf("%s: %w\n%s", command, cmp.Or(failed, ctx.Err(), err), t.text.String())
	}
	if t.end > 0 {
		return t.text.String()[:t.end], nil
	}
	return t.text.String(), nil
}

// terminal is the terminal of a command that runs.
type terminal struct {
	ctx  context.Context
	in   io.Writer
	more chan struct{} // there is more text

	mu   sync.Mutex // guards text and read
	text strings.Builder
	read int // what waitFor has passed
	end  int // of what is shown; 0: all
}

// Write implements io.Writer.
func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default:
	}
	return t.text.Write(b)
}

// waitFor waits until the command has written a text, after the last one that it waited for.
func (t *terminal) waitFor(text string) error {
	for {
		t.mu.Lock()
		i := strings.Index(t.text.String()[t.read:], text)
		if i >= 0 {
			t.read += i + len(text)
		}
		t.mu.Unlock()
		if i >= 0 {
			return nil
		}
		select {
		case <-t.more:
		case <-t.ctx.Done():
			return fmt.Errorf("it does not write %q", text)
		}
	}
}

// interrupt waits for a text and then types ^C. What follows is not in the picture.
func (t *terminal) interrupt(after string) error {
	if err := t.waitFor(after); err != nil {
		return err
	}
	t.mu.Lock()
	t.end = t.read
	t.mu.Unlock()
	_, err := io.WriteString(t.in, "\x03")
	return err
}

// types waits for each first text and then types the second.
func (t *terminal) types(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if err := t.waitFor(pairs[i]); err != nil {
			return err
		}
		if _, err := io.WriteString(t.in, pairs[i+1]); err != nil {
			return err
		}
	}
	return nil
}
