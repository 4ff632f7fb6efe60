package worker

import (
	"context"
	"errors"
	"sync"
)

// Each calls do(i) for each i from 0 to n-1, with at most the given number of calls
// at the same time (at least one). After an error, or the end of ctx, it starts no
// further call. It returns when all calls have returned, with their errors and that
// of ctx.
func Each(ctx context.Context, workers, n int, do func(i int) error) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
		next int
	)
	for range max(1, min(workers, n)) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= n || running.Err() != nil {
					return
				}
				if err := do(i); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
					cancel()
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}
