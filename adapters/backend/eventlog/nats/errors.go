package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// errRaced is returned if another program appended to the session at the same time.
// The append is tried again.
var errRaced = errors.New("another program appended to the session at the same time")

// errBehind is returned by a read that a server answered which does not hold all yet. The
// read is tried again.
var errBehind = errors.New("the server that answers is behind")

// isWrongLast reports whether the server refused a message because another one is the
// last of its subject.
func isWrongLast(err error) bool {
	e, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// isTransient reports whether it helps to try again: the server restarts, the connection
// broke, or another program was in the way.
func isTransient(err error) bool {
	if e, ok := errors.AsType[*jetstream.APIError](err); ok {
		return e.Code == 503 && !isFull(err) && !errors.Is(err, jetstream.ErrJetStreamNotEnabled) && !errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
	}
	for _, known := range []error{
		errRaced, errBehind, nats.ErrNoResponders, nats.ErrTimeout, nats.ErrDisconnected, nats.ErrReconnectBufExceeded, nats.ErrNoServers,
		nats.ErrConnectionReconnecting, nats.ErrStaleConnection, jetstream.ErrNoStreamResponse, jetstream.ErrServerShutdown, context.DeadlineExceeded,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// Codes of JetStream's errors that say that there is no room.
const (
	codeNoMemory   = 10028
	codeNoStorage  = 10047
	codeMaxBytes   = 10077
	codeMaxStorage = 10002
	codeResources  = 10023 // of the server, as by max_file_store
)

func isFull(err error) bool {
	e, ok := errors.AsType[*jetstream.APIError](err)
	return ok && slices.Contains([]jetstream.ErrorCode{codeNoMemory, codeNoStorage, codeMaxBytes, codeMaxStorage, codeResources}, e.ErrorCode)
}

// explainError adds where the log is, the meaning and the next step to an error.
func (l *Log) explainError(op string, err error) error {
	_, conflict := errors.AsType[*eventlog.ConflictError](err)
	_, gap := errors.AsType[*eventlog.GapError](err)
	if err == nil || conflict || gap {
		return err
	}
	if isFull(err) {
		return fmt.Errorf("%s: %s: %w: free some space on the server, or raise the limits of the account and of the stream, and append the same again (%w)", l.name, op, eventlog.ErrFull, err)
	}
	if isTransient(err) {
		return fmt.Errorf("%s: %s: %w: is the server running, with JetStream? Try again (%w)", l.name, op, eventlog.ErrBusy, err)
	}
	return fmt.Errorf("%s: %s: %w", l.name, op, err)
}
