package broken

import (
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// moments follows what a session does, for Mutation.Around.
type moments struct {
	mu       sync.Mutex
	now      Moment
	ended    bool
	lastVerb fixtures.Verb
	lastAt   time.Time
}

// follow returns a function that forwards events and notes what they show.
func (m *moments) follow() func(event.Event, func(event.Event)) {
	return func(e event.Event, out func(event.Event)) {
		m.mu.Lock()
		m.ended = m.ended || e.Type() == event.TypeSessionEnd
		switch {
		case e.SubagentID != "":
		case e.Type() == event.TypeTurnStart:
			m.now = Moment{Turn: true, Stopping: m.now.Stopping && m.now.Waiting}
		case e.Terminal():
			m.now.Turn, m.now.Stopping = false, false
		}
		m.mu.Unlock()
		out(e)
	}
}

// begin returns the moment at which a call comes. Calls at the same time, which is virtual, are
// made at once.
func (m *moments) begin(verb fixtures.Verb) Moment {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.now
	if m.lastAt.Equal(time.Now()) && !m.ended {
		at.AtOnce = m.lastVerb
	}
	m.lastVerb, m.lastAt = verb, time.Now()
	switch verb {
	case fixtures.VerbSend:
		m.now.Waiting = true
	case fixtures.VerbStop:
		m.now.Stopping = m.now.Turn || m.now.Waiting
	}
	return at
}

// around makes a call through Mutation.Around, if there is one.
func (s *session) around(verb fixtures.Verb, question string, call func() error) error {
	if s.a.Around == nil {
		return call()
	}
	m := s.moments.begin(verb)
	m.Allow = func() {
		if rt := runtimes.Find(s.runtime); rt != nil && rt.Replies.Allow != nil {
			line := rt.Replies.Allow(question[strings.LastIndex(question, ".")+1:]) // the adapter may put the session before it
			_, _ = s.l.last.Stdin().Write(append(line, '\n'))
		}
	}
	return s.a.Around(m, verb, call)
}
