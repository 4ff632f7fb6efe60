package redact

import (
	"os"
	"os/user"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// Stream redacts the wire of a recording that is still being written, a few lines at a
// time. A secret has the same number in all of them. Prose is not elided: which words are
// the vendor's is known at the end only, when [Redactor.Case] is applied to all lines.
type Stream struct {
	r       *Redactor
	secrets []word
}

// NewStream returns a stream. It rejects facts that would redact too much.
func NewStream(f Facts) (*Stream, error) {
	r, err := New(f)
	return &Stream{r: r}, err
}

// Lines rewrites the next lines in place. Deltas of one text must be passed together: a
// secret that is cut by two calls is not found.
func (s *Stream) Lines(lines []fixtures.WireLine) error {
	p := newPass(s.r)
	p.secrets = s.secrets
	if err := p.addWire("", lines); err != nil {
		return err
	}
	p.findSecrets()
	s.secrets = p.secrets
	p.replaceNames()
	return p.rewrite()
}

// IsPiece reports whether a line of the wire of any runtime is a delta.
func IsPiece(l *fixtures.WireLine) bool {
	if l.Dir != fixtures.Out {
		return false
	}
	for _, rt := range runtimes.All() {
		if l.Read(rt).Piece.Path != "" {
			return true
		}
	}
	return false
}

// Here returns the facts of this machine and its user.
func Here() Facts {
	f := Facts{UID: os.Getuid(), Tmp: os.TempDir()}
	f.Home, _ = os.UserHomeDir()
	f.Work, _ = os.Getwd()
	for _, dir := range []*string{&f.Home, &f.Work, &f.Tmp} {
		if *dir == "/" { // of a container, say
			*dir = ""
		}
	}
	if u, err := user.Current(); err == nil {
		f.User = u.Username
	}
	f.Host, _ = os.Hostname()
	return f
}
