package lease_test

import (
	"testing"
	"testing/synctest"

	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/logtest"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/lease"
)

func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logtest.RunLeases(t, func() (lease.Leases, error) { return &lease.Memory{}, nil })
	})
}
