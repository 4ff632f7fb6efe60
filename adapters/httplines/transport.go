package httplines

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/turnspec/turnspec/adapters/lines"
)

// maxBuffered is how much of a stream is kept for a reader that is slow, in bytes. Then
// Handle blocks.
const maxBuffered = 1 << 20

// Transport is an http.RoundTripper whose requests and replies are lines. Make one with
// NewTransport, and pass it what the server writes: with Read, or line by line with Handle.
type Transport struct {
	// Headers are the request headers that a line carries. It must not be changed once the
	// Transport is in use.
	Headers []string
	// BadLine is called with a line that is not one of this form, or that replies to no
	// request, and Read goes on. If it is nil, such a line ends Read and fails all requests,
	// because any of them may have lost a part of its reply.
	BadLine func(line []byte, err error)

	write   func(line []byte) error
	writing chan struct{} // held by the writer; a mutex would stop the clock of a bubble

	mu      sync.Mutex
	last    int64
	pending map[int64]*exchange
	err     error // of every later request
}

// NewTransport returns a Transport that writes its lines with write, which is called with
// one whole line at a time, including the line end. It must not keep the line.
func NewTransport(write func(line []byte) error) *Transport {
	return &Transport{write: write, writing: make(chan struct{}, 1), pending: map[int64]*exchange{}}
}

// exchange is a request whose reply is not complete.
type exchange struct {
	t       *Transport
	id      int64
	replied chan struct{} // closed when reply or err is set
	body    *stream       // of a streamed reply

	reply   *line
	err     error
	settled bool
	sent    bool // the request was written; an abort makes sense
}

// RoundTrip implements http.RoundTripper. It returns when the status is known. Cancelling
// the context of the request, and closing the body before its end, sends an abort.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	l, err := t.requestLine(req)
	if err != nil {
		return nil, err
	}
	x, err := t.open()
	if err != nil {
		return nil, err
	}
	l.ID = x.id
	ctx := req.Context()
	if err := t.writeLine(ctx, encode(l), func() { x.sent = true }); err != nil {
		t.settle(x, nil, err)
		return nil, err
	}
	if err := x.waitForReply(ctx); err != nil {
		x.abort(err)
		return nil, err
	}
	if x.err != nil {
		return nil, x.err
	}
	return x.response(req), nil
}

