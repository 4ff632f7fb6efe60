package eventlog_test

import (
	"testing"
	"testing/synctest"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/logtest"
)

func TestMemory(t *testing.T) {
	logtest.Run(t, logtest.Store{Open: func() (eventlog.Log, error) { return &eventlog.Memory{}, nil }})
}

// In a bubble a follower that hangs fails at once, and every goroutine must end.
func TestMemoryInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range logtest.Checks() {
			if c.Durable {
				continue
			}
			if err := c.Run(t.Context(), logtest.Store{Open: func() (eventlog.Log, error) { return &eventlog.Memory{}, nil }}); err != nil {
				t.Errorf("%s: %v", c.ID, err)
			}
		}
	})
}
