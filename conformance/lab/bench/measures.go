package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

func cutCase(id string) (runtime, version, scenario string) {
	runtime, rest, _ := strings.Cut(id, "/")
	version, scenario, _ = strings.Cut(rest, "/")
	return runtime, version, scenario
}

// Measure is one measure. Lower is better, unless More is set.
type Measure struct {
	Name string
	Unit Unit
	More bool
	Text string // its description
}

// Unit is the unit of a figure.
type Unit string

// The units.
const (
	Seconds Unit = "s"
	Bytes   Unit = "B"
	Count   Unit = ""
	Each    Unit = "/s"
)

// The phases of a client, as far as a program without a screen has them.
var phases = []struct {
	name string
	of   func(*watched) (from, to int64)
}{
	{"send click -> listener bound", func(w *watched) (int64, int64) { return w.clicked, w.bound }},
	{"listener bound -> submit accepted", func(w *watched) (int64, int64) { return w.sent, w.accepted }},
	{"submit accepted -> first event", func(w *watched) (int64, int64) { return w.accepted, w.firstEvent }},
	{"first event -> first runtime status", func(w *watched) (int64, int64) { return w.firstEvent, w.firstStatus }},
	{"first status -> first text delta", func(w *watched) (int64, int64) { return w.firstStatus, w.firstDelta }},
}

// Phase is the time between two stages that the chat page marks.
type Phase struct{ Name, From, To string }

// ScreenPhases are the phases of a turn on a screen, OpeningPhases those of a stored
// session that is opened. The listener is bound before the click on send, when the session
// is chosen.
var (
	ScreenPhases = []Phase{
		{"send click -> submit accepted", "send", "accepted"},
		{"send click -> first event", "send", "event"},
		{"first event -> first runtime status", "event", "status"},
		{"first status -> first text delta", "status", "text"},
		{"first text delta -> first text paint", "text", "paint"},
		{"send click -> first text paint", "send", "paint"},
	}
	OpeningPhases = []Phase{
		{"old-session click -> shell paint", "choose", "shell"},
		{"old-session click -> recent messages paint", "choose", "recent"},
		{"detail success -> timeline idle complete", "event", "idle"},
	}
)

// Measures returns all measures.
func Measures() []Measure {
	out := []Measure{
		{"delay-p50", Seconds, false, "from when a delta was due to the listener: half of them are as quick"},
		{"delay-p90", Seconds, false, "the same, nine of ten"},
		{"delay-p99", Seconds, false, "the same, 99 of 100"},
		{"delay-max", Seconds, false, "the same, all"},
		{"wire-p50", Seconds, false, "from when a delta was written to the listener"},
		{"wire-p99", Seconds, false, "the same, 99 of 100"},
		{"first", Seconds, false, "from sending the message to the first delta"},
		{"added-first", Seconds, false, "first, beyond that of the raw control"},
		{"start", Seconds, false, "from opening to being ready for a message"},
		{"added-start", Seconds, false, "start, beyond that of the raw control"},
		{"rate", Each, true, "deltas a second, from sending the message to the last delta"},
		{"cpu", Seconds, false, "time of processors, for a delta"},
		{"processors", Count, false, "how many processors all programs kept busy, the stand-ins too, on average of the turns"},
		{"allocs", Count, false, "allocations, for a delta"},
		{"alloc-bytes", Bytes, false, "what is allocated, for a delta"},
		{"memory", Bytes, false, "what is held at most, beyond what was held before"},
		{"idle-memory", Bytes, false, "what a session holds that is open and waits for its first message"},
		{"per-event", Count, false, "deltas in an event: more than one were put together"},
		{"lost", Count, false, "deltas that did not come"},
		{"again", Count, false, "deltas that came twice"},
		{"disordered", Count, false, "deltas that came behind a later one"},
		{"backlog-depth", Count, false, "delta backlog depth: deltas that were due and had not come, at most"},
		{"backlog-age", Seconds, false, "oldest unrendered age: how long ago the oldest of them was due, at most"},
		{"held-depth", Count, false, "events that the subject itself held, at most"},
		{"held-age", Seconds, false, "how long it held the oldest, at most"},
	}
	out = append(out,
		Measure{"step-rate", Each, true, "the whole step, from bytes to NDJSON: events a second"},
		Measure{"step-cpu", Seconds, false, "its time of processors, for an event"},
		Measure{"step-memory", Bytes, false, "its memory at the most"},
		Measure{"step-allocs", Count, false, "its allocations, for an event"},
		Measure{"step-bytes", Bytes, false, "what it allocates, for an event"},
	)
	for _, p := range phases {
		out = append(out, Measure{p.name, Seconds, false, "a phase of a client"})
	}
	for _, p := range slices.Concat(ScreenPhases, OpeningPhases) {
		if !slices.ContainsFunc(out, func(m Measure) bool { return m.Name == p.Name }) {
			out = append(out, Measure{p.Name, Seconds, false, "a phase of the chat page, by its marks"})
		}
	}
	return append(out,
		Measure{"painted", Seconds, false, "from the first delta to the frame that shows the last one"},
		Measure{"longest-frame", Seconds, false, "between two frames, at most"},
		Measure{"rows", Count, false, "elements of the chat that are mounted"},
	)
}

