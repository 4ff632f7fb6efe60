package sse

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/tmaxmax/go-sse"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// callsRetry is how long the client waits until it asks for the calls of a session again that is being opened.
const callsRetry = 20 * time.Millisecond

// clientCalls are the calls of the client's tools and hooks that run, by their ids.
type clientCalls struct {
	mu      sync.Mutex
	running map[string]context.CancelFunc
	stop    context.CancelFunc // nil: the session has neither
}

// listenForCalls runs the tools and hooks of the client when the runtime calls them, until the session ends. It
// begins before the session opens, because the runtime may call a hook before it is open.
func (x *session) listenForCalls(o conformance.Open) {
	if len(o.Tools)+len(o.Hooks) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.calls.stop, x.calls.running = cancel, map[string]context.CancelFunc{}
	go func() {
		for ctx.Err() == nil {
			if err := x.readCalls(ctx, o); err != nil {
				_ = x.Fail(err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(callsRetry):
			}
		}
	}()
}

// stopCalls cancels the calls that run, and ends listenForCalls.
func (x *session) stopCalls() {
	c := &x.calls
	if c.stop == nil {
		return
	}
	c.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.running {
		cancel()
	}
}

// readCalls reads the stream of calls to its end. It returns what is wrong with a call.
func (x *session) readCalls(ctx context.Context, o conformance.Open) *plug.Error {
	path := x.path("calls")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, x.base+path, http.NoBody)
	if err != nil {
		return nil
	}
	request.Header.Set("Accept", "text/event-stream")
	response, err := x.http.Do(request)
	if err != nil {
		return nil // another request finds a server that is gone
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil // the session is not known yet, or has ended
	}
	for e, err := range sse.Read(response.Body, &sse.ReadConfig{MaxEventSize: plug.MaxLine}) {
		if err != nil {
			return nil
		}
		if e.Data == "" {
			continue
		}
		x.s.Show(false, e.Type+" "+e.Data)
		var c plug.ClientCall
		if err := json.Unmarshal([]byte(e.Data), &c, plug.Lenient); err != nil {
			return plug.Errorf("GET %s: %v: %s", path, err, plug.Clip(e.Data)).Advise(page + " has the form of a call")
		}
		if e.Type == "end" {
			x.cancelCall(c.ID)
			continue
		}
		run, wrong := plug.CallRunner(o.Tools, o.Hooks, &c)
		if wrong != "" {
			return plug.Errorf("GET %s: call %q: %s", path, c.ID, wrong).Advise(page + " has the form of a call")
		}
		x.runCall(ctx, c.ID, run)
	}
	return nil
}

// runCall starts a call, unless it runs, and sends its result.
func (x *session) runCall(ctx context.Context, id string, run func(context.Context) plug.CallResult) {
	c := &x.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[id] != nil {
		return // the stream was read again
	}
	callCtx, cancel := context.WithCancel(ctx)
	c.running[id] = cancel
	go func() {
		defer x.forgetCall(id)
		result := run(callCtx)
		if callCtx.Err() != nil {
			return // nobody waits for it
		}
		err := x.request(ctx, http.MethodPost, x.path("calls", id), result, nil)
		if refused, is := errors.AsType[*plug.RefusalError](err); err != nil && (!is || refused.Status != http.StatusNotFound) && ctx.Err() == nil {
			_ = x.Fail(plug.Errorf("the result of call %s: %v", id, err))
		}
	}()
}

// forgetCall notes that a call has returned.
func (x *session) forgetCall(id string) {
	x.calls.mu.Lock()
	defer x.calls.mu.Unlock()
	x.calls.running[id]()
	delete(x.calls.running, id)
}

// waitForCalls waits until no call runs, because the server has cancelled each, or for closeLimit: a check
// reports one that runs on.
func (x *session) waitForCalls() {
	runs := func() bool {
		x.calls.mu.Lock()
		defer x.calls.mu.Unlock()
		return len(x.calls.running) > 0
	}
	for end := time.Now().Add(closeLimit); runs() && time.Now().Before(end); {
		time.Sleep(callsRetry) // a call is the suite's own, and reports nothing
	}
}

// cancelCall cancels a call. One that has returned already is no mistake.
func (x *session) cancelCall(id string) {
	x.calls.mu.Lock()
	defer x.calls.mu.Unlock()
	if cancel := x.calls.running[id]; cancel != nil {
		cancel()
	}
}
