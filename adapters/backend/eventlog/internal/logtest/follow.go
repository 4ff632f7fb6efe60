package logtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// followN returns the first n events of a Follow.
func followN(events iter.Seq2[event.Event, error], n int) ([]event.Event, error) {
	var out []event.Event
	if n == 0 {
		return nil, nil
	}
	for e, err := range events {
		if err != nil {
			return out, fmt.Errorf("after %d of %d events: %w", len(out), n, err)
		}
		if out = append(out, e); len(out) == n {
			return out, nil
		}
	}
	return out, fmt.Errorf("it ended after %d of %d events, without an error", len(out), n)
}

func followJoins(p *probe) {
	log := p.openLog()
	const stored, half, n, last = 40, 220, 400, 3
	p.mustAppend(log, sampleEvents("s", 1, stored)...)
	afters := []int64{0, 20, stored - 1, stored + 20} // within the stored events and after them
	results := make(chan error, len(afters)+1)
	begun, halfway, upToDate := make(chan struct{}, len(afters)), make(chan struct{}), make(chan struct{}, n)
	for _, after := range afters {
		go func() {
			// A follower that begins within the stored events stops at the first
			// one until half of the appends are done.
			var got []event.Event
			var failed error
			for e, err := range log.Follow(p.ctx, "s", after) {
				if failed = err; err != nil {
					break
				}
				if got = append(got, e); len(got) == 1 && after < stored {
					begun <- struct{}{}
					select {
					case <-halfway:
					case <-p.ctx.Done():
					}
				}
				if after > stored && e.Seq == n-last {
					upToDate <- struct{}{}
				}
				if len(got) == n-int(after) {
					break
				}
			}
			if failed == nil {
				failed = compareEvents(got, sampleEvents("s", after+1, n))
			}
			if failed != nil {
				failed = fmt.Errorf("from %d on: %w", after, failed)
			}
			results <- failed
		}()
	}
	go func() {
		var err error
		for range len(afters) - 1 {
			select {
			case <-begun:
			case <-p.ctx.Done():
			}
		}
		for seq := int64(stored + 1); seq <= n && err == nil; seq += 3 {
			err = log.Append(p.ctx, append(sampleEvents("s", seq, min(seq+2, n)), sampleEvent("other", (seq-stored-1)/3+1))...)
			if seq <= half && half < seq+3 {
				close(halfway)
			}
			if seq+2 == n-last { // a follower has all events, and waits, when the last ones come
				select {
				case <-upToDate:
					time.Sleep(time.Millisecond)
				case <-p.ctx.Done():
				}
			}
		}
		results <- err
	}()
	for range len(afters) + 1 {
		p.noError(<-results, "follow")
	}
}

func followAfter(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("s", 1, 30)...)
	for _, after := range []int64{-2, 0, 1, 17, 29} {
		events := log.Follow(p.ctx, "s", after)
		for range 2 {
			want := sampleEvents("s", max(after, 0)+1, 30)
			got, err := followN(events, len(want))
			p.noError(err, "follow")
			if err := compareEvents(got, want); err != nil {
				p.failf("after %d: %w", after, err)
			}
		}
	}
}

func followBegins(p *probe) {
	log := p.openLog()
	type result struct {
		got []event.Event
		err error
	}
	results := make(chan result, 1)
	go func() {
		got, err := followN(log.Follow(p.ctx, "s", 0), 3)
		results <- result{got, err}
	}()
	p.pauseBriefly() // it probably waits by now
	for seq := int64(1); seq <= 50; seq++ {
		p.mustAppend(log, sampleEvent("other", seq))
	}
	for seq := int64(1); seq <= 3; seq++ {
		p.mustAppend(log, sampleEvent("s", seq))
	}
	r := <-results
	p.noError(r.err, "follow a session before it begins")
	if err := compareEvents(r.got, sampleEvents("s", 1, 3)); err != nil {
		p.failf("%w", err)
	}
}

// followWakes appends each event when the follower has received the one before,
// that is while it finds nothing more to read and begins to wait. No later
// append wakes a follower that missed one.
func followWakes(p *probe) {
	log := p.openLog()
	const n = 300
	p.mustAppend(log, sampleEvent("s", 1))
	received := make(chan struct{})
	results := make(chan error, 1)
	go func() {
		defer close(received)
		var got []event.Event
		for e, err := range log.Follow(p.ctx, "s", 0) {
			if err != nil {
				results <- fmt.Errorf("after %d of %d events: %w", len(got), n, err)
				return
			}
			if got = append(got, e); len(got) == n {
				break
			}
			received <- struct{}{}
		}
		results <- compareEvents(got, sampleEvents("s", 1, n))
	}()
	for seq := int64(2); seq <= n; seq++ {
		if _, ok := <-received; !ok {
			break
		}
		p.mustAppend(log, sampleEvent("s", seq))
	}
	p.noError(<-results, "follow")
}

func followSlow(p *probe) {
	log := p.openLog()
	const n = 1000
	p.mustAppend(log, sampleEvent("s", 1))
	next, stop := iter.Pull2(log.Follow(p.ctx, "s", 0))
	defer stop()
	_, err, _ := next()
	p.noError(err, "follow")
	for seq := int64(2); seq <= n; seq += 250 {
		p.mustAppend(log, sampleEvents("s", seq, min(seq+249, n))...) // the follower does not read
	}
	for seq := int64(2); seq <= n; seq++ {
		e, err, ok := next()
		if p.noError(err, "follow"); !ok {
			p.failf("it ended at seq %d", seq)
		}
		if err := compareEvent(e, sampleEvent("s", seq)); err != nil {
			p.failf("at seq %d: %w", seq, err)
		}
	}
}

func followEnds(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("s", 1, 3)...)
	follow := func(ctx context.Context, session string) <-chan error {
		done := make(chan error, 1)
		go func() {
			for _, err := range log.Follow(ctx, session, 0) {
				if err != nil {
					done <- err // a second error would be a mistake
					continue
				}
			}
			close(done)
		}()
		return done
	}
	ended := func(done <-chan error, want error) {
		select {
		case err, ok := <-done:
			if !ok || !errors.Is(err, want) {
				p.failf("want it to end with %q, got %v", want, err)
			}
		case <-p.ctx.Done():
			p.failf("it did not end with %q", want)
		}
		select {
		case err, ok := <-done:
			if ok {
				p.failf("after its error came another: %v", err)
			}
		case <-p.ctx.Done():
			p.failf("it did not end after its error, %q", want)
		}
	}
	cancelled, cancel := context.WithCancel(p.ctx)
	late, cancelLate := context.WithTimeout(p.ctx, time.Millisecond)
	defer cancelLate()
	stored, unknown, timed := follow(cancelled, "s"), follow(cancelled, "none"), follow(late, "s")
	ended(timed, context.DeadlineExceeded)
	p.pauseBriefly() // the others probably wait by now
	cancel()
	ended(stored, context.Canceled)
	ended(unknown, context.Canceled)
	ended(follow(cancelled, "s"), context.Canceled)

	stored, unknown = follow(p.ctx, "s"), follow(p.ctx, "none")
	p.pauseBriefly()
	p.noError(log.Close(), "close")
	ended(stored, eventlog.ErrClosed)
	ended(unknown, eventlog.ErrClosed)
	ended(follow(p.ctx, "s"), eventlog.ErrClosed)
}
