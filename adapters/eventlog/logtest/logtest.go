// Package logtest answers one question: does a store keep the contract of
// eventlog.Log?
//
// A test of the store calls Run:
//
//	func TestLog(t *testing.T) {
//		logtest.Run(t, logtest.Store{Open: func() (eventlog.Log, error) { return mystore.Open(…) }})
//	}
package logtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/eventlog"
)

// Store makes the logs that are tested.
type Store struct {
	// Open makes a new, empty log.
	Open func() (eventlog.Log, error)
	// Reopen opens again what a log held that has been closed. Nil for a store
	// whose logs end with their program: Durable checks are left out.
	Reopen func(closed eventlog.Log) (eventlog.Log, error)
	// Patience bounds one check: 60s when zero. A check that takes longer
	// failed, most likely because the store hangs.
	Timeout time.Duration
}

// Check is one rule of the contract.
type Check struct {
	ID, Sentence string
	Durable      bool // only for stores that outlive Close
	judge        func(*probe)
}

// Checks lists all rules.
func Checks() []Check {
	return []Check{
		{"append.kept", "What was appended is read back, byte for byte and in the order of seq, also where all was said within a millisecond.", false, appendKept},
		{"append.again", "Appending the same events again, whole or in part, changes nothing.", false, appendAgain},
		{"append.conflict", "Another event under a seq that is taken is a ConflictError that names session and seq, and changes nothing.", false, appendConflict},
		{"append.gap", "A seq that leaves events out is a GapError that names session, last seq and seq, and changes nothing.", false, appendGap},
		{"append.invalid", "An event that could not be read back is an InvalidError, and changes nothing.", false, appendInvalid},
		{"append.prefix", "When an append fails, what is stored of it is its beginning; the same can then be appended again.", false, appendPrefix},
		{"append.copies", "The log keeps its own copy of what it is given.", false, appendCopies},
		{"append.concurrent", "Goroutines that append at once, to many sessions or the same events to one, lose nothing and double nothing.", false, appendConcurrent},
		{"append.cancelled", "With a context that is done an append is refused with the context's error, and what is there stays whole.", false, appendCancelled},
		{"session.apart", "Sessions with equal seqs are kept apart, also when one append holds several.", false, sessionsApart},
		{"session.info", "Sessions and Session tell runtime, provider session, title, first and last time and last position.", false, sessionInfo},
		{"session.unknown", "A session that does not exist has no events, and Session says ErrUnknownSession.", false, sessionUnknown},
		{"read.cursor", "Pages of any size from any seq on, joined, are what was stored past it.", false, readCursor},
		{"read.bounded", "Without a limit a page is still bounded: it holds a few MiB at most, and one event at least.", false, readBounded},
		{"follow.joins", "Follow gives what is stored and then what comes, without a gap and without one twice, while others append.", false, followJoins},
		{"follow.after", "Follow begins past the seq that it is given, each time it is gone through.", false, followAfter},
		{"follow.begins", "Follow waits for a session that does not exist yet, and no other session wakes it wrongly.", false, followBegins},
		{"follow.wakes", "Follow emits an event that is appended after it has read all and before it waits.", false, followWakes},
		{"follow.slow", "A reader that stands still holds up no append, and then gets all.", false, followSlow},
		{"follow.ends", "Follow ends with the context's error when that is done, and with ErrClosed when the log is closed.", false, followEnds},
		{"snapshot.before", "Snapshot returns the last one of its kind and session at or before a seq, and 0 where there is none.", false, snapshotBefore},
		{"snapshot.replaced", "A snapshot of the same kind at the same seq is replaced.", false, snapshotReplaced},
		{"snapshot.ahead", "A snapshot past the last event is a GapError.", false, snapshotAhead},
		{"snapshot.copies", "The log keeps its own copy of a snapshot and gives one away.", false, snapshotCopies},
		{"close.closed", "After Close each method says ErrClosed, and Close may be called again.", false, closeClosed},
		{"durable.reopened", "A log that is opened again holds events, sessions and snapshots as before, and goes on.", true, durableReopened},
	}
}

// Run holds a store to every rule that applies to it, each in a subtest.
func Run(t *testing.T, s Store) {
	t.Helper()
	for _, c := range Checks() {
		t.Run(c.ID, func(t *testing.T) {
			if c.Durable && s.Reopen == nil {
				t.Skip("a log of this store ends with its program")
			}
			if err := c.Run(t.Context(), s); err != nil {
				t.Errorf("%s\n%v", c.Sentence, err)
			}
		})
	}
}

// Run holds a store to this rule and returns how it was broken, or nil.
func (c Check) Run(ctx context.Context, s Store) error {
	patience := s.Timeout
	if patience == 0 {
		patience = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p := &probe{ctx: ctx, store: s}
	done := make(chan error, 1)
	go func() {
		defer func() {
			switch r := recover().(type) {
			case nil:
				done <- errors.Join(p.closeLogs()...)
			case brokenError:
				_ = p.closeLogs() // what is broken has been found
				done <- r.error
			default:
				panic(r)
			}
		}()
		c.judge(p)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	// Most stores end by their context; one that does not is left behind.
	select {
	case err := <-done:
		if err == nil {
			err = errors.New("it went through in the end")
		}
		return fmt.Errorf("not done within %v: %w", patience, err)
	case <-time.After(patience):
		return fmt.Errorf("hung: not done within %v, and not ended by its context either", patience)
	}
}

// probe is one run of a check.
type probe struct {
	ctx   context.Context
	store Store
	logs  []eventlog.Log
}

// brokenError ends a check: the rule does not hold.
type brokenError struct{ error }

func (p *probe) failf(format string, args ...any) {
	panic(brokenError{fmt.Errorf(format, args...)})
}

// noError wants no error of what was done.
func (p *probe) noError(err error, what string) {
	if err != nil {
		p.failf("%s: %w", what, err)
	}
}

// pauseBriefly lets other goroutines come to where they wait. What a check finds must
// hold without it, too.
func (p *probe) pauseBriefly() { time.Sleep(20 * time.Millisecond) }

func (p *probe) openLog() eventlog.Log {
	log, err := p.store.Open()
	p.noError(err, "open")
	p.logs = append(p.logs, log)
	return log
}

func (p *probe) reopenLog(log eventlog.Log) eventlog.Log {
	p.noError(log.Close(), "close")
	log, err := p.store.Reopen(log)
	p.noError(err, "open again")
	p.logs = append(p.logs, log)
	return log
}

func (p *probe) closeLogs() (errs []error) {
	for _, log := range p.logs {
		if err := log.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close: %w", err))
		}
	}
	return errs
}
