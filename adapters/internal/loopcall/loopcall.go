// Package loopcall runs functions on the goroutine that owns a session's state.
package loopcall

import (
	"context"

	"github.com/turnspec/turnspec/adapters"
)

// Do sends f to the goroutine that reads inbox and returns the error that
// arrives on answer. If that goroutine ends without an answer, Do returns
// adapters.ErrClosed. If ctx is done first, Do returns its error, and f may
// still run.
func Do(ctx context.Context, inbox chan<- func(), done <-chan struct{}, f func(), answer <-chan error) error {
	select {
	case inbox <- f:
	case <-done:
		return adapters.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return Wait(ctx, done, answer)
}

// Wait returns the error that arrives on answer, or adapters.ErrClosed if done is
// closed without one, or the error of ctx.
func Wait(ctx context.Context, done <-chan struct{}, answer <-chan error) error {
	select {
	case err := <-answer:
		return err
	case <-done:
		select {
		case err := <-answer:
			return err
		default:
			return adapters.ErrClosed
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}
