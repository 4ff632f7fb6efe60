package post_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/post"
)

func TestDo(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		owner func(inbox <-chan func(), done chan<- struct{}, answer chan<- error)
		ends  bool // the context does
		want  error
	}{
		"done":                     {func(in <-chan func(), _ chan<- struct{}, _ chan<- error) { (<-in)() }, false, nil},
		"an error":                 {func(in <-chan func(), _ chan<- struct{}, a chan<- error) { <-in; a <- refused }, false, refused},
		"has ended":                {func(_ <-chan func(), done chan<- struct{}, _ chan<- error) { close(done) }, false, adapters.ErrClosed},
		"ends without an answer":   {func(in <-chan func(), done chan<- struct{}, _ chan<- error) { <-in; close(done) }, false, adapters.ErrClosed},
		"answers and ends":         {func(in <-chan func(), done chan<- struct{}, a chan<- error) { <-in; a <- refused; close(done) }, false, refused},
		"does not listen":          {func(<-chan func(), chan<- struct{}, chan<- error) {}, true, context.Canceled},
		"listens, does not answer": {func(in <-chan func(), _ chan<- struct{}, _ chan<- error) { <-in }, true, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				inbox, done, answer := make(chan func()), make(chan struct{}), make(chan error, 1)
				go c.owner(inbox, done, answer)
				if c.ends {
					go func() {
						synctest.Wait()
						cancel()
					}()
				}
				if err := post.Do(ctx, inbox, done, func() { answer <- nil }, answer); !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			})
		})
	}
}
