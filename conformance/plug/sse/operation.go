package sse

import (
	"context"
	"net/http"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance/plug"
)

// Do implements op.Doer with the route do, for the operations without a method of their own here.
func (x *session) Do(ctx context.Context, c op.Call) (any, error) {
	o := op.Named(c.Do)
	if o == nil {
		return nil, adapters.ErrUnsupported
	}
	if err := x.health.Require(o.Name); err != nil {
		return nil, err
	}
	switch {
	case o == op.Archive:
		return nil, x.archive(ctx, c)
	case o == op.Compact && !x.isWhole():
		return nil, plug.Unsupported("a turn without a message")
	}
	return nil, plug.Refused(o, x.operate(ctx, c))
}

// operate sends the request of an operation.
func (x *session) operate(ctx context.Context, c op.Call) error {
	return x.request(ctx, http.MethodPost, x.path("do"), c, nil)
}

// archive archives the session, which ends it as Close does.
func (x *session) archive(ctx context.Context, c op.Call) error {
	if !x.beginClose() {
		return adapters.ErrClosed
	}
	x.setClosing(true)
	if err := x.operate(ctx, c); err != nil {
		x.setClosing(false)
		return plug.Refused(op.Archive, err)
	}
	return x.finishClose()
}

// setClosing notes that the end of the stream is the result of a request, or that the request failed.
func (x *session) setClosing(closing bool) {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.closeCalled, x.Closing = closing, closing
}
