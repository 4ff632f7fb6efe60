package eventlog

import "github.com/turnspec/turnspec/adapters/backend/eventlog/lease"

// Leases say which of several servers behind one log runs a session.
type Leases = lease.Leases

// LeaseServer is one of these servers.
type LeaseServer = lease.Server
