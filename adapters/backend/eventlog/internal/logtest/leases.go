package logtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
)

// leaseTTL is the time of the registrations in tests that let one expire.
const leaseTTL = time.Second

// RunLeases tests leases against their contract. Open returns leases without
// registrations and claims.
func RunLeases(t *testing.T, open func() (lease.Leases, error)) {
	t.Helper()
	if err := CheckLeases(t.Context(), open); err != nil {
		t.Error(err)
	}
}

// CheckLeases does what RunLeases does. It returns nil or what is wrong.
func CheckLeases(ctx context.Context, open func() (lease.Leases, error)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	leases, err := open()
	if err != nil {
		return err
	}
	for name, check := range map[string]func(context.Context, lease.Leases) error{
		"a session has one holder":                checkOneHolder,
		"one of many claims succeeds":             checkRacingClaims,
		"sessions of a server that is gone":       checkGone,
		"a server that stalled is not registered": checkStalled,
	} {
		if err := check(ctx, leases); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// beat registers a server, with a URL made of its name.
func beat(ctx context.Context, l lease.Leases, name string, ttl time.Duration) (renewed bool, err error) {
	return l.Beat(ctx, lease.Server{Name: name, URL: "http://" + name}, ttl)
}

// wantHeld returns an error unless err names the holder.
func wantHeld(err error, session, holder string) error {
	held, is := errors.AsType[*lease.HeldError](err)
	want := lease.HeldError{Session: session, Holder: lease.Server{Name: holder, URL: "http://" + holder}}
	if !is || *held != want {
		return fmt.Errorf("want %q, got %w", want.Error(), err)
	}
	return nil
}

func checkOneHolder(ctx context.Context, l lease.Leases) error {
	const session = "a session. *>"
	for _, name := range []string{"one", "other"} {
		if renewed, err := beat(ctx, l, name, time.Hour); renewed || err != nil {
			return fmt.Errorf("the first beat of %s: renewed %v, %w", name, renewed, err)
		}
		if renewed, err := beat(ctx, l, name, time.Hour); !renewed || err != nil {
			return fmt.Errorf("the second beat of %s: renewed %v, %w", name, renewed, err)
		}
	}
	if _, held, err := l.Holder(ctx, session); held || err != nil {
		return fmt.Errorf("the holder before a claim: held %v, %w", held, err)
	}
	if err := errors.Join(l.Claim(ctx, session, "one"), l.Claim(ctx, session, "one")); err != nil {
		return err
	}
	if err := wantHeld(l.Claim(ctx, session, "other"), session, "one"); err != nil {
		return err
	}
	if s, held, err := l.Holder(ctx, session); err != nil || !held || s.Name != "one" || s.URL != "http://one" {
		return fmt.Errorf("the holder: %v, held %v, %w", s, held, err)
	}
	if err := l.Release(ctx, session, "other"); err != nil { // it does not hold it
		return err
	}
	if err := wantHeld(l.Claim(ctx, session, "other"), session, "one"); err != nil {
		return fmt.Errorf("after Release by another: %w", err)
	}
	return errors.Join(l.Release(ctx, session, "one"), l.Claim(ctx, session, "other"), l.Release(ctx, session, "other"), l.Release(ctx, session, "other"))
}

func checkRacingClaims(ctx context.Context, l lease.Leases) error {
	const servers = 8
	results := make([]error, servers)
	var group sync.WaitGroup
	for i := range servers {
		group.Go(func() {
			name := fmt.Sprint("racing ", i)
			if _, results[i] = beat(ctx, l, name, time.Hour); results[i] == nil {
				results[i] = l.Claim(ctx, "contested", name)
			}
		})
	}
	group.Wait()
	won := 0
	for _, err := range results {
		if _, held := errors.AsType[*lease.HeldError](err); err != nil && !held {
			return err
		}
		if err == nil {
			won++
		}
	}
	if won != 1 {
		return fmt.Errorf("%d of %d servers hold the session", won, servers)
	}
	return nil
}

func checkGone(ctx context.Context, l lease.Leases) error {
	for _, name := range []string{"leaves", "stays"} {
		if _, err := beat(ctx, l, name, time.Hour); err != nil {
			return err
		}
	}
	if err := errors.Join(l.Claim(ctx, "left", "leaves"), l.Claim(ctx, "kept", "stays"), l.Leave(ctx, "leaves"), l.Leave(ctx, "unknown")); err != nil {
		return err
	}
	sessions, err := l.Abandoned(ctx)
	if err != nil || len(sessions) != 1 || sessions[0] != "left" {
		return fmt.Errorf("abandoned: want left, got %q, %w", sessions, err)
	}
	if err := errors.Join(l.Claim(ctx, "left", "stays"), wantHeld(l.Claim(ctx, "left", "leaves"), "left", "stays")); err != nil {
		return err
	}
	sessions, err = l.Abandoned(ctx)
	if err != nil || len(sessions) != 0 {
		return fmt.Errorf("abandoned after a claim: want nothing, got %q, %w", sessions, err)
	}
	return nil
}

func checkStalled(ctx context.Context, l lease.Leases) error {
	if _, err := beat(ctx, l, "stalls", leaseTTL); err != nil {
		return err
	}
	if _, err := beat(ctx, l, "runs", time.Hour); err != nil {
		return err
	}
	if err := errors.Join(l.Claim(ctx, "one of it", "stalls"), l.Claim(ctx, "two of it", "stalls"), wantHeld(l.Claim(ctx, "one of it", "runs"), "one of it", "stalls")); err != nil {
		return err
	}
	for { // until the registration expires; the context bounds it
		_, held, err := l.Holder(ctx, "one of it")
		if err != nil {
			return err
		}
		if !held {
			break
		}
		time.Sleep(leaseTTL / 20)
	}
	sessions, err := l.Abandoned(ctx)
	if err != nil || len(sessions) != 2 {
		return fmt.Errorf("abandoned: want two sessions, got %q, %w", sessions, err)
	}
	if err := l.Claim(ctx, "one of it", "runs"); err != nil {
		return err
	}
	if renewed, err := beat(ctx, l, "stalls", time.Hour); renewed || err != nil {
		return fmt.Errorf("the beat after the registration expired: renewed %v, %w", renewed, err)
	}
	return errors.Join(wantHeld(l.Claim(ctx, "one of it", "stalls"), "one of it", "runs"), l.Claim(ctx, "two of it", "stalls"))
}
