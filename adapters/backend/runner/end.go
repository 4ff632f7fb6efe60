package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/runner/message"
)

// end ends the conversation, in the steps of the package's documentation.
func (r *runner) end(in io.Reader, reason string) error {
	ended := r.ctx.Err() == nil
	r.queue, r.waiting = nil, nil // 1: no more messages
	r.cancel(errors.New(reason))  // 2: nor anything else
	for id := range r.pending {
		r.forgetRequest(id)
	}
	r.write(r.t.Abandon(time.Now())...) // 3, 4, 5
	r.closeSession()                    // 6; the input is not selected any more: 7
	if c, ok := in.(io.Closer); ok {    // 8
		_ = c.Close() // the last thing that was read from it
	}
	if ended && !r.failed {
		r.write(message.Complete{})
	}
	r.write(message.Shutdown{Reason: reason}) // 9
	if r.failed {
		return fmt.Errorf("%w: %s", ErrFailed, reason)
	}
	return r.failure
}

// closeSession ends the session and writes its last messages.
func (r *runner) closeSession() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), r.c.CloseLimit)
	defer cancel()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = r.session.Close(ctx) // it only says that ctx was done; then events are dropped
	}()
	for e := range r.session.Events() {
		r.handleEvent(e)
	}
	<-closed
}
