package chat

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/turnspec/turnspec/adapters/httplines"
)

// request is a request to the model whose reply is not complete. openai-go performs it in a
// coroutine that runs only while the session's goroutine handles a line, so that events come
// in the order of lines, and a slow listener slows the server down.
type request struct {
	next   func() (step, bool)
	cancel context.CancelFunc
}

// step is what a request has come to.
type step struct {
	kind  stepKind
	chunk openai.ChatCompletionChunk
	err   error // of ended
}

type stepKind int

const (
	waits   stepKind = iota // it needs another line
	began                   // the stream begins
	chunked                 // a chunk has come
	ended                   // the reply is complete, or the request has failed
)

// requester sends requests through a Transport, one at a time.
type requester struct {
	transport *httplines.Transport
	client    *http.Client
	chat      openai.ChatCompletionService
	yield     func(step) bool // of the coroutine that runs
}

func newRequester(write func(line []byte) error) *requester {
	r := &requester{transport: httplines.NewTransport(write)}
	r.transport.Wait = func() { r.yield(step{kind: waits}) }
	r.client = &http.Client{Transport: wholeBodies{r.transport}}
	r.chat = openai.NewChatCompletionService(
		option.WithBaseURL("http://model/"), option.WithAPIKey("-"), // neither reaches a line
		option.WithHTTPClient(r.client),
		option.WithMaxRetries(0), // retries are events
	)
	return r
}

// start sends a request. Its steps come from next.
func (r *requester) start(p openai.ChatCompletionNewParams) *request {
	ctx, cancel := context.WithCancel(context.Background())
	q := &request{cancel: cancel}
	q.next = r.coroutine(func(yield func(step) bool) {
		stream := r.chat.NewStreaming(ctx, p)
		if stream.Err() == nil {
			yield(step{kind: began})
		}
		for stream.Next() {
			yield(step{kind: chunked, chunk: stream.Current()})
		}
		yield(step{kind: ended, err: stream.Err()})
	})
	return q
}

// ping asks for the list of models, which any server answers in some way, also while it
// streams a reply.
func (r *requester) ping() *request {
	ctx, cancel := context.WithCancel(context.Background())
	q := &request{cancel: cancel}
	q.next = r.coroutine(func(yield func(step) bool) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://model/models", http.NoBody)
		if err != nil {
			return
		}
		if resp, err := r.client.Do(req); err == nil {
			_ = resp.Body.Close() // the reply itself is the answer
		}
		yield(step{kind: ended})
	})
	return q
}

// coroutine returns the steps of a coroutine that may wait for lines.
func (r *requester) coroutine(do func(yield func(step) bool)) func() (step, bool) {
	var own func(step) bool
	next, _ := iter.Pull(func(yield func(step) bool) {
		own = yield
		r.yield = yield
		do(yield)
	})
	return func() (step, bool) {
		if own != nil {
			r.yield = own
		}
		return next()
	}
}

// abort cancels a request. Its remaining steps are dropped.
func (q *request) abort() {
	q.cancel()
	for ok := true; ok; {
		_, ok = q.next()
	}
}

// wholeBodies reads a body to its end before it is closed, unless the request was cancelled:
// a client that stops at [DONE] has not read the end of the stream yet.
type wholeBodies struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (w wholeBodies) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Body = &wholeBody{ReadCloser: resp.Body, ctx: req.Context()}
	}
	return resp, err
}

type wholeBody struct {
	io.ReadCloser
	ctx    context.Context
	failed bool
}

// Read implements io.Reader.
func (b *wholeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.failed = b.failed || err != nil && !errors.Is(err, io.EOF)
	return n, err
}

// Close implements io.Closer.
func (b *wholeBody) Close() error {
	if b.ctx.Err() == nil && !b.failed {
		_, _ = io.Copy(io.Discard, b.ReadCloser) // what the reply holds was read
	}
	return b.ReadCloser.Close()
}
