package curve

import (
	"context"
	"fmt"

	"github.com/turnspec/turnspec/conformance/lab/bench"
)

// Deltas measures a subject on one turn of n deltas that come as fast as it reads. cfg holds
// the subject and its case. Memory is the most that was held.
func Deltas(ctx context.Context, cfg bench.Config, n int) (Point, error) {
	cfg.Loads = []bench.Load{{Name: "deltas", Deltas: n, Sessions: 1}}
	figure, err := measure(ctx, cfg)
	if err != nil {
		return Point{}, err
	}
	return Point{N: n, CPU: figure("deltas", "cpu") * float64(n), Wall: float64(n) / figure("deltas", "rate"), Memory: figure("deltas", "memory")}, nil
}

// Sessions of the curve share stand-ins, and each has a short turn.
const (
	share         = 50
	sessionDeltas = 20
	sessionRate   = 10
)

// Sessions measures n sessions at once, each with a turn of 20 deltas in two seconds. Memory
// is what all of them hold before their turns.
func Sessions(ctx context.Context, cfg bench.Config, n int) (Point, error) {
	l := bench.Load{Name: "turns", Deltas: sessionDeltas, Rate: sessionRate, Sessions: n, Share: share}
	idle := l
	idle.Name, idle.Idle = "idle", true
	cfg.Loads = []bench.Load{l, idle}
	figure, err := measure(ctx, cfg)
	if err != nil {
		return Point{}, err
	}
	return Point{
		N: n, CPU: figure("turns", "cpu") * float64(n*sessionDeltas), Wall: figure("turns", "delay-p99"),
		Memory: figure("idle", "idle-memory") * float64(n),
	}, nil
}

// measure runs the loads once, without controls, and returns the subject's figures.
func measure(ctx context.Context, cfg bench.Config) (func(load, name string) float64, error) {
	cfg.Repeats, cfg.Controls = 1, []string{}
	d, err := cfg.Run(ctx)
	if err != nil {
		return nil, err
	}
	s := cfg.Subjects[0]
	for _, l := range cfg.Loads {
		if lost := d.Find(s.Runtime(), l.Name, s.Name(), "lost"); lost != nil && lost.Samples[0] > 0 {
			return nil, fmt.Errorf("%s: %g deltas did not come", s.Name(), lost.Samples[0])
		}
	}
	return func(load, name string) float64 {
		if found := d.Find(s.Runtime(), load, s.Name(), name); found != nil {
			return found.Samples[0]
		}
		return 0
	}, nil
}
