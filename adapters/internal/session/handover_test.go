package session

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// handover is an outbox, or a broken one.
type handover interface {
	add(e event.Event)
	flush()
	drop()
	finish()
}

// handoverPlan says what the goroutines of a session do: the reader, the listener, and
// those of callers.
type handoverPlan struct {
	// batches are lines that are read together, by how many events each emits; reply
	// also replies to the waiting caller.
	batches  [][]int
	calls    bool // a caller calls a command and waits for the reply
	closes   bool // a caller drops the listener at any time
	timer    bool // a timer takes the lock at any time
	asks     bool // the listener calls a command after its first event
	receives int  // how many events the listener receives before it goes away; 0: all
}

const (
	reply = 100 // added to the events of a line
)

// testLimits are the limits of the outbox of a handoverRun.
var testLimits = outboxLimits{ring: 2, unread: 3, ahead: 6}

var handoverPlans = map[string]handoverPlan{
	"a listener that receives":          {batches: [][]int{{1}, {3}, {1, 1}, {4}}},
	"a timer":                           {batches: [][]int{{5}, {1}}, timer: true},
	"a listener that is dropped":        {batches: [][]int{{3}, {1, 1}}, closes: true},
	"a listener that goes away":         {batches: [][]int{{1}, {4}, {1}}, closes: true, receives: 2},
	"a caller":                          {batches: [][]int{{3}, {1}, {1 + reply}}, calls: true},
	"a caller, and a dropped listener":  {batches: [][]int{{3}, {reply}}, calls: true, closes: true},
	"a listener that calls":             {batches: [][]int{{3}, {1, 1}, {1 + reply}, {2}}, asks: true},
	"a listener that calls too early":   {batches: [][]int{{3}, {1}, {1}, {2}, {1}, {3}, {reply}}, asks: true},
	"a listener and a caller that call": {batches: [][]int{{4}, {1}, {2 + reply}}, asks: true, calls: true},
}

// handoverRun is one run of a plan. Each field is written by one goroutine, or under the
// lock.
type handoverRun struct {
	handoverPlan
	fault   string // one of handoverFaults, or correct
	sched   *scheduler
	session *Session
	out     handover

	emitted, received int
	dropped, ended    bool            // the listener was, the last event was emitted
	paused            bool            // the reader is in waitForRoom
	line, step        int             // how many lines the reader has begun, and how often it took the lock
	done              map[string]bool // by goroutine, under the lock of the scheduler
	wrong             string
}

func (r *handoverRun) begin(s *scheduler) {
	o := newOutbox(s, testLimits)
	r.sched, r.out, r.done = s, o, map[string]bool{}
	r.session = &Session{outbox: o, waiting: map[int]func(error){}, done: make(chan struct{})}
	if r.fault != correct {
		r.out = &brokenOutbox{outbox: o, fault: r.fault}
	}
	r.start("reader", r.read)
	r.start("listener", r.listen)
	if r.calls {
		r.start("caller", r.call)
	}
	if r.timer {
		r.start("timer", func() { r.locked(func() {}) })
	}
	if r.closes {
		r.start("closer", func() { r.locked(func() { r.dropped = true; r.out.drop() }) })
	}
}

func (r *handoverRun) start(name string, f func()) {
	r.sched.start(name, func() {
		f()
		r.sched.mu.Lock()
		defer r.sched.mu.Unlock()
		r.done[name] = true
	})
}

// locked does as Session.withLock.
func (r *handoverRun) locked(f func()) {
	r.sched.Lock()
	defer r.sched.Unlock()
	f()
	r.out.flush()
}

// read does as Session.readLines, and then as Session.awaitExit.
func (r *handoverRun) read() {
	for _, batch := range r.batches {
		r.step++
		r.locked(func() { // as Session.handleLines
			for _, line := range batch {
				r.line++
				if r.fault != "does not wait for room" {
					r.paused = true
					r.session.waitForRoom()
					r.paused = false
				}
				if r.session.outbox.dropped {
					continue
				}
				r.emit(line % reply)
				if line >= reply {
					r.session.replyToAll(nil)
				}
			}
		})
	}
	r.step++
	r.locked(func() {
		r.session.replyToAll(nil)
		r.emit(1)
		r.ended = true
	})
	r.step++
	r.sched.Lock()
	defer r.sched.Unlock()
	r.line++ // waits in finish, not for room
	r.out.finish()
	close(r.session.done)
}

func (r *handoverRun) emit(n int) {
	for range n {
		if !r.dropped {
			r.emitted++
		}
		r.out.add(event.Event{Seq: int64(r.emitted), TS: time.Now()})
	}
}

func (r *handoverRun) listen() {
	for r.receives == 0 || r.received < r.receives {
		r.sched.gate("listener", "receives")
		e, open := <-r.session.outbox.ring
		if !open {
			return
		}
		if r.received++; e.Seq != int64(r.received) {
			r.wrong = fmt.Sprintf("event %d was received as number %d", e.Seq, r.received)
			return
		}
		if r.asks && r.received == 1 {
			r.call()
		}
	}
}

