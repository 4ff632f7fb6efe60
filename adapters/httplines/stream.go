package httplines

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// stream is the body of a streamed reply.
type stream struct {
	x      *exchange
	mu     sync.Mutex
	change sync.Cond
	data   []byte
	err    error // after data
	cancel func() bool
}

func newStream(x *exchange) *stream {
	s := &stream{x: x, cancel: func() bool { return false }}
	s.change.L = &s.mu
	return s
}

// watch aborts the request when its context ends.
func (s *stream) watch(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { s.x.abort(context.Cause(ctx)) })
	s.mu.Lock()
	s.cancel = stop
	s.mu.Unlock()
}

// append adds data. It blocks while there is too much.
func (s *stream) append(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.data) > maxBuffered && s.err == nil {
		s.change.Wait()
	}
	if s.err == nil {
		s.data = append(s.data, b...)
		s.change.Broadcast()
	}
}

// end ends the stream with an error, which Read returns after all data.
func (s *stream) end(err error) {
	s.mu.Lock()
	s.err = cmp.Or(s.err, err)
	stop := s.cancel
	s.change.Broadcast()
	s.mu.Unlock()
	stop()
}

// Read implements io.Reader.
func (s *stream) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.data) == 0 && s.err == nil && len(b) > 0 {
		s.change.Wait()
	}
	if len(s.data) == 0 {
		return 0, s.err
	}
	n := copy(b, s.data)
	if s.data = s.data[n:]; len(s.data) == 0 {
		s.data = slices.Clip(s.data)
	}
	s.change.Broadcast()
	return n, nil
}

// Close implements io.Closer. It aborts the request if the reply is not complete.
func (s *stream) Close() error {
	s.x.abort(errClosed)
	s.mu.Lock()
	s.data = nil
	stop := s.cancel
	s.mu.Unlock()
	stop()
	return nil
}

var errClosed = errors.New("the body was closed")
