package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// errRaced is returned by a transaction if another program created one of its sessions
// at the same time. The transaction is tried again.
var errRaced = errors.New("another program created the session at the same time")

// isRefusal reports whether a request is wrong, as opposed to a database failure.
func isRefusal(err error) bool {
	_, conflict := errors.AsType[*eventlog.ConflictError](err)
	_, gap := errors.AsType[*eventlog.GapError](err)
	return conflict || gap || errors.Is(err, eventlog.ErrUnknownSession)
}

// isTransient reports whether it helps to try again: the server restarts, the connection
// broke, or another transaction was in the way.
func isTransient(err error) bool {
	if errors.Is(err, errRaced) {
		return true
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "40001", "40P01", // serialization failure, deadlock
			"57P01", "57P02", "57P03", // the server ends, or has not begun
			"53300": // too many connections
			return true
		}
		return strings.HasPrefix(e.Code, "08")
	}
	if _, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		return false
	}
	return !errors.Is(err, eventlog.ErrCorrupt) && !errors.Is(err, eventlog.ErrNewer) && !isRefusal(err)
}

// explainError adds where the log is, the meaning and the next step to an error.
func (l *Log) explainError(op string, err error) error {
	if err == nil || isRefusal(err) {
		return err
	}
	var kind error
	var todo string
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case "55P03":
			kind, todo = eventlog.ErrBusy, "another program appends to the session; try again"
		case "53100", "53200":
			kind, todo = eventlog.ErrFull, "free some space on the server and append the same again; nothing that was stored is lost"
		case "42501", "25006":
			kind, todo = eventlog.ErrReadOnly, "grant the user the right to write the tables, and connect to the primary server"
		case "XX001", "XX002":
			kind, todo = eventlog.ErrCorrupt, "keep a copy of the data directory before you repair it"
		}
	}
	if kind == nil && isTransient(err) {
		kind, todo = eventlog.ErrBusy, "is the server running? Try again"
	}
	if kind == nil {
		return fmt.Errorf("%s: %s: %w", l.name, op, err)
	}
	return fmt.Errorf("%s: %s: %w: %s (%w)", l.name, op, kind, todo, err)
}
