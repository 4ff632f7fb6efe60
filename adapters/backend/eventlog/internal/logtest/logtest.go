// Package logtest tests implementations of eventlog.Log against its contract.
//
// A test of a store calls Run:
//
//	func TestLog(t *testing.T) {
//		logtest.Run(t, logtest.Store{Open: func() (eventlog.Log, error) { return mystore.Open(…) }})
//	}
package logtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// Store opens the logs to test.
type Store struct {
	// Open creates an empty log.
	Open func() (eventlog.Log, error)
	// Reopen opens the contents of a closed log again. If it is nil, the
	// store's logs end with the program and Durable checks are skipped.
	Reopen func(closed eventlog.Log) (eventlog.Log, error)
	// Timeout limits one check: 60s if zero. A check that takes longer fails,
	// because the store probably hangs.
	Timeout time.Duration
}

// Check is one rule of the contract.
type Check struct {
	ID, Sentence string
	Durable      bool // applies only to stores with Reopen
	judge        func(*probe)
}

// Checks returns all rules.
func Checks() []Check {
	return []Check{
		{"append.kept", "Read returns the appended events byte for byte in the order of seq, also if all have the same time.", false, appendKept},
		{"append.again", "Appending the same events again, all or some of them, changes nothing.", false, appendAgain},
		{"append.conflict", "Append of another event with a stored seq returns a ConflictError with session and seq, and changes nothing.", false, appendConflict},
		{"append.gap", "Append of a seq that leaves events out returns a GapError with session, last seq and seq, and changes nothing.", false, appendGap},
		{"append.invalid", "Append of an event that could not be read back returns an InvalidError and changes nothing.", false, appendInvalid},
		{"append.prefix", "If an append fails, at most a prefix of it is stored, and it can be repeated.", false, appendPrefix},
		{"append.copies", "The log stores a copy of the events that it is given.", false, appendCopies},
		{"append.concurrent", "Concurrent appends, to many sessions or of the same events to one, store each event once.", false, appendConcurrent},
		{"append.cancelled", "If its context is done, Append returns the context's error and leaves the stored events intact.", false, appendCancelled},
		{"session.apart", "Sessions with equal seqs do not mix, also if one append holds several.", false, sessionsApart},
		{"session.info", "Sessions and Session return runtime, provider session, title, first and last time and last position.", false, sessionInfo},
		{"session.unknown", "A session that does not exist has no events, and Session returns ErrUnknownSession.", false, sessionUnknown},
		{"read.cursor", "Pages of any size from any seq on, joined, are the events stored after it.", false, readCursor},
		{"read.bounded", "Without a limit a page holds a few MiB at most, and at least one event.", false, readBounded},
		{"follow.joins", "Follow emits the stored and then the new events, each once and without a gap, during concurrent appends.", false, followJoins},
		{"follow.after", "Each loop over Follow begins after the given seq.", false, followAfter},
		{"follow.begins", "Follow waits for a session that does not exist yet, and emits nothing for the events of another.", false, followBegins},
		{"follow.wakes", "Follow emits an event that is appended after it has read all and before it waits.", false, followWakes},
		{"follow.slow", "A follower that does not read blocks no append, and receives all events afterwards.", false, followSlow},
		{"follow.ends", "Follow ends with the context's error if that is done, and with ErrClosed if the log is closed.", false, followEnds},
		{"snapshot.before", "Snapshot returns the last one of its kind and session at or before a seq, and 0 if there is none.", false, snapshotBefore},
		{"snapshot.replaced", "A snapshot of the same kind at the same seq is replaced.", false, snapshotReplaced},
		{"snapshot.ahead", "PutSnapshot after the last event returns a GapError.", false, snapshotAhead},
		{"snapshot.copies", "The log stores a copy of a snapshot and returns a copy.", false, snapshotCopies},
		{"media.kept", "Media returns the bytes of a medium and what they are, also if they are none or millions.", false, mediaKept},
		{"media.again", "If a session holds the bytes of a medium, PutMedia changes nothing.", false, mediaAgain},
		{"media.apart", "Media of another session, or with another hash, are unknown.", false, mediaApart},
		{"media.invalid", "PutMedia rejects bytes that are not of their reference, that are too many, or of a session without events.", false, mediaInvalid},
		{"media.copies", "The log stores a copy of a medium and returns a copy.", false, mediaCopies},
		{"media.listed", "ListMedia returns each medium of the session once, in the order of the hashes.", false, mediaListed},
		{"owner.kept", "Owner and Owners return what PutOwner stored, also for a session without events, and no owner otherwise.", false, ownerKept},
		{"owner.stays", "If a session has an owner, PutOwner of another one returns ErrOwned and changes nothing; the same one succeeds.", false, ownerStays},
		{"owner.first", "Of concurrent calls of PutOwner with different owners for a session, one succeeds.", false, ownerFirst},
		{"close.closed", "After Close each method returns ErrClosed, and Close may be called again.", false, closeClosed},
		{"durable.reopened", "A log that is opened again has its events, sessions, snapshots, media and owners and accepts more.", true, durableReopened},
	}
}

// Run tests a store against every rule that applies to it, each in a subtest.
func Run(t *testing.T, s Store) {
	t.Helper()
	for _, c := range Checks() {
		t.Run(c.ID, func(t *testing.T) {
			if c.Durable && s.Reopen == nil {
				t.Skip("the store has no Reopen")
			}
			if err := c.Run(t.Context(), s); err != nil {
				t.Errorf("%s\n%v", c.Sentence, err)
			}
		})
	}
}

// Run tests a store against this rule. It returns nil or how the rule is broken.
func (c Check) Run(ctx context.Context, s Store) error {
	timeout := cmp.Or(s.Timeout, time.Minute)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	p := &probe{ctx: ctx, store: s}
	done := make(chan error, 1)
	go func() {
		defer func() {
			switch r := recover().(type) {
			case nil:
				done <- errors.Join(p.closeLogs()...)
			case brokenError:
				_ = p.closeLogs() // the first error counts
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
	// A store that ignores its context leaves its goroutine behind.
	select {
	case err := <-done:
		if err == nil {
			err = errors.New("it succeeded after its deadline")
		}
		return fmt.Errorf("not done within %v: %w", timeout, err)
	case <-time.After(timeout):
		return fmt.Errorf("hung: not done within %v, and it ignored its context", timeout)
	}
}

// probe is one run of a check.
type probe struct {
	ctx   context.Context
	store Store
	logs  []eventlog.Log
}

// brokenError is the panic value that ends a check whose rule is broken.
type brokenError struct{ error }

func (p *probe) failf(format string, args ...any) {
	panic(brokenError{fmt.Errorf(format, args...)})
}

// noError ends the check if err is not nil.
func (p *probe) noError(err error, what string) {
	if err != nil {
		p.failf("%s: %w", what, err)
	}
}

// pauseBriefly lets other goroutines reach the point where they wait. No check may
// depend on it.
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
