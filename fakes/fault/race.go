package fault

import (
	"bytes"
	"slices"
	"time"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Race is what the client of a raced fault does: it makes calls at another moment than the
// recording's client, so that they meet a line of the runtime, or each other.
//
// A call is moved only to where the stand-in knows what the runtime does. A runtime may read a
// line of its client late, so a recorded call may come earlier: the stand-in holds it until its
// barrier. A stop that comes after the end of a turn stops nothing, which the lifecycle of a
// version holds. What neither holds is unrecorded, and not judged.
type Race struct {
	// Calls are made at once, each by a goroutine of its own, when the fault's line was
	// played, before the subject has handled that line.
	Calls []fixtures.Step
	// Nth is the number, from 1, of the scenario's step of the verb of the first call which
	// the calls replace. They are made at that step, at the latest. 0: they replace none.
	Nth int
}

// maxLate is how long before its recorded time a call is made at most: a busy runtime reads
// a line some seconds late, but not so late that a client gives up.
const maxLate = 5 * time.Second

// client distinguishes the calls of a scenario's client.
type client struct {
	verb fixtures.Verb
	// line reports whether a line of the wire is such a call.
	line func(c *lines, i int) bool
}

var (
	stops = client{fixtures.VerbStop, func(c *lines, i int) bool {
		w := &c.wire[i]
		return c.isClients(i, wire.Stop) || w.Dir == fixtures.Signal && !w.Outside && c.rt.IsStop(w.Signal)
	}}
	sends = client{fixtures.VerbSend, func(c *lines, i int) bool {
		return c.isClients(i, wire.Send) && (c.read[i].Step == nil || len(c.read[i].Step.Results) == 0)
	}}
	answers = client{fixtures.VerbAnswer, func(c *lines, i int) bool { return c.isClients(i, wire.Answer) }}
	sets    = client{fixtures.VerbSet, func(c *lines, i int) bool { return c.isClients(i, wire.Set) }}
)

func (c *lines) isClients(i int, k wire.Kind) bool {
	return c.wire[i].Dir == fixtures.In && c.read[i].Kind == k
}

// all returns the lines of the calls.
func (x client) all(c *lines) []int {
	var out []int
	for i := range c.wire {
		if x.line(c, i) {
			out = append(out, i)
		}
	}
	return out
}

// in is like all. It returns none if the lines are not the steps of the scenario, one by one: a
// runtime may have no line for a step, or several.
func (x client) in(c *lines, s *fixtures.Scenario) []int {
	steps := 0
	for _, step := range s.Client {
		if step.Verb == x.verb && (step.Op() == nil || x.verb == fixtures.VerbSet) { // stop all is an operation
			steps++
		}
	}
	if found := x.all(c); len(found) == steps {
		return found
	}
	return nil
}

// next returns the number of the first of the calls behind a place, from 1.
func (x client) next(c *lines, place int) int {
	return 1 + slices.IndexFunc(x.all(c), func(i int) bool { return i >= place })
}

// before returns the places from the client's call before a call up to that call. It returns
// none if that one opens the session: before it nothing can be called.
func (c *lines) before(call int) []int {
	for i := call - 1; i >= 0; i-- {
		w, read := &c.wire[i], &c.read[i]
		switch {
		case w.Process != c.wire[call].Process:
			return nil
		case w.Dir != fixtures.In || read.Kind == wire.Read || read.Kind == wire.Note:
		case read.Kind == wire.Open:
			return nil
		default:
			out := []int{i}
			for k := c.caused(i); k < call; k++ {
				if c.wire[k].Dir == fixtures.Out {
					out = append(out, k)
				}
			}
			return slices.DeleteFunc(out, func(k int) bool { return c.wire[call].T-c.wire[k].T > maxLate })
		}
	}
	return nil
}

// caused returns the index of the first line that a call of the client may have caused. If the
// reply to the call comes before all of them, the stand-in plays the lines before the reply before
// the call.
func (c *lines) caused(call int) int {
	read := &c.read[call]
	if read.Step == nil || !read.Step.RepliedFirst {
		return call + 1
	}
	for i := call + 1; i < len(c.wire); i++ {
		if c.wire[i].Dir == fixtures.Out && c.wire[i].Process == c.wire[call].Process && bytes.Equal(c.read[i].RepliesTo, read.ID) {
			return i
		}
	}
	return len(c.wire)
}

// inTurn returns the places of before that are in the turn that a stop stops: a stop that comes
// before the turn which the runtime began by itself stops another turn, or none.
func (c *lines) inTurn(stop int) []int {
	places, ends := c.before(stop), c.ends()
	if len(places) == 0 {
		return nil
	}
	last := -1 // the end of a turn after the call before the stop
	for _, end := range ends {
		if end > places[0] && end < stop {
			last = end
		}
	}
	if last < 0 {
		return places
	}
	begun := slices.IndexFunc(places, func(i int) bool { return i > last && c.markOf(i).part == ofBegin })
	if begun < 0 {
		return nil
	}
	return places[begun:]
}

// ends returns the lines that end a turn of the session's agent.
func (c *lines) ends() []int {
	return c.outputsWhere(func(i int) bool {
		m := c.markOf(i)
		return m.part == ofEnd && (m.thread == "" || m.thread == c.sessions[i])
	})
}

// afterEnds returns the ends of turns and the lines of output up to the client's next line.
func (c *lines) afterEnds() []int {
	var out []int
	for _, end := range c.ends() {
		for i := end; i < len(c.wire) && c.wire[i].Dir == fixtures.Out && c.wire[i].Process == c.wire[end].Process; i++ {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// each returns the places of all calls.
func each(calls []int, places func(call int) []int) []int {
	var out []int
	for _, call := range calls {
		out = append(out, places(call)...)
	}
	return out
}

// duringTurnsOf returns the messages of the session and the lines of output up to the end of
// their turns.
func (c *lines) duringTurnsOf(messages []int) []int {
	var out []int
	ends := c.ends()
	for _, m := range messages {
		out = append(out, m)
		end := slices.IndexFunc(ends, func(i int) bool { return i > m && c.wire[i].Process == c.wire[m].Process })
		for i := c.caused(m); end >= 0 && i <= ends[end]; i++ {
			if c.wire[i].Dir == fixtures.Out {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// openQuestions returns the stops of turns in which the runtime waited for an answer, and the
// lines of output behind them up to the next call. No answer came.
func (c *lines) openQuestions(stopped []int) []int {
	var out []int
	var s situation
	for i := range c.wire {
		if slices.Contains(stopped, i) && len(s.asked) > 0 {
			out = append(out, i)
			for k := i + 1; k < len(c.wire) && c.wire[k].Dir == fixtures.Out; k++ {
				out = append(out, k)
			}
		}
		s.add(c, i)
	}
	return out
}

// raced returns an operator that makes calls at each of the places.
func raced(name, doc string, places func(c *lines, s *fixtures.Scenario) []int, race func(c *lines, place int) Race) Operator {
	return Operator{
		Name: name, Kind: Raced, Doc: doc,
		placesIn: places,
		apply: func(c *lines, place int) Fault {
			r := race(c, place)
			return Fault{Line: c.wire[place].Line, Race: &r}
		},
	}
}

// moved returns a race in which calls replace the next call of the client.
func moved(x client, calls ...fixtures.Step) func(c *lines, place int) Race {
	return func(c *lines, place int) Race { return Race{Calls: calls, Nth: x.next(c, place)} }
}

// added returns a race of calls that the recording's client did not make.
func added(calls ...fixtures.Step) func(*lines, int) Race {
	return func(*lines, int) Race { return Race{Calls: calls} }
}

// stopWith returns a race of a stop and another call: the next stop of the client, or one more at
// the end of a turn.
func stopWith(other fixtures.Step) func(c *lines, place int) Race {
	return func(c *lines, place int) Race {
		r := Race{Calls: []fixtures.Step{{Verb: fixtures.VerbStop}, other}}
		if !slices.Contains(c.ends(), place) {
			r.Nth = stops.next(c, place)
		}
		return r
	}
}

// aroundStops returns the first and the last place to which each stop can be moved, and the ends
// of turns.
func aroundStops(c *lines, s *fixtures.Scenario) []int {
	out := c.ends()
	for _, call := range stops.in(c, s) {
		if at := c.inTurn(call); len(at) > 0 {
			out = append(out, at[0], at[len(at)-1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// races returns the operators that move calls of the client.
func races() []Operator {
	var (
		stop   = fixtures.Step{Verb: fixtures.VerbStop}
		finish = fixtures.Step{Verb: fixtures.VerbClose}
		answer = fixtures.Step{Verb: fixtures.VerbAnswer}
		deny   = fixtures.Step{Verb: fixtures.VerbAnswer, What: fixtures.AnswerDeny}
	)
	return []Operator{
		raced("stop-early", "The client stops a turn earlier than in the recording: right after its message, or as any later line comes.",
			func(c *lines, s *fixtures.Scenario) []int { return each(stops.in(c, s), c.inTurn) }, moved(stops, stop)),
		raced("stop-late", "The client stops a turn as the line comes that ends it, or one after that.",
			func(c *lines, _ *fixtures.Scenario) []int { return c.afterEnds() }, added(stop)),
		raced("stop-twice", "The client stops a turn by two calls at once: right after its message, before the recorded stop, or as the turn ends.",
			aroundStops, stopWith(stop)),
		raced("close-early", "The client closes the session right after a message, or as a line of the turn comes.",
			func(c *lines, s *fixtures.Scenario) []int { return c.duringTurnsOf(sends.in(c, s)) }, added(finish)),
		raced("close-with-stop", "The client stops a turn and closes the session at once: right after its message, before the recorded stop, or as the turn ends.",
			aroundStops, stopWith(finish)),
		raced("send-early", "The client sends its next message earlier than in the recording: at once with the one before, right after a stop, or as any later line comes.",
			func(c *lines, s *fixtures.Scenario) []int { return each(sends.in(c, s), c.before) }, moved(sends, fixtures.Step{Verb: fixtures.VerbSend})),
		raced("answer-twice", "The client answers a question by two calls at once.",
			answers.in, moved(answers, answer, answer)),
		raced("answer-late", "The client answers a question as the turn is being stopped, or as a line comes after that.",
			func(c *lines, s *fixtures.Scenario) []int { return c.openQuestions(stops.in(c, s)) }, added(deny)),
		raced("set-early", "The client sets the model or the mode earlier than in the recording: as the turn before ends, or as an earlier line of it comes.",
			func(c *lines, s *fixtures.Scenario) []int { return each(sets.in(c, s), c.before) }, moved(sets, fixtures.Step{Verb: fixtures.VerbSet})),
	}
}
