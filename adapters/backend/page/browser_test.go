package page_test

import (
	"encoding/base64"
	"errors"
	"os"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/page/browser"
)

// browserLimit bounds what a test waits for a browser.
const browserLimit = browser.Limit

// testBrowser is a browser that ends with its test. Its methods end the test if they
// fail.
type testBrowser struct {
	*browser.Browser
	t *testing.T
}

func startBrowser(t *testing.T) *testBrowser {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a browser, which takes seconds")
	}
	b, err := browser.Start(t.Context())
	if errors.Is(err, browser.ErrNotInstalled) {
		t.Skip("chromium is not installed: the patches are tested without it")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return &testBrowser{b, t}
}

// tab is a page of a browser.
type tab struct {
	*browser.Tab
	t *testing.T
}

func (b *testBrowser) newTab() *tab {
	b.t.Helper()
	x, err := b.NewTab(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return &tab{x, b.t}
}

func (x *tab) must(method string, params, into any) {
	x.t.Helper()
	if err := x.Call(x.t.Context(), method, params, into); err != nil {
		x.t.Fatal(err)
	}
}

// open opens a page, and waits until its script has run.
func (x *tab) open(url string) {
	x.t.Helper()
	if err := x.Open(x.t.Context(), url, "globalThis.turnspec !== undefined"); err != nil {
		x.t.Fatal(err)
	}
}

// eval returns the value of an expression, after it has settled.
func eval[T any](x *tab, expression string) T {
	x.t.Helper()
	v, err := browser.Eval[T](x.t.Context(), x.Tab, expression)
	if err != nil {
		x.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// until waits until an expression is true.
func (x *tab) until(expression string) {
	x.t.Helper()
	if err := x.Until(x.t.Context(), expression); err != nil {
		x.t.Fatal(err)
	}
}

// look sets the size of the window and the color scheme.
func (x *tab) look(width, height int, scheme string) {
	x.t.Helper()
	x.must("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	x.must("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// screenshot writes a picture of what the tab shows.
func (x *tab) screenshot(file string) {
	x.t.Helper()
	var shot struct {
		Data string `json:"data"`
	}
	x.must("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(file, png, 0o600)
	}
	if err != nil {
		x.t.Fatal(err)
	}
}
