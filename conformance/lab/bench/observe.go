package bench

import (
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/lab/bench/internal/load"
)

// The histograms range from a microsecond to two minutes, with three digits.
const (
	finest   = int64(time.Microsecond)
	coarsest = int64(2 * time.Minute)
	digits   = 3
)

// newHistogram returns a histogram of microseconds.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, coarsest/finest, digits)
}

// observed is what was observed of all sessions of a trial.
type observed struct {
	now     func() int64
	plan    load.Plan
	allOpen func()  // called when all sessions are open, before their turns; may be nil
	idle    float64 // bytes that all of them held then, if the load is Idle

	processors float64 // that all programs kept busy while the turns ran; 0 if not known

	mu       sync.Mutex
	delay    *hdrhistogram.Histogram // since the delta was due
	wire     *hdrhistogram.Histogram // since the delta was sent
	sessions []*watched
}

func newObserved(p load.Plan, now func() int64) *observed {
	return &observed{now: now, plan: p, delay: newHistogram(), wire: newHistogram()}
}

// Point is the size of a backlog at a time.
type Point struct {
	At    float64 `json:"at"`    // seconds since the first delta was due
	Depth int     `json:"depth"` // deltas that were due and had not arrived
	Age   float64 `json:"age"`   // seconds since the oldest of them was due
}

// maxPoints bounds the points of a backlog.
const maxPoints = 400

// watched is what was observed of one session.
type watched struct {
	o      *observed
	stamps load.Stamps
	piece  []byte

	// Times by the clock of load; 0 if it did not happen.
	clicked, bound, sent, accepted             int64
	firstEvent, firstStatus, firstDelta, ended int64

	seen       []bool
	count      int
	repeated   int // repeated stamps
	disordered int // stamps after a later one
	highest    int
	deltas     int // events with stamps
	origin     int64
	depth      int
	age        int64
	points     []Point
	holds      bool // the subject reports its backlog
	heldDepth  int  // events in that backlog
	heldAge    time.Duration
	terminal   bool
}

func (o *observed) watch() *watched {
	w := &watched{o: o, seen: make([]bool, o.plan.Deltas), highest: -1}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sessions = append(o.sessions, w)
	return w
}

// addText handles a piece of text that has just arrived.
func (w *watched) addText(b []byte) {
	now := w.o.now()
	w.stamps.Feed(b, func(s load.Stamp) { w.addStamp(s, now) })
}

func (w *watched) addStamp(s load.Stamp, now int64) {
	if s.Index >= len(w.seen) {
		return // not a stamp of this load
	}
	if w.firstDelta == 0 {
		w.firstDelta = now
	}
	if w.seen[s.Index] {
		w.repeated++
		return
	}
	w.seen[s.Index] = true
	if w.count++; s.Index < w.highest {
		w.disordered++
	}
	w.highest = max(w.highest, s.Index)
	w.ended = now
	if w.o.plan.Rate > 0 { // in a flood no delta is due at a time
		w.recordBacklog(s, now)
		w.o.record(now-s.Due, now-s.Sent)
	}
}

func (o *observed) record(delay, wire int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	// Values beyond the range count as its end.
	_ = o.delay.RecordValue(min(max(delay/finest, 0), coarsest/finest))
	_ = o.wire.RecordValue(min(max(wire/finest, 0), coarsest/finest))
}

// recordBacklog records how many deltas were due before this one arrived.
func (w *watched) recordBacklog(s load.Stamp, now int64) {
	rate := w.o.plan.Rate
	if w.origin == 0 {
		w.origin = s.Due - int64(float64(s.Index)/rate*float64(time.Second))
	}
	due := min(len(w.seen), int(float64(now-w.origin)*rate/float64(time.Second))+1)
	depth := max(0, due-w.count+1) // this delta waited too
	w.depth, w.age = max(w.depth, depth), max(w.age, now-s.Due)
	if every := max(1, len(w.seen)/maxPoints); s.Index%every == 0 {
		w.points = append(w.points, Point{At: float64(now-w.origin) / 1e9, Depth: depth, Age: float64(now-s.Due) / 1e9})
	}
}

// addEvent handles an event that has just arrived.
func (w *watched) addEvent(e event.Event) {
	switch d := e.Data.(type) {
	case event.SessionReady, event.SessionEnd:
		return
	case event.Delta:
		w.setFirst(&w.firstEvent)
		w.setFirst(&w.firstStatus)
		before := w.count
		w.piece = append(w.piece[:0], d.Text...)
		if w.addText(w.piece); w.count > before {
			w.deltas++
		}
		return
	case event.TurnStart, event.Thinking, event.ToolStart, event.Task, event.Plan:
		w.setFirst(&w.firstStatus)
	case event.Done, event.Error:
		w.terminal = true
	}
	w.setFirst(&w.firstEvent)
}

func (w *watched) setFirst(at *int64) {
	if *at == 0 && w.sent != 0 {
		*at = w.o.now()
	}
}

// missingDeltas returns the number of deltas that did not arrive.
func (w *watched) missingDeltas() int { return len(w.seen) - w.count }

// median returns the median of the sessions that have a value.
func (o *observed) median(of func(*watched) (int64, bool)) (float64, bool) {
	var all []int64
	for _, w := range o.sessions {
		if v, ok := of(w); ok {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	return float64(all[len(all)/2]) / 1e9, true
}
