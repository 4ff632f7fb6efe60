// Package databases opens event logs that several servers share. It brings the clients of
// PostgreSQL and NATS along, a tenth of what it takes to compile the program, so only builds
// with the tag databases import it.
package databases

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/nats"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/postgres"
)

// Log is an event log that servers share.
type Log interface {
	eventlog.Log
	lease.Leases
	fmt.Stringer
}

// Open opens the log at an address: postgres://, postgresql://, nats:// or tls://.
func Open(ctx context.Context, address string) (Log, error) {
	if strings.HasPrefix(address, "postgres") {
		return postgres.Open(ctx, address, postgres.Options{})
	}
	return nats.Open(ctx, address, nats.Options{})
}
