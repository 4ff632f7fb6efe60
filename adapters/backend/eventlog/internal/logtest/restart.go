package logtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// Restartable is a log whose server several programs share, and which can be restarted.
type Restartable struct {
	// Open opens the same log again each time, as another program does.
	Open func() (eventlog.Log, error)
	// Restart stops the server and starts it again.
	Restart func()
	// Timeout limits the test: 2 minutes if zero.
	Timeout time.Duration
}

// RunRestart restarts a log's server several times while a turn is recorded. The
// followers of two programs, which return after each error with the last seq that they
// received, must receive what the log holds, and the log must hold the whole turn.
func RunRestart(t *testing.T, s Restartable) {
	t.Helper()
	if err := s.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// Numbers of events, restarts, and followers of each program in a restart test.
const (
	restartEvents    = 3000
	restarts         = 3
	restartFollowers = 3
)

// Run does what RunRestart does. It returns nil or what is wrong.
func (s Restartable) Run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.Timeout, 2*time.Minute))
	defer cancel()
	var logs []eventlog.Log
	for range 2 {
		log, err := s.Open()
		if err != nil {
			return err
		}
		defer func() { _ = log.Close() }()
		logs = append(logs, log)
	}
	received := make(chan error, restartFollowers*len(logs))
	for i := range cap(received) {
		go func() { received <- followThroughErrors(ctx, logs[i%len(logs)], restartEvents) }()
	}
	if err := s.record(ctx, logs[0]); err != nil {
		return err
	}
	var errs []error
	for range cap(received) {
		errs = append(errs, <-received)
	}
	var stored []event.Event
	for e, err := range eventlog.All(ctx, logs[1], "s", 0) {
		if err != nil {
			return err
		}
		stored = append(stored, e)
	}
	if err := compareEvents(stored, sampleEvents("s", 1, restartEvents)); err != nil {
		errs = append(errs, fmt.Errorf("the log: %w", err))
	}
	return errors.Join(errs...)
}

// record records the events of the session s, and restarts the server meanwhile.
func (s Restartable) record(ctx context.Context, log eventlog.Log) error {
	const between = restartEvents / (restarts + 1)
	recorded, failed := make(chan event.Event), make(chan error, 1)
	defer close(recorded)
	recorder := eventlog.Record(log, recorded, eventlog.RecorderOptions{Queue: 64, Failed: func(err error) { failed <- err }})
	recorder.Detach()
	restarted := make(chan struct{}, restarts)
	for seq := int64(1); seq <= restartEvents; seq++ {
		if seq%between == 0 && seq < restartEvents {
			if seq > between {
				<-restarted // the last time
			}
			go func() {
				s.Restart()
				restarted <- struct{}{}
			}()
		}
		select {
		case recorded <- sampleEvent("s", seq): // blocks while the server is away
		case err := <-failed:
			return fmt.Errorf("the recorder gave up at seq %d: %w", seq, err)
		case <-ctx.Done():
			return fmt.Errorf("seq %d is not recorded: %w", seq, ctx.Err())
		}
	}
	<-restarted
	return recorder.Flush(ctx)
}

// followThroughErrors follows the session s up to seq n. After an error it returns with
// the last seq that it received.
func followThroughErrors(ctx context.Context, log eventlog.Log, n int64) error {
	var got []event.Event
	for int64(len(got)) < n {
		for e, err := range log.Follow(ctx, "s", int64(len(got))) {
			if ctx.Err() != nil {
				return fmt.Errorf("the follower received %d of %d events: %w", len(got), n, err)
			}
			if err != nil {
				time.Sleep(time.Millisecond) // a client would wait too
				break
			}
			if got = append(got, e); int64(len(got)) == n {
				break
			}
		}
	}
	return compareEvents(got, sampleEvents("s", 1, n))
}
