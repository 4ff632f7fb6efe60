package turnproc

import (
	"context"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// abilities are the methods of session.Session that a Client supports.
type abilities interface {
	adapters.Session
	adapters.ModelSetter
	adapters.ModeSetter
	adapters.Withdrawer
	adapters.AllStopper
	adapters.Backlogger
}

var _ abilities = (*session.Session)(nil)

// liveSession is a session of a Client.
type liveSession struct {
	abilities
	files *Files
}

// SessionOf returns a session with the optional abilities of its Client. Close removes the
// files.
func SessionOf(s *session.Session, files *Files) adapters.Session { return liveSession{s, files} }

// Close implements adapters.Session.
func (s liveSession) Close(ctx context.Context) error {
	err := s.abilities.Close(ctx)
	s.files.Remove()
	return err
}
