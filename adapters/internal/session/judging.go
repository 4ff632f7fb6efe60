package session

import (
	"context"

	"github.com/turnspec/turnspec/adapters"
)

// Judging is the work of a Judge on an open question. While the Judge decides,
// the user's answer is held back. The zero Judging is one that does not run.
type Judging struct {
	cancel  func() // nil if no Judge runs
	answers []func()
}

// Start calls decide in its own goroutine and then apply under the session's lock,
// followed by the answers that were held back.
func (j *Judging) Start(h Host, decide func(context.Context) adapters.Verdict, apply func(adapters.Verdict)) {
	j.cancel = h.Go(func(ctx context.Context) func() {
		v := decide(ctx)
		return func() {
			j.cancel = nil
			apply(v)
			j.releaseAnswers()
		}
	})
}

// Hold keeps an answer until the Judge has decided. It returns false if no Judge
// runs.
func (j *Judging) Hold(answer func()) bool {
	if j.cancel == nil {
		return false
	}
	j.answers = append(j.answers, answer)
	return true
}

// Stop cancels the Judge because its question was closed. The answers that were
// held back then fail, because their question is unknown.
func (j *Judging) Stop() {
	if j.cancel != nil {
		j.cancel()
		j.cancel = nil
		j.releaseAnswers()
	}
}

func (j *Judging) releaseAnswers() {
	for _, answer := range j.answers {
		answer()
	}
	j.answers = nil
}
