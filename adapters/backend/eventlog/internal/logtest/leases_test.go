package logtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/logtest"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
)

// brokenLeases is a lease.Memory with one defect.
type brokenLeases struct {
	*lease.Memory
	defect string
}

func (b brokenLeases) Beat(ctx context.Context, s lease.Server, ttl time.Duration) (bool, error) {
	if b.defect == "registrations do not expire" {
		ttl = 24 * time.Hour
	}
	renewed, err := b.Memory.Beat(ctx, s, ttl)
	return renewed || b.defect == "each beat is a renewal", err
}

func (b brokenLeases) Claim(ctx context.Context, session, server string) error {
	err := b.Memory.Claim(ctx, session, server)
	if err != nil && b.defect == "a claim replaces another" {
		return nil
	}
	return err
}

func (b brokenLeases) Release(ctx context.Context, session, server string) error {
	if b.defect == "anybody releases" {
		if holder, held, _ := b.Holder(ctx, session); held {
			server = holder.Name
		}
	}
	return b.Memory.Release(ctx, session, server)
}

func (b brokenLeases) Abandoned(ctx context.Context) ([]string, error) {
	if b.defect == "nothing is abandoned" {
		return nil, nil
	}
	return b.Memory.Abandoned(ctx)
}

func TestLeaseChecksFindDefects(t *testing.T) {
	for _, defect := range []string{
		"", "registrations do not expire", "each beat is a renewal", "a claim replaces another", "anybody releases", "nothing is abandoned",
	} {
		t.Run(defect, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := logtest.CheckLeases(t.Context(), func() (lease.Leases, error) { return brokenLeases{&lease.Memory{}, defect}, nil })
				NewWithT(t).Expect(err == nil).To(Equal(defect == ""), "%v", err)
			})
		})
	}
}
