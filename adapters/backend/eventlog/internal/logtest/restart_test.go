package logtest_test

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/internal/logtest"
	"github.com/turnspec/turnspec/adapters/event"
)

// unclosed is a Memory that several programs seem to share.
type unclosed struct{ eventlog.Log }

func (unclosed) Close() error { return nil }

func TestRestartFindsLosses(t *testing.T) {
	var restarts atomic.Int64
	for name, c := range map[string]struct {
		log    eventlog.Log
		passes bool
	}{
		"loses nothing": {&eventlog.Memory{}, true},
		"loses an acknowledged append": {brokenLog{Memory: &eventlog.Memory{}, append: func(m *eventlog.Memory, ctx context.Context, events []event.Event) error {
			if restarts.Load() > 0 {
				return nil
			}
			return m.Append(ctx, events...)
		}}, false},
		"a follower skips an event": {brokenLog{Memory: &eventlog.Memory{}, follow: func(m *eventlog.Memory, ctx context.Context, session string, cursor int64) iter.Seq2[event.Event, error] {
			return alterFollow(m.Follow(ctx, session, cursor), func(e event.Event) (bool, bool) { return false, e.Seq == 2000 })
		}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			restarts.Store(0)
			timeout := time.Minute
			if !c.passes {
				timeout = time.Second // a follower waits for what never comes
			}
			err := logtest.Restartable{
				Open:    func() (eventlog.Log, error) { return unclosed{c.log}, nil },
				Restart: func() { restarts.Add(1) },
				Timeout: timeout,
			}.Run(t.Context())
			NewWithT(t).Expect(err == nil).To(Equal(c.passes), "%v", err)
		})
	}
}
