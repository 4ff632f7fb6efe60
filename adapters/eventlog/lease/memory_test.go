package lease_test

import (
	"testing"
	"testing/synctest"

	"github.com/turnspec/turnspec/adapters/eventlog/lease"
	"github.com/turnspec/turnspec/adapters/eventlog/logtest"
)

func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logtest.RunLeases(t, func() (lease.Leases, error) { return &lease.Memory{}, nil })
	})
}
