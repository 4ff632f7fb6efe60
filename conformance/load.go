package conformance

import (
	"errors"
	"io/fs"
	"path"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// setting is what a case is played with. It may be shared and is never changed.
type setting struct {
	scenario *fixtures.Scenario
	life     *fixtures.Lifecycle // nil: the corpus holds none
	ready    *standin.Prepared   // nil: it is read at each play
}

func (s *setting) newPlay(c *fixtures.Case, o standin.Options) (*standin.Play, error) {
	if s.ready != nil {
		return s.ready.New(o)
	}
	return standin.New(c, o)
}

// loader reads what cases are played with, each file once.
type loader struct {
	corpus    fixtures.Corpus
	scenarios map[string]*fixtures.Scenario
	lives     map[string]*fixtures.Lifecycle
}

func (l *loader) setting(c *fixtures.Case) (*setting, error) {
	scn, have := l.scenarios[c.Scenario]
	if !have {
		var err error
		if scn, err = l.corpus.LoadScenario(c.Scenario); err != nil {
			return nil, err
		}
		keep(&l.scenarios, c.Scenario, scn)
	}
	version := path.Join(c.Runtime, c.Version)
	life, have := l.lives[version]
	if !have {
		var err error
		// A corpus need not hold what the runtime answers to reads.
		if life, err = l.corpus.LoadLifecycle(c.Runtime, c.Version); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		keep(&l.lives, version, life)
	}
	return &setting{scenario: scn, life: life}, nil
}

func keep[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}
