package loopcall_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/loopcall"
)

func TestDo(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		owner     func(inbox <-chan func(), done chan<- struct{}, answer chan<- error)
		cancelled bool
		want      error
	}{
		"replies nil":              {func(in <-chan func(), _ chan<- struct{}, _ chan<- error) { (<-in)() }, false, nil},
		"replies an error":         {func(in <-chan func(), _ chan<- struct{}, a chan<- error) { <-in; a <- refused }, false, refused},
		"already ended":            {func(_ <-chan func(), done chan<- struct{}, _ chan<- error) { close(done) }, false, adapters.ErrClosed},
		"ends without a reply":     {func(in <-chan func(), done chan<- struct{}, _ chan<- error) { <-in; close(done) }, false, adapters.ErrClosed},
		"replies and ends":         {func(in <-chan func(), done chan<- struct{}, a chan<- error) { <-in; a <- refused; close(done) }, false, refused},
		"does not receive":         {func(<-chan func(), chan<- struct{}, chan<- error) {}, true, context.Canceled},
		"receives, does not reply": {func(in <-chan func(), _ chan<- struct{}, _ chan<- error) { <-in }, true, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				inbox, done, answer := make(chan func()), make(chan struct{}), make(chan error, 1)
				go c.owner(inbox, done, answer)
				if c.cancelled {
					go func() {
						synctest.Wait()
						cancel()
					}()
				}
				if err := loopcall.Do(ctx, inbox, done, func() { answer <- nil }, answer); !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			})
		})
	}
}
