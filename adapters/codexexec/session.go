package codexexec

import (
	"context"
	"crypto/rand"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/session"
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
	schema string
}

var (
	_ abilities            = (*session.Session)(nil)
	_ adapters.Transcriber = Adapter{}
)

// Close implements adapters.Session.
func (s liveSession) Close(ctx context.Context) error {
	err := s.abilities.Close(ctx)
	removeFile(s.schema)
	return err
}

// newID returns an id for a session.
func newID() string { return "codexexec-" + rand.Text() }
