package lease

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Memory is Leases that end with the program. Its zero value is ready for use.
type Memory struct {
	mu      sync.Mutex
	servers map[string]registration
	claims  map[string]string // server, by session
}

var _ Leases = (*Memory)(nil)

type registration struct {
	server Server
	until  time.Time
}

// registered returns the registration of a server. The caller holds the lock.
func (m *Memory) registered(server string) (Server, bool) {
	r, found := m.servers[server]
	return r.server, found && time.Now().Before(r.until)
}

// Beat implements Leases.
func (m *Memory) Beat(_ context.Context, s Server, ttl time.Duration) (renewed bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, renewed = m.registered(s.Name)
	if m.servers == nil {
		m.servers = map[string]registration{}
	}
	m.servers[s.Name] = registration{s, time.Now().Add(ttl)}
	return renewed, nil
}

// Claim implements Leases.
func (m *Memory) Claim(_ context.Context, session, server string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	holder := m.claims[session]
	if s, registered := m.registered(holder); registered && holder != server {
		return &HeldError{session, s}
	}
	if m.claims == nil {
		m.claims = map[string]string{}
	}
	m.claims[session] = server
	return nil
}

// Release implements Leases.
func (m *Memory) Release(_ context.Context, session, server string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claims[session] == server {
		delete(m.claims, session)
	}
	return nil
}

// Holder implements Leases.
func (m *Memory) Holder(_ context.Context, session string) (Server, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, registered := m.registered(m.claims[session])
	if !registered {
		return Server{}, false, nil
	}
	return s, true, nil
}

// Abandoned implements Leases.
func (m *Memory) Abandoned(context.Context) (sessions []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for session, server := range m.claims {
		if _, registered := m.registered(server); !registered {
			sessions = append(sessions, session)
		}
	}
	slices.Sort(sessions)
	return sessions, nil
}

// Leave implements Leases.
func (m *Memory) Leave(_ context.Context, server string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.servers, server)
	return nil
}
