package bench

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/lab/bench/internal/load"
	"github.com/turnspec/turnspec/fixtures"
)

// changed is the reference adapter with altered events.
type changed struct {
	conformance.Subject
	with func(in <-chan event.Event, out chan<- event.Event, h *held)
}

// held is the backlog that a subject reports.
type held struct {
	mu     sync.Mutex
	queue  []event.Event
	arrive []time.Time
}

func (s changed) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	sess, err := s.Subject.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	out, h := make(chan event.Event), &held{}
	go func() {
		defer close(out)
		s.with(sess.Events(), out, h)
	}()
	return changedSession{sess, out, h}, nil
}

type changedSession struct {
	adapters.Session
	out chan event.Event
	h   *held
}

func (s changedSession) Events() <-chan event.Event { return s.out }

func (s changedSession) Backlog() (int, time.Duration) {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if len(s.h.queue) == 0 {
		return 0, 0
	}
	return len(s.h.queue), time.Since(s.h.arrive[0])
}

// changeDeltas returns a function that changes every delta.
func changeDeltas(do func(i int, d event.Delta, e event.Event, out chan<- event.Event)) func(<-chan event.Event, chan<- event.Event, *held) {
	return func(in <-chan event.Event, out chan<- event.Event, _ *held) {
		i := 0
		for e := range in {
			d, ok := e.Data.(event.Delta)
			if !ok {
				out <- e
				continue
			}
			do(i, d, e, out)
			i++
		}
	}
}

func late(_ int, _ event.Delta, e event.Event, out chan<- event.Event) {
	time.Sleep(5 * time.Millisecond)
	out <- e
}

func firstLate(i int, _ event.Delta, e event.Event, out chan<- event.Event) {
	if i == 0 {
		time.Sleep(300 * time.Millisecond)
	}
	out <- e
}

func tenthGone(i int, _ event.Delta, e event.Event, out chan<- event.Event) {
	if i%10 != 9 {
		out <- e
	}
}

func tenthTwice(i int, _ event.Delta, e event.Event, out chan<- event.Event) {
	out <- e
	if i%10 == 9 {
		out <- e
	}
}

// joins merges four deltas into one.
func joins() func(int, event.Delta, event.Event, chan<- event.Event) {
	text := ""
	return func(i int, d event.Delta, e event.Event, out chan<- event.Event) {
		if text += d.Text; i%4 != 3 {
			return
		}
		d.Text, text = text, ""
		e.Data = d
		out <- e
	}
}

// swaps reverses two deltas.
func swaps() func(int, event.Delta, event.Event, chan<- event.Event) {
	var before event.Event
	return func(i int, _ event.Delta, e event.Event, out chan<- event.Event) {
		if i%2 == 0 {
			before = e
			return
		}
		out <- e
		out <- before
	}
}

// hoards takes all events at once and passes one on every 40 ms.
func hoards(in <-chan event.Event, out chan<- event.Event, h *held) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range in {
			h.mu.Lock()
			h.queue, h.arrive = append(h.queue, e), append(h.arrive, time.Now())
			h.mu.Unlock()
		}
	}()
	for over := false; ; {
		h.mu.Lock()
		if len(h.queue) == 0 {
			h.mu.Unlock()
			if over {
				return
			}
			select {
			case <-done:
				over = true
			case <-time.After(time.Millisecond):
			}
			continue
		}
		e := h.queue[0]
		h.mu.Unlock()
		if _, ok := e.Data.(event.Delta); ok {
			time.Sleep(40 * time.Millisecond)
		}
		out <- e
		h.mu.Lock()
		h.queue, h.arrive = h.queue[1:], h.arrive[1:]
		h.mu.Unlock()
	}
}

// virtual returns the clock of a bubble.
func virtual() load.Clock {
	now := func() int64 { return time.Now().UnixNano() }
	return load.Clock{Now: now, Until: func(due int64) { time.Sleep(time.Duration(due - now())) }}
}

