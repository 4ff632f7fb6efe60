package sse

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/turnspec/turnspec/conformance/plug"
)

// awayTime is how long nobody listens. It is longer than a server takes to notice that.
const awayTime = 300 * time.Millisecond

// LeaveAndReturn implements conformance.ListenerLeaver: it cuts all listeners of the
// session, and later listens again after the last event that it received.
func (x *session) LeaveAndReturn(ctx context.Context) error {
	if err := x.health.Require(plug.CanCursor); err != nil {
		return err
	}
	x.Mu.Lock()
	if n := len(x.frames); n == 0 || x.frames[n-1].id == "" {
		x.Mu.Unlock()
		return plug.Unsupported("a listener that returns, because the last event has no id")
	}
	x.leaving = true
	second := x.returning
	x.Mu.Unlock()
	x.stopReturning()
	x.Cancel()
	select {
	case <-x.left:
	case <-x.streamEnded:
		return errors.New("the stream of events ended before it was left")
	}
	if second != nil {
		<-second.ended
	}
	x.s.Show(true, "no listener for "+awayTime.String())
	select {
	case <-time.After(awayTime):
	case <-ctx.Done():
	}
	x.Mu.Lock()
	last := x.frames[len(x.frames)-1].id
	x.Mu.Unlock()
	if x.foreign != nil {
		x.listenForeign()
		return nil
	}
	if err := x.openStream(last); err != nil {
		x.endStream(err)
		return err
	}
	return nil
}

// commentCounter counts the comments of a stream, which are lines that begin with a colon.
type commentCounter struct {
	r         io.Reader
	n         *atomic.Int64
	lineStart bool
}

func (c *commentCounter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	for _, char := range b[:n] {
		if c.lineStart && char == ':' {
			c.n.Add(1)
		}
		c.lineStart = char == '\n'
	}
	return n, err
}

// hasLeft reports whether LeaveAndReturn has cut the stream that ended, and lets it go on.
func (x *session) hasLeft() bool {
	x.Mu.Lock()
	leaving := x.leaving
	x.leaving = false
	x.Mu.Unlock()
	if leaving {
		x.left <- struct{}{}
	}
	return leaving
}
