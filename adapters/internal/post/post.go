// Package post hands a function to the goroutine that owns a session's state, and
// waits for what comes of it.
package post

import (
	"context"

	"github.com/turnspec/turnspec/adapters"
)

// Do hands f to the goroutine that reads inbox, and returns what then comes from
// answer. It returns adapters.ErrClosed when that goroutine has ended without an
// answer, and the context's error when the context ends first: f may still run.
func Do(ctx context.Context, inbox chan<- func(), done <-chan struct{}, f func(), answer <-chan error) error {
	select {
	case inbox <- f:
	case <-done:
		return adapters.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
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
