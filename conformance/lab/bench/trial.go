package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/lab/bench/internal/load"
)

// Load is a load of a contender.
type Load struct {
	Name     string  `json:"name"`
	Deltas   int     `json:"deltas"`         // in each session
	Rate     float64 `json:"rate,omitzero"`  // deltas a second; 0 means as fast as they are read
	Sessions int     `json:"sessions"`       // concurrent
	Share    int     `json:"share,omitzero"` // sessions of one stand-in program; 0 means that each has its own
	Slow     float64 `json:"slow,omitzero"`  // seconds that the listener takes for an event
	Idle     bool    `json:"idle,omitzero"`  // what matters is the sessions before their turns
}

// pause is the time that the listener takes for an event.
func (l Load) pause() time.Duration { return time.Duration(l.Slow * float64(time.Second)) }

// limit bounds a trial.
func (l Load) limit() time.Duration {
	d := 60*time.Second + time.Duration(l.Sessions)*100*time.Millisecond + time.Duration(l.Deltas)*l.pause()
	if l.Rate > 0 {
		d += time.Duration(float64(l.Deltas) / l.Rate * float64(time.Second))
	}
	return d + time.Duration(l.Deltas*l.Sessions)*time.Millisecond
}

// maxOpening is how many sessions open at the same time.
const maxOpening = 8

// startSpread is the time over which the turns of sessions with a rate begin. Beginning a
// turn costs as much as many deltas, so if all began at once, nothing else would be
// measured.
const startSpread = time.Second

// runTrial runs a load with a contender once.
func runTrial(ctx context.Context, c Contender, what played, l Load) (o *observed, u usage, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.limit())
	defer cancel()
	plan := load.Plan{Case: what.id, Corpus: what.root, Deltas: l.Deltas, Rate: l.Rate, Alone: c.alone}
	runtime, _, _ := cutCase(what.id)
	post, err := load.NewPost(plan, runtime)
	if err != nil {
		return nil, u, err
	}
	defer func() { err = errors.Join(err, post.Close()) }()
	o = newObserved(plan, load.Now)
	m := newMeter(c.external)
	if l.Idle {
		o.allOpen = func() { o.idle = m.held() }
	}
	places, end, err := placesOf(ctx, post, plan, l)
	if err != nil {
		return nil, u, errors.Join(err, end())
	}
	if c.all != nil {
		u, err = c.all(ctx, places, what.text, o)
	} else {
		err = runSessions(ctx, c, places, what, o, l)
	}
	err = errors.Join(err, end())
	efforts, e := load.Efforts(post.Dir)
	var sources int64
	for _, e := range efforts {
		sources += e.CPU
	}
	measured := m.finish(sources)
	if c.all == nil {
		u = measured
	}
	return o, u, errors.Join(err, e)
}

// placesOf returns the places of all sessions. end ends what serves them.
func placesOf(ctx context.Context, post *load.Post, plan load.Plan, l Load) (places []place, end func() error, err error) {
	var hosts []*load.Host
	end = func() error {
		var err error
		for _, h := range hosts {
			err = errors.Join(err, h.Close())
		}
		return err
	}
	for i := range l.Sessions {
		p := place{
			launch: proc.Exec{}, program: post.Program, env: post.Env(os.Environ()), dir: post.Work(),
			listen: l.pause(), encode: l.Rate == 0,
		}
		if l.Share > 0 {
			if i%l.Share == 0 {
				h, err := load.NewHost(ctx, post, plan, i/l.Share)
				if err != nil {
					return nil, end, err
				}
				hosts = append(hosts, h)
			}
			p.launch, p.socket = hosts[len(hosts)-1].Launcher(), hosts[len(hosts)-1].Socket
		}
		places = append(places, p)
	}
	return places, end, nil
}

// runSessions runs all sessions concurrently.
func runSessions(ctx context.Context, c Contender, places []place, what played, o *observed, l Load) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		work   sync.WaitGroup
		wait   sync.WaitGroup
		opened = make(chan struct{})
		slots  = make(chan struct{}, maxOpening)
		errs   = make([]error, len(places))
	)
	wait.Add(len(places))
	for i, at := range places {
		w := o.watch()
		var once sync.Once
		st := &start{played: what, opened: opened}
		slots <- struct{}{}
		st.ready = func() { once.Do(func() { <-slots; wait.Done() }) }
		if l.Rate > 0 {
			st.after = startSpread * time.Duration(i) / time.Duration(len(places))
		}
		work.Go(func() {
			if errs[i] = c.perform(ctx, at, st, w); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", c.Name, errs[i])
				cancel(errs[i]) // the other sessions would fail for the same reason
			}
		})
	}
	wait.Wait()
	if o.allOpen != nil {
		o.allOpen()
	}
	before, known := newBusy()
	close(opened)
	work.Wait()
	if after, ok := newBusy(); known && ok {
		o.processors = after.processors(before)
	}
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return context.Cause(ctx)
}
