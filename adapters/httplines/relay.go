package httplines

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/turnspec/turnspec/adapters/lines"
)

// Relay sends requests that come as lines to a real server. Base is required.
type Relay struct {
	// Base is the server, as http://host:port, with a path before that of each request if
	// there is one.
	Base string
	// Client sends the requests; nil is http.DefaultClient.
	Client *http.Client
	// Header is added to each request, such as credentials that no line carries.
	Header http.Header
}

// relaying is one run of Serve.
type relaying struct {
	*Relay
	out     io.Writer
	writing sync.Mutex

	mu      sync.Mutex
	cancels map[int64]context.CancelFunc
}

// Serve reads request lines from in, sends each request, several at a time, and writes the
// replies to out. At the end of in, or when ctx ends, it aborts the requests that still
// run, and returns when they have ended. It returns the error of reading in, or nil. If in
// blocks, only its end or a failed read ends Serve.
func (r *Relay) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &relaying{Relay: r, out: out, cancels: map[int64]context.CancelFunc{}}
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	reader := lines.NewReader(in, 0)
	defer reader.Release()
	for ctx.Err() == nil {
		b, err := reader.Next()
		switch {
		case errors.Is(err, lines.ErrTooLong):
			s.write(&line{Error: err.Error()})
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(bytes.TrimSpace(b)) == 0:
			continue
		}
		l, err := decodeLine(b)
		switch {
		case err != nil:
			s.write(&line{ID: l.ID, Error: err.Error()})
		case l.Abort:
			s.mu.Lock()
			stop := s.cancels[l.ID]
			s.mu.Unlock()
			if stop != nil {
				stop()
			}
		default:
			requestCtx, ok := s.begin(ctx, l.ID)
			if !ok {
				s.write(&line{ID: l.ID, Error: "the id is in use, or not a positive number"})
				continue
			}
			running.Go(func() { s.perform(requestCtx, &l) })
		}
	}
	return nil
}

func (s *relaying) begin(ctx context.Context, id int64) (context.Context, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancels[id] != nil || id <= 0 {
		return nil, false
	}
	ctx, s.cancels[id] = context.WithCancel(ctx)
	return ctx, true
}

// perform sends a request and writes its reply. An aborted request has no more lines.
func (s *relaying) perform(ctx context.Context, l *line) {
	err := s.send(ctx, l)
	if err != nil && ctx.Err() == nil {
		s.write(&line{ID: l.ID, Error: cause(err)})
	}
	s.mu.Lock()
	s.cancels[l.ID]()
	delete(s.cancels, l.ID)
	s.mu.Unlock()
}

func (s *relaying) send(ctx context.Context, l *line) error {
	if !strings.HasPrefix(l.Path, "/") {
		return fmt.Errorf("%w: the path must begin with a slash", ErrLine)
	}
	var body io.Reader
	if l.Body != nil {
		body = bytes.NewReader(l.Body)
	} else if l.Text != nil {
		body = strings.NewReader(*l.Text)
	}
	req, err := http.NewRequestWithContext(ctx, cmp.Or(l.Method, http.MethodGet), strings.TrimSuffix(s.Base, "/")+l.Path, body)
	if err != nil {
		return err
	}
	if l.Body != nil {
		req.Header.Set("Content-Type", mimeJSON)
	}
	for name, v := range l.Headers {
		req.Header.Set(name, v)
	}
	maps.Copy(req.Header, s.Header)
	client := cmp.Or(s.Client, http.DefaultClient)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return s.reply(l.ID, resp)
}

// reply writes a reply as it arrives.
func (s *relaying) reply(id int64, resp *http.Response) error {
	first := &line{ID: id, Status: resp.StatusCode, Headers: carried(resp.Header, ReplyHeaders)}
	mime := mediaType(resp.Header)
	body := bufio.NewReader(resp.Body)
	if mime == mimeEvents || beginsEvents(body) {
		delete(first.Headers, "Content-Type")
		first.Stream = true
		s.write(first)
		if err := readEvents(body, func(e line) { e.ID = id; s.write(&e) }); err != nil {
			return err
		}
		s.write(&line{ID: id, End: true})
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	switch {
	case err != nil:
		return err
	case len(b) > maxBody:
		return errors.New("the body of the reply is too long")
	case isJSON(b):
		first.Body = b
		if mime == mimeJSON {
			delete(first.Headers, "Content-Type")
		}
	case len(b) > 0:
		text := strings.ToValidUTF8(string(b), "\uFFFD")
		first.Text = &text
	}
	s.write(first)
	return nil
}

// beginsEvents reports whether a body begins as server-sent events do. Some servers of models
// send them with another content type. JSON does not begin so.
func beginsEvents(body *bufio.Reader) bool {
	for _, field := range []string{":", "data:", "event:"} {
		if b, _ := body.Peek(len(field)); string(b) == field { // a body that ends before is none
			return true
		}
	}
	return false
}

// write writes a line. An error is that of the client, who will close its end as well.
func (s *relaying) write(l *line) {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, _ = s.out.Write(encode(l))
}

// readEvents reads server-sent events until r ends.
func readEvents(r io.Reader, emit func(line)) error {
	in := lines.NewReader(r, 0)
	defer in.Release()
	var event line
	var data []string
	flush := func() {
		if data != nil {
			if text := strings.Join(data, "\n"); isJSON([]byte(text)) {
				event.Data = []byte(text)
			} else {
				text = strings.ToValidUTF8(text, "\uFFFD")
				event.Text = &text
			}
			emit(event)
		}
		event, data = line{}, nil
	}
	for {
		b, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			flush() // some servers end without the last empty line
			return nil
		case err != nil:
			return err
		case len(b) == 0:
			flush()
			continue
		}
		name, value, _ := strings.Cut(string(b), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "":
			text := strings.ToValidUTF8(value, "\uFFFD")
			emit(line{Comment: &text})
		case "event":
			event.Event = strings.ToValidUTF8(value, "\uFFFD")
		case "data":
			data = append(data, value)
		}
	}
}

// cause is the innermost reason of an error, without addresses, which change from run to
// run.
func cause(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	for errors.Unwrap(err) != nil && !errors.Is(err, ErrLine) {
		err = errors.Unwrap(err)
	}
	return err.Error()
}
