package page_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// browserLimit bounds what a test waits for a browser.
const browserLimit = time.Minute

// browser is a Chromium that a test drives through a pipe, by the DevTools protocol.
type browser struct {
	t   *testing.T
	in  io.Writer
	mu  sync.Mutex
	id  int
	got map[int]chan reply
}

type reply struct {
	ID        int            `json:"id"`
	SessionID string         `json:"sessionId"`
	Method    string         `json:"method"`
	Params    jsontext.Value `json:"params"`
	Result    jsontext.Value `json:"result"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// startBrowser starts a browser that ends with the test.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a browser, which takes seconds")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: the patches are tested without it")
	}
	toBrowser, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "--hide-scrollbars", "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = toBrowser.Close(), fromBrowser.Close()
	b := &browser{t: t, in: in, got: map[int]chan reply{}}
	go b.read(out)
	t.Cleanup(func() {
		_ = in.Close() // the browser ends with its pipe
		late := time.AfterFunc(5*time.Second, kill)
		_ = cmd.Wait()
		late.Stop()
		kill()
		_ = out.Close()
	})
	return b
}

// read gives each reply to the call that waits for it.
func (b *browser) read(out io.Reader) {
	var rest []byte
	buf := make([]byte, 1<<16)
	for {
		n, err := out.Read(buf)
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
			b.got[r.ID] <- r
			b.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

func (b *browser) call(ctx context.Context, session, method string, params any) (jsontext.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, browserLimit)
	defer cancel()
	answer := make(chan reply, 1)
	b.mu.Lock()
	b.id++
	id := b.id
	b.got[id] = answer
	message := map[string]any{"id": id, "method": method}
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
		return nil, err
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, r.Error.Message)
		}
		return r.Result, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// tab is a page of a browser.
type tab struct {
	b       *browser
	session string
}

// newTab opens a page in a window of its own: one that another covers is not drawn.
func (b *browser) newTab() *tab {
	b.t.Helper()
	var target struct {
		TargetID string `json:"targetId"`
	}
	b.must("", "Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true}, &target)
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	b.must("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	x := &tab{b, attached.SessionID}
	x.must("Page.enable", nil)
	return x
}

func (b *browser) must(session, method string, params, into any) {
	b.t.Helper()
	result, err := b.call(b.t.Context(), session, method, params)
	if err == nil && into != nil {
		err = json.Unmarshal(result, into)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func (x *tab) must(method string, params any) {
	x.b.t.Helper()
	x.b.must(x.session, method, params, nil)
}

// open opens a page, and waits until its script has run.
func (x *tab) open(url string) {
	x.b.t.Helper()
	x.must("Page.navigate", map[string]any{"url": url})
	x.until(`document.readyState === "complete" && globalThis.turnspec !== undefined && document.URL !== "about:blank"`)
}

// eval returns the value of an expression, after it has settled.
func eval[T any](x *tab, expression string) T {
	x.b.t.Helper()
	v, err := tryEval[T](x, expression)
	if err != nil {
		x.b.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

func tryEval[T any](x *tab, expression string) (v T, err error) {
	result, err := x.b.call(x.b.t.Context(), x.session, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true})
	if err != nil {
		return v, err
	}
	var out struct {
		Result struct {
			Value jsontext.Value `json:"value"`
		} `json:"result"`
		Exception *struct {
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(result, &out); err != nil {
		return v, err
	}
	if out.Exception != nil {
		return v, fmt.Errorf("%s", out.Exception.Exception.Description)
	}
	if len(out.Result.Value) == 0 {
		return v, nil
	}
	return v, json.Unmarshal(out.Result.Value, &v)
}

// until waits until an expression is true.
func (x *tab) until(expression string) {
	x.b.t.Helper()
	var err error
	for end := time.Now().Add(browserLimit); time.Now().Before(end); {
		var ok bool
		if ok, err = tryEval[bool](x, expression); ok {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-x.b.t.Context().Done():
		}
	}
	text, _ := tryEval[string](x, "document.body.innerText")
	x.b.t.Fatalf("%s is not true: %v\n%s", expression, err, text)
}

// look sets the size of the window and the color scheme.
func (x *tab) look(width, height int, scheme string) {
	x.b.t.Helper()
	x.must("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
	x.must("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
}

// screenshot writes a picture of what the tab shows.
func (x *tab) screenshot(file string) {
	x.b.t.Helper()
	var shot struct {
		Data string `json:"data"`
	}
	x.b.must(x.session, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(file, png, 0o600)
	}
	if err != nil {
		x.b.t.Fatal(err)
	}
}
