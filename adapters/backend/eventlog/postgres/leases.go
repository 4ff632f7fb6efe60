package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
)

var _ lease.Leases = (*Log)(nil)

// exec runs a statement with retries, and calls row for each of its rows. All times are
// those of the database's clock.
func (l *Log) exec(ctx context.Context, op, sql string, row func([][]byte) error, args ...any) error {
	return l.withReader(ctx, op, func(ctx context.Context, c *pgconn.PgConn) error {
		return query(ctx, c, sql, row, args...)
	})
}

// Beat implements lease.Leases.
func (l *Log) Beat(ctx context.Context, s eventlog.LeaseServer, ttl time.Duration) (renewed bool, err error) {
	err = l.exec(ctx, "register the server", `WITH before AS (SELECT expires > clock_timestamp() AS alive FROM turnspec_servers WHERE name = $1)
		INSERT INTO turnspec_servers (name, url, expires) VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 ms')
		ON CONFLICT (name) DO UPDATE SET url = excluded.url, expires = excluded.expires
		RETURNING coalesce((SELECT alive FROM before), false)`, func(row [][]byte) error {
		renewed = string(row[0]) == "t"
		return nil
	}, s.Name, s.URL, ttl.Milliseconds())
	return renewed, err
}

// Claim implements lease.Leases.
func (l *Log) Claim(ctx context.Context, session, server string) error {
	for {
		claimed := false
		err := l.exec(ctx, "claim a session", `INSERT INTO turnspec_claims AS c (session, server) VALUES ($1, $2)
			ON CONFLICT (session) DO UPDATE SET server = excluded.server WHERE c.server = excluded.server
				OR NOT EXISTS (SELECT FROM turnspec_servers s WHERE s.name = c.server AND s.expires > clock_timestamp())
			RETURNING 1`, func([][]byte) error {
			claimed = true
			return nil
		}, session, server)
		if err != nil || claimed {
			return err
		}
		holder, held, err := l.Holder(ctx, session)
		if err != nil {
			return err
		}
		if held && holder.Name != server {
			return &lease.HeldError{Session: session, Holder: holder}
		}
		// It was released, or its server has gone, since.
	}
}

// Release implements lease.Leases.
func (l *Log) Release(ctx context.Context, session, server string) error {
	return l.exec(ctx, "release a session", `DELETE FROM turnspec_claims WHERE session = $1 AND server = $2`, nil, session, server)
}

// Holder implements lease.Leases.
func (l *Log) Holder(ctx context.Context, session string) (s eventlog.LeaseServer, held bool, err error) {
	err = l.exec(ctx, "read a claim", `SELECT s.name, s.url FROM turnspec_claims c JOIN turnspec_servers s ON s.name = c.server
		WHERE c.session = $1 AND s.expires > clock_timestamp()`, func(row [][]byte) error {
		s, held = lease.Server{Name: string(row[0]), URL: string(row[1])}, true
		return nil
	}, session)
	return s, held, err
}

// Abandoned implements lease.Leases. It deletes the registrations that expired a day ago.
func (l *Log) Abandoned(ctx context.Context) (sessions []string, err error) {
	err = l.exec(ctx, "list claims", `DELETE FROM turnspec_servers WHERE expires < clock_timestamp() - interval '1 day'`, nil)
	if err != nil {
		return nil, err
	}
	err = l.exec(ctx, "list claims", `SELECT c.session FROM turnspec_claims c WHERE NOT EXISTS
		(SELECT FROM turnspec_servers s WHERE s.name = c.server AND s.expires > clock_timestamp()) ORDER BY c.session`, func(row [][]byte) error {
		sessions = append(sessions, string(row[0]))
		return nil
	})
	return sessions, err
}

// Leave implements lease.Leases.
func (l *Log) Leave(ctx context.Context, server string) error {
	return l.exec(ctx, "leave", `DELETE FROM turnspec_servers WHERE name = $1`, nil, server)
}
