package perform

import (
	"errors"
	"io/fs"
	"path"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// setting is what a case is played with. It may be shared and is never changed.
type Setting struct {
	Scenario *fixtures.Scenario
	Life     *fixtures.Lifecycle // nil: the corpus holds none
	Ready    *standin.Prepared   // nil: it is read at each play
}

func (s *Setting) newPlay(c *fixtures.Case, o standin.Options) (*standin.Play, error) {
	if s.Ready != nil {
		return s.Ready.New(o)
	}
	return standin.New(c, o)
}

// loader reads what cases are played with, each file once.
type Loader struct {
	Corpus    fixtures.Corpus
	scenarios map[string]*fixtures.Scenario
	lives     map[string]*fixtures.Lifecycle
}

func (l *Loader) Setting(c *fixtures.Case) (*Setting, error) {
	scn, have := l.scenarios[c.Scenario]
	if !have {
		var err error
		if scn, err = l.Corpus.LoadScenario(c.Scenario); err != nil {
			return nil, err
		}
		keep(&l.scenarios, c.Scenario, scn)
	}
	version := path.Join(c.Runtime, c.Version)
	life, have := l.lives[version]
	if !have {
		var err error
		// A corpus need not hold what the runtime answers to reads.
		if life, err = l.Corpus.LoadLifecycle(c.Runtime, c.Version); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		keep(&l.lives, version, life)
	}
	return &Setting{Scenario: scn, Life: life}, nil
}

func keep[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}
