package codexexec

import (
	"context"
	"crypto/rand"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/internal/turnproc"
)

// abilities are the methods of session.Session that this runtime supports.
type abilities interface {
	adapters.Session
	adapters.ModelSetter
	adapters.ModeSetter
	adapters.Withdrawer
	adapters.AllStopper
	adapters.Backlogger
}

// liveSession is a session with the optional abilities of this runtime.
type liveSession struct {
	abilities
	files *turnproc.Files
}

var (
	_ abilities            = (*session.Session)(nil)
	_ adapters.Transcriber = Adapter{}
)

// Close implements adapters.Session.
func (s liveSession) Close(ctx context.Context) error {
	err := s.abilities.Close(ctx)
	s.files.Remove()
	return err
}

// newID returns an id for a session.
func newID() string { return "codexexec-" + rand.Text() }
