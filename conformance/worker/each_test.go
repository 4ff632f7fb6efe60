package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/turnspec/turnspec/conformance/worker"
)

func TestEachCallsAll(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 100} {
		var sum, running, most atomic.Int64
		err := worker.Each(t.Context(), workers, 20, func(i int) error {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			sum.Add(int64(i))
			return nil
		})
		if err != nil || sum.Load() != 190 || most.Load() > int64(max(1, workers)) {
			t.Errorf("%d workers: sum %d, %d at once, %v", workers, sum.Load(), most.Load(), err)
		}
	}
}

func TestEachStopsAtAnError(t *testing.T) {
	failed := errors.New("no")
	calls := 0
	err := worker.Each(t.Context(), 1, 20, func(i int) error {
		calls++
		if i == 2 {
			return failed
		}
		return nil
	})
	if !errors.Is(err, failed) || calls != 3 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestEachStopsWhenItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := worker.Each(ctx, 1, 20, func(int) error {
		calls++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}