// call does as Session.Do.
func (r *handoverRun) call() {
	answer := make(chan struct{}, 1)
	r.locked(func() {
		if r.ended {
			answer <- struct{}{}
			return
		}
		r.session.waitSeq++
		id := r.session.waitSeq
		r.session.waiting[id] = func(error) { delete(r.session.waiting, id); answer <- struct{}{} }
		if r.fault != "a command does not wake the reader" {
			r.session.outbox.changed.Broadcast()
		}
	})
	select {
	case <-answer:
	case <-r.session.done:
	}
}

func (r *handoverRun) state() string {
	o := r.session.outbox
	return fmt.Sprint(r.line, r.step, r.emitted, r.received, len(o.ring), o.pending.length, o.sent.Load(), o.overflow, o.full, o.dropped,
		len(r.session.waiting), r.session.waitSeq, r.ended, r.done)
}

func (r *handoverRun) problem(stuck bool) string {
	o := r.session.outbox
	if b, ok := r.out.(*brokenOutbox); ok && b.panicked != nil {
		return fmt.Sprint("it panics: ", b.panicked)
	}
	if r.wrong != "" || r.sched.held && !stuck {
		return r.wrong
	}
	bound := testLimits.unread + 1 // an event that was sent and is still pending
	line := 0
	for _, batch := range r.batches {
		sum := 0
		for _, n := range batch {
			line, sum = max(line, n%reply), sum+n%reply
		}
		bound = max(bound, testLimits.unread+1+sum)
	}
	if r.calls || r.asks {
		bound = max(bound, testLimits.ahead+line+1)
	}
	everyone := len(r.done) == 2+count(r.calls, r.closes, r.timer)
	switch {
	case o.depth() > bound+1: // the last event of a session does not wait
		return fmt.Sprintf("%d events wait: more than %d", o.depth(), bound)
	case o.dropped && o.pending.length > 0:
		return "pending events outlive the drop"
	case !o.overflow && o.pending.length > 0:
		return "events wait, and no goroutine moves them"
	case r.paused && !o.full && !r.sched.isAtGate("reader"):
		return "the reader pauses, and there is room"
	case !stuck:
		return ""
	case !everyone:
		return fmt.Sprintf("a deadlock: only %v have returned", r.done)
	case o.overflow:
		return "a goroutine outlives finish"
	case !r.dropped && r.received < r.emitted:
		return fmt.Sprintf("%d of %d events were received", r.received, r.emitted)
	}
	return ""
}

func count(of ...bool) int { return len(slices.DeleteFunc(of, func(b bool) bool { return !b })) }

func (r *handoverRun) cleanUp() {
	o := r.session.outbox
	for range 3 {
		for !r.sched.tryLock() { // a broken outbox may hold it until it can send
			select {
			case <-o.ring:
			default:
			}
			runtime.Gosched()
		}
		r.dropped = true
		o.drop()
		o.pending.clear()
		select {
		case <-o.quit:
		default:
			close(o.quit)
		}
		r.session.replyToAll(nil)
		o.changed.Broadcast()
		r.sched.Unlock()
		synctest.Wait()
	}
}

// TestHandoverInEveryOrder runs every order in which reader, listener, callers and the
// outbox's goroutine can take the lock, release it, send and receive: no event is lost,
// repeated or out of order, no goroutine stays blocked, and what waits is bounded.
func TestHandoverInEveryOrder(t *testing.T) {
	for name, plan := range handoverPlans {
		t.Run(name, func(t *testing.T) {
			if racesample.Enabled && len(plan.batches) > 2 {
				t.Skip("with the race detector, the short plans: one goroutine runs at a time")
			}
			if problem := exploreHandover(t, name, correct); problem != "" {
				t.Error(problem)
			}
		})
	}
}

// TestHandoverCatches breaks the outbox and its use: each fault has its problem in some
// order.
func TestHandoverCatches(t *testing.T) {
	for fault, want := range handoverFaults {
		t.Run(cmp.Or(fault, "no fault"), func(t *testing.T) {
			g := NewWithT(t)
			problem := exploreHandover(t, want.plan, fault)
			if want.problem == "" {
				g.Expect(problem).To(BeEmpty())
			} else {
				g.Expect(problem).To(ContainSubstring(want.problem))
			}
		})
	}
}

func exploreHandover(t *testing.T, plan, fault string) (problem string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var runs, states int
		runs, states, problem = explore(func() run { return &handoverRun{handoverPlan: handoverPlans[plan], fault: fault} })
		t.Logf("%s: %d runs, %d states: %s", plan, runs, states, cmp.Or(problem, "no problem"))
	})
	return problem
}