// figures returns the figures of a trial by the names of their measures.
func figures(c Contender, l Load, o *observed, u usage) map[string]float64 {
	f := map[string]float64{}
	if l.Idle {
		f["idle-memory"] = o.idle / float64(l.Sessions)
		return f
	}
	n := float64(l.Deltas * l.Sessions)
	us := func(v int64) float64 { return float64(v) / 1e6 }
	if l.Rate > 0 {
		f["delay-p50"], f["delay-p90"] = us(o.delay.ValueAtQuantile(50)), us(o.delay.ValueAtQuantile(90))
		f["delay-p99"], f["delay-max"] = us(o.delay.ValueAtQuantile(99)), us(o.delay.Max())
		f["wire-p50"], f["wire-p99"] = us(o.wire.ValueAtQuantile(50)), us(o.wire.ValueAtQuantile(99))
	}
	between := func(name string, of func(*watched) (int64, int64)) {
		if v, ok := o.median(func(w *watched) (int64, bool) {
			from, to := of(w)
			return max(0, to-from), from != 0 && to != 0
		}); ok {
			f[name] = v
		}
	}
	if l.Rate > 0 { // in a flood, the first delta arrives together with many others
		between("first", func(w *watched) (int64, int64) { return w.sent, w.firstDelta })
	}
	between("start", func(w *watched) (int64, int64) { return w.clicked, w.bound })
	var from, to int64
	var deltas, count, lost, again, disordered int
	for _, w := range o.sessions {
		if from == 0 || w.sent < from {
			from = w.sent
		}
		to = max(to, w.ended)
		deltas, count, lost = deltas+w.deltas, count+w.count, lost+w.missingDeltas()
		again, disordered = again+w.repeated, disordered+w.disordered
	}
	if l.Rate == 0 && to > from {
		f["rate"] = n / (float64(to-from) / 1e9)
	}
	if deltas > 0 {
		f["per-event"] = float64(count) / float64(deltas)
	}
	f["cpu"] = u.cpu / 1e9 / n
	if l.Sessions > 1 && o.processors > 0 { // of one session it is too short to measure
		f["processors"] = o.processors
	}
	if u.peak > 0 {
		f["memory"] = u.peak
	}
	if c.counts {
		f["allocs"], f["alloc-bytes"] = u.allocs/n, u.bytes/n
	}
	if c.Control {
		return f // a contender that loses a delta has failed
	}
	f["lost"], f["again"], f["disordered"] = float64(lost), float64(again), float64(disordered)
	if l.Rate > 0 {
		var depth, held int
		var age, heldAge float64
		for _, w := range o.sessions {
			depth, age = max(depth, w.depth), max(age, float64(w.age)/1e9)
			held, heldAge = max(held, w.heldDepth), max(heldAge, w.heldAge.Seconds())
		}
		f["backlog-depth"], f["backlog-age"] = float64(depth), age
		if len(o.sessions) > 0 && o.sessions[0].holds {
			f["held-depth"], f["held-age"] = float64(held), heldAge
		}
	}
	for _, p := range phases {
		between(p.name, p.of)
	}
	return f
}

// played is what a subject must do in a case: the stand-in waits for it.
type played struct {
	id, root string // the case and its corpus
	text     string // the text of the user's message
	mode     string // of permissions
}

func playedOf(corpus fixtures.Corpus, root, caseID string) (played, error) {
	_, _, scenario := cutCase(caseID)
	s, err := corpus.LoadScenario(scenario)
	if err != nil {
		return played{}, err
	}
	for _, a := range s.Client {
		if a.Verb == fixtures.VerbSend {
			return played{caseID, root, a.Text, s.InitialMode()}, nil
		}
	}
	return played{}, fmt.Errorf("scenario %s: it sends no message", scenario)
}