// inBubble measures a contender in virtual time: 100 deltas at 50 a second.
func inBubble(t *testing.T, c Contender, caseID string, l Load) map[string]float64 {
	t.Helper()
	what, err := playedOf(fixtures.Embedded(), "", caseID)
	if err != nil {
		t.Fatal(err)
	}
	script, err := load.Plan{Case: caseID, Deltas: l.Deltas, Rate: l.Rate, Alone: c.alone}.Load()
	if err != nil {
		t.Fatal(err)
	}
	var f map[string]float64
	synctest.Test(t, func(*testing.T) {
		clock := virtual()
		o := newObserved(script.Plan, clock.Now)
		var places []place
		for range l.Sessions {
			places = append(places, place{launch: script.Launcher(clock), program: "runtime", env: []string{"PATH=/bin"}, dir: "/work", listen: l.pause()})
		}
		if err = runSessions(context.Background(), c, places, what, o, l); err == nil {
			f = figures(c, l, o, usage{})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func references() map[string]conformance.Subject {
	return map[string]conformance.Subject{
		"codex/newest/text/plain": conformance.Adapter("codex", codex.New()), "claude/newest/text/plain": conformance.Adapter("claude", claude.New()),
	}
}

var calm = Load{Name: "stream", Deltas: 100, Rate: 50, Sessions: 1}

// In virtual time only waits take time, so each defect changes its figure and no
// other.
func TestDefectsChangeTheirFigures(t *testing.T) {
	const ms = 1e-3
	about := func(v float64) [2]float64 { return [2]float64{v * 0.99, v * 1.01} }
	type want map[string][2]float64
	for _, tt := range []struct {
		name string
		with func(<-chan event.Event, chan<- event.Event, *held)
		slow time.Duration
		want want
	}{
		{"the reference", nil, 0, want{}},
		{"late by 5 ms", changeDeltas(late), 0, want{"delay-p50": about(5 * ms), "delay-p90": about(5 * ms), "delay-p99": about(5 * ms), "delay-max": about(5 * ms),
			"first": about(5 * ms), "first status -> first text delta": about(5 * ms), "backlog-age": about(5 * ms)}},
		{"holds the first back", changeDeltas(firstLate), 0, want{"first": about(300 * ms), "first status -> first text delta": about(300 * ms),
			"delay-max": about(300 * ms), "delay-p90": {100 * ms, 140 * ms}, "delay-p99": {250 * ms, 300 * ms}, "backlog-age": about(300 * ms), "backlog-depth": {16, 16}}},
		{"puts four together", changeDeltas(joins()), 0, want{"per-event": {4, 4}, "delay-p50": {20 * ms, 41 * ms}, "delay-p90": about(60 * ms), "delay-p99": about(60 * ms),
			"delay-max": about(60 * ms), "first": about(60 * ms), "first status -> first text delta": about(60 * ms), "backlog-age": about(60 * ms), "backlog-depth": {4, 4}}},
		{"loses every tenth", changeDeltas(tenthGone), 0, want{"lost": {10, 10}, "backlog-depth": {10, 11}}},
		{"says every tenth twice", changeDeltas(tenthTwice), 0, want{"again": {10, 10}}},
		{"swaps", changeDeltas(swaps()), 0, want{"disordered": {50, 50}, "delay-p50": {0, 20 * ms}, "delay-p90": about(20 * ms), "delay-p99": about(20 * ms), "delay-max": about(20 * ms),
			"first": about(20 * ms), "first status -> first text delta": about(20 * ms), "backlog-age": about(20 * ms), "backlog-depth": {2, 2}}},
		{"hoards", hoards, 0, want{"held-depth": {45, 60}, "held-age": {1.9, 2.3}, "backlog-depth": {48, 55}, "backlog-age": {1.9, 2.3}, "delay-p50": {0.9, 1.2},
			"delay-p90": {1.7, 2.2}, "delay-p99": {1.9, 2.3}, "delay-max": {1.9, 2.3}, "first": {40 * ms, 43 * ms}, "first status -> first text delta": {40 * ms, 43 * ms}}},
		{"the reference, with a listener of 30 ms", nil, 30 * time.Millisecond, want{"backlog-depth": {30, 40}, "held-depth": {30, 50}, "held-age": {0.9, 1.3}, "backlog-age": {0.9, 1.3}, "delay-p50": {0.4, 0.7},
			"delay-p90": {0.8, 1.2}, "delay-p99": {0.9, 1.3}, "delay-max": {0.9, 1.3}, "first": {60 * ms, 200 * ms}, "first status -> first text delta": {30 * ms, 150 * ms},
			"submit accepted -> first event": {0, 40 * ms}, "first event -> first runtime status": {0, 70 * ms}}},
	} {
		for id, s := range references() {
			t.Run(tt.name+"/"+id, func(t *testing.T) {
				g := NewWithT(t)
				if tt.with != nil {
					s = changed{s, tt.with}
				}
				l := calm
				l.Slow = tt.slow.Seconds()
				f := inBubble(t, Subject(s), id, l)
				for name, v := range f {
					low, high := 0.0, 0.0
					switch m := MeasureNamed(name); {
					case name == "per-event", name == "backlog-depth":
						low, high = 1, 1
					case name == "held-depth":
						high = 8 // events of lines that were written together
					case m.Unit == Seconds:
						high = 0.0021 // waits of the stand-in and of this program
					}
					if w, ok := tt.want[strings.Replace(name, "wire-", "delay-", 1)]; ok { // nothing else delays the stand-in here
						low, high = w[0], w[1]
					}
					g.Expect(v).To(And(BeNumerically(">=", low), BeNumerically("<=", high)), name)
				}
				for name := range tt.want {
					g.Expect(f).To(HaveKey(name))
				}
			})
		}
	}
}

// TestHeldBackDeltasAreLate: a reader that stops for 400 ms makes 20 deltas late,
// not one.
func TestHeldBackDeltasAreLate(t *testing.T) {
	g := NewWithT(t)
	stopped := false
	s := changed{references()["codex/newest/text/plain"], changeDeltas(func(i int, _ event.Delta, e event.Event, out chan<- event.Event) {
		if i == 50 && !stopped {
			stopped = true
			time.Sleep(400 * time.Millisecond)
		}
		out <- e
	})}
	f := inBubble(t, Subject(s), "codex/newest/text/plain", calm)
	g.Expect(f["delay-max"]).To(BeNumerically("~", 0.4, 0.01))
	g.Expect(f["delay-p90"]).To(BeNumerically(">", 0.15), "a fifth of all were late")
	g.Expect(f["delay-p50"]).To(BeNumerically("<", 0.002))
}

func TestControlsInVirtualTime(t *testing.T) {
	for id := range references() {
		for _, c := range []Contender{rawControl(Raw, false), rawControl(Lines, true)} {
			g := NewWithT(t)
			f := inBubble(t, c, id, calm)
			g.Expect(f["delay-max"]).To(BeNumerically("<", 0.0005), c.Name)
			g.Expect(f).To(HaveKey("first"))
			g.Expect(f).NotTo(HaveKey("lost"))
		}
	}
}

// TestSessionsAreSpread: concurrent sessions send at different moments.
func TestSessionsAreSpread(t *testing.T) {
	g := NewWithT(t)
	l := calm
	l.Sessions, l.Deltas = 8, 20
	f := inBubble(t, Subject(references()["codex/newest/text/plain"]), "codex/newest/text/plain", l)
	g.Expect(f["lost"]).To(BeZero())
	g.Expect(f["delay-max"]).To(BeNumerically("<", 0.001))
}

// TestALostStandInIsAnError checks that a trial whose stand-in exits returns an error
// and no figure.
func TestALostStandInIsAnError(t *testing.T) {
	g := NewWithT(t)
	dies := proc.LauncherFunc(func(context.Context, proc.Command) (proc.Process, error) {
		return (proc.Exec{}).Launch(context.Background(), proc.Command{Argv: []string{"/bin/sh", "-c", "echo broken >&2; exit 3"}})
	})
	for _, c := range []Contender{rawControl(Raw, false), rawControl(Lines, true), Subject(references()["claude/newest/text/plain"])} {
		o := newObserved(load.Plan{Deltas: 3}, load.Now)
		err := runSessions(t.Context(), c, []place{{launch: dies, program: "x"}}, played{text: "hello"}, o, Load{Deltas: 3, Sessions: 1})
		g.Expect(err).To(MatchError(ContainSubstring(c.Name)))
	}
}

// BenchmarkTurn runs a whole turn of a session in this process: bytes of a stand-in,
// events, NDJSON. It reports the cost of a delta.
func BenchmarkTurn(b *testing.B) {
	for id, s := range references() {
		b.Run(s.Name(), func(b *testing.B) {
			const deltas = 1000
			what, err := playedOf(fixtures.Embedded(), "", id)
			if err != nil {
				b.Fatal(err)
			}
			script, err := load.Plan{Case: id, Deltas: deltas}.Load()
			if err != nil {
				b.Fatal(err)
			}
			l := Load{Deltas: deltas, Sessions: 1}
			at := place{launch: script.Launcher(load.Clock{}), program: "runtime", env: []string{"PATH=/bin"}, dir: "/work", encode: true}
			b.ReportAllocs()
			for b.Loop() {
				o := newObserved(script.Plan, load.Now)
				if err := runSessions(context.Background(), Subject(s), []place{at}, what, o, l); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/deltas, "ns/delta")
		})
	}
}