// waitForReply returns an error if ctx ends first.
func (x *exchange) waitForReply(ctx context.Context) error {
	select {
	case <-x.replied:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// requestLine reads a request, and closes its body.
func (t *Transport) requestLine(req *http.Request) (*line, error) {
	l := &line{Method: cmp.Or(req.Method, http.MethodGet), Path: req.URL.RequestURI(), Headers: carried(req.Header, t.Headers)}
	if req.Body == nil {
		return l, nil
	}
	b, err := io.ReadAll(io.LimitReader(req.Body, maxBody+1))
	if closeErr := req.Body.Close(); err == nil {
		err = closeErr
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the body of the request: %w", err)
	case len(b) > maxBody:
		return nil, errors.New("the body of the request is too long")
	case isJSON(b):
		l.Body = b
	case len(b) > 0 && !utf8.Valid(b):
		return nil, errors.New("the body of the request is not text")
	case len(b) > 0:
		text := string(b)
		l.Text = &text
	}
	return l, nil
}

// open makes an exchange with a new id.
func (t *Transport) open() (*exchange, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return nil, t.err
	}
	t.last++
	x := &exchange{t: t, id: t.last, replied: make(chan struct{})}
	t.pending[x.id] = x
	return x, nil
}

// writeLine writes a line when no other one is being written. then runs, before any later
// line is written, if it was.
func (t *Transport) writeLine(ctx context.Context, b []byte, then func()) error {
	select {
	case t.writing <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-t.writing }()
	if err := t.write(b); err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	then()
	return nil
}

// settle ends the wait for the status, with a reply or an error.
func (t *Transport) settle(x *exchange, reply *line, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settleLocked(x, reply, err)
}

func (t *Transport) settleLocked(x *exchange, reply *line, err error) {
	if x.body == nil && (reply == nil || !reply.Stream) {
		delete(t.pending, x.id)
	}
	if x.settled {
		return
	}
	x.settled, x.reply, x.err = true, reply, err
	if reply != nil && reply.Stream {
		x.body = newStream(x)
	}
	close(x.replied)
}

// abort ends an exchange with err, and writes an abort for the server if its reply is not
// complete.
func (x *exchange) abort(err error) {
	x.t.mu.Lock()
	_, open := x.t.pending[x.id]
	delete(x.t.pending, x.id)
	x.t.settleLocked(x, nil, err)
	body := x.body
	x.t.mu.Unlock()
	if body != nil {
		body.end(err)
	}
	if open && x.sent {
		// No caller waits for an abort, and a failed write makes every later request fail.
		_ = x.t.writeLine(context.Background(), encode(&line{ID: x.id, Abort: true}), func() {})
	}
}

// response returns the reply as net/http has it.
func (x *exchange) response(req *http.Request) *http.Response {
	l := x.reply
	r := &http.Response{
		StatusCode: l.Status, Status: fmt.Sprintf("%d %s", l.Status, http.StatusText(l.Status)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: req,
	}
	if l.Stream {
		r.Header.Set("Content-Type", mimeEvents)
		r.ContentLength = -1
		x.body.watch(req.Context())
		r.Body = x.body
	} else {
		b := []byte(l.Body)
		if b != nil {
			r.Header.Set("Content-Type", mimeJSON)
		} else if l.Text != nil {
			b = []byte(*l.Text)
			r.Header.Set("Content-Type", "text/plain; charset=utf-8")
		}
		r.ContentLength = int64(len(b))
		r.Body = io.NopCloser(bytes.NewReader(b))
	}
	for name, v := range l.Headers {
		r.Header.Set(name, v)
	}
	return r
}

// Read reads the lines of the server until r ends. Then it fails all requests whose reply is
// not complete, with io.ErrUnexpectedEOF, and every later one. It returns nil at the end of
// r. A line that is too long, and one that fails to parse, is passed to BadLine.
func (t *Transport) Read(r io.Reader) error {
	in := lines.NewReader(r, 0)
	defer in.Release()
	for {
		b, err := in.Next()
		if err == nil {
			err = t.Handle(b)
		} else if !errors.Is(err, lines.ErrTooLong) {
			if errors.Is(err, io.EOF) {
				t.Close(io.ErrUnexpectedEOF)
				return nil
			}
			t.Close(err)
			return err
		}
		if err == nil {
			continue
		}
		if t.BadLine == nil {
			t.Close(err)
			return err
		}
		t.BadLine(bytes.Clone(b), err)
	}
}

// Close fails all requests whose reply is not complete, and every later one, with err.
func (t *Transport) Close(err error) {
	t.mu.Lock()
	t.err = cmp.Or(t.err, err)
	open := make([]*exchange, 0, len(t.pending))
	for _, x := range t.pending {
		open = append(open, x)
	}
	t.mu.Unlock()
	for _, x := range open {
		t.fail(x, err)
	}
}

// fail ends an exchange with an error.
func (t *Transport) fail(x *exchange, err error) {
	t.mu.Lock()
	delete(t.pending, x.id)
	t.settleLocked(x, nil, err)
	body := x.body
	t.mu.Unlock()
	if body != nil {
		body.end(err)
	}
}

// Handle handles one line of the server, with or without its line end, and does not keep
// it. A line of the wrong form that has the id of a request fails that request. Handle
// returns ErrLine and ErrUnknownID for a line that concerns no request. It blocks
// while the reader of a stream is far behind.
func (t *Transport) Handle(b []byte) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	l, err := decodeLine(b)
	t.mu.Lock()
	x, last := t.pending[l.ID], t.last
	t.mu.Unlock()
	switch {
	case x == nil && err != nil:
		return err
	case err == nil && !l.isReply():
		return fmt.Errorf("%w: it has no known member", ErrLine)
	case x == nil && l.ID > 0 && l.ID <= last:
		return nil // of a request that was aborted
	case x == nil && l.ID == 0:
		return fmt.Errorf("%w: it has no id", ErrLine)
	case x == nil:
		return fmt.Errorf("%w: %d", ErrUnknownID, l.ID)
	case err != nil:
		t.fail(x, fmt.Errorf("a part of the reply cannot be read: %w", err))
		return nil
	}
	if err := x.handle(&l); err != nil {
		t.fail(x, err)
	}
	return nil
}

// isReply reports whether a line has a member that makes it a part of a reply.
func (l *line) isReply() bool {
	return l.Status != 0 || l.Error != "" || l.End || l.Data != nil || l.Text != nil || l.Comment != nil
}

// handle handles a line of a reply.
func (x *exchange) handle(l *line) error {
	switch {
	case l.Error != "":
		return errors.New(l.Error)
	case x.body == nil:
		if l.Status < 100 || l.Status > 999 {
			return fmt.Errorf("%w: the reply has no status", ErrLine)
		}
		x.t.settle(x, l, nil)
		return nil
	case l.Status != 0:
		return fmt.Errorf("%w: the reply has two statuses", ErrLine)
	case l.End:
		x.t.mu.Lock()
		delete(x.t.pending, x.id)
		x.t.mu.Unlock()
		x.body.end(io.EOF)
		return nil
	}
	var b bytes.Buffer
	if l.Comment != nil {
		fmt.Fprintf(&b, ": %s\n\n", strings.ReplaceAll(*l.Comment, "\n", " "))
	}
	data := string(l.Data)
	if l.Text != nil {
		data = *l.Text
	}
	if l.Data != nil || l.Text != nil {
		if l.Event != "" {
			fmt.Fprintf(&b, "event: %s\n", strings.ReplaceAll(l.Event, "\n", " "))
		}
		for part := range strings.SplitSeq(data, "\n") {
			fmt.Fprintf(&b, "data: %s\n", part)
		}
		b.WriteByte('\n')
	}
	x.body.append(b.Bytes())
	return nil
}
