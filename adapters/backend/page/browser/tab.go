package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Tab is a page of a browser.
type Tab struct {
	b       *Browser
	id      string
	session string
}

// NewTab opens an empty page in a new window, because a page that another one covers is
// not drawn.
func (b *Browser) NewTab(ctx context.Context) (*Tab, error) {
	var target struct {
		TargetID string `json:"targetId"`
	}
	if err := b.callMethod(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true}, &target); err != nil {
		return nil, err
	}
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	if err := b.callMethod(ctx, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached); err != nil {
		return nil, err
	}
	t := &Tab{b, target.TargetID, attached.SessionID}
	return t, t.Call(ctx, "Page.enable", nil, nil)
}

// Close closes the page.
func (t *Tab) Close(ctx context.Context) error {
	return t.b.callMethod(ctx, "", "Target.closeTarget", map[string]any{"targetId": t.id}, nil)
}

// Call sends a command of the DevTools protocol, and decodes its result if into is not
// nil.
func (t *Tab) Call(ctx context.Context, method string, params, into any) error {
	return t.b.callMethod(ctx, t.session, method, params, into)
}

// Open opens a page, and waits until it is loaded and ready, an expression, is true.
func (t *Tab) Open(ctx context.Context, url, ready string) error {
	if err := t.Call(ctx, "Page.navigate", map[string]any{"url": url}, nil); err != nil {
		return err
	}
	return t.Until(ctx, `document.readyState === "complete" && document.URL !== "about:blank" && (`+ready+`)`)
}

// Eval returns the value of an expression, after it has settled.
func Eval[T any](ctx context.Context, t *Tab, expression string) (v T, err error) {
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
	params := map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}
	if err := t.Call(ctx, "Runtime.evaluate", params, &out); err != nil {
		return v, err
	}
	if out.Exception != nil {
		return v, errors.New(out.Exception.Exception.Description)
	}
	if len(out.Result.Value) == 0 {
		return v, nil
	}
	return v, json.Unmarshal(out.Result.Value, &v)
}

// Until waits until an expression is true. The error holds the text of the page.
func (t *Tab) Until(ctx context.Context, expression string) error {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	for {
		ok, err := Eval[bool](ctx, t, expression)
		if ok {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			text, _ := Eval[string](context.WithoutCancel(ctx), t, "document.body.innerText")
			return fmt.Errorf("%.200s is not true: %w\n%s", expression, errors.Join(ctx.Err(), err), text)
		}
	}
}
