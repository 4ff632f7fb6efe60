package different

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

var splitsText = Adapter{
	Name: "splits-text", Sentence: "emits each letter of text, reasoning and output in an event",
	Events: each(func(e event.Event, out func(event.Event)) {
		letters := func(text string, of func(text string, last bool) event.Data) {
			all := []rune(text)
			for i, r := range all {
				e.Data = of(string(r), i == len(all)-1)
				out(e)
			}
		}
		switch d := e.Data.(type) {
		case event.Delta:
			letters(d.Text, func(text string, _ bool) event.Data { d.Text = text; return d })
		case event.Thinking:
			if d.Text == "" {
				out(e)
			}
			done := d.Done
			letters(d.Text, func(text string, last bool) event.Data { d.Text, d.Done = text, done && last; return d })
		case event.ToolOutput:
			letters(d.Text, func(text string, _ bool) event.Data { d.Text = text; return d })
		default:
			out(e)
		}
	}),
}

// batch is how long joinsDeltas collects deltas.
const batch = 10 * time.Millisecond

var joinsDeltas = Adapter{
	Name: "joins-deltas", Sentence: "joins the deltas of a block that arrive within 10 ms", Delays: true,
	Relay: func(in <-chan event.Event, send func(event.Event) bool) {
		var kept *event.Event
		timer := time.NewTimer(batch)
		defer timer.Stop()
		flush := func() {
			if kept != nil {
				send(*kept)
			}
			kept = nil
		}
		for {
			select {
			case <-timer.C:
				flush()
			case e, ok := <-in:
				if !ok {
					flush()
					return
				}
				if kept != nil && joinDelta(kept, e) {
					continue
				}
				flush()
				if _, is := e.Data.(event.Delta); is {
					kept = &e
					timer.Reset(batch)
					continue
				}
				send(e)
			}
		}
	},
}

// joinDelta adds a delta to an earlier delta of the same block, and reports whether
// it did.
func joinDelta(to *event.Event, e event.Event) bool {
	a, _ := to.Data.(event.Delta)
	b, is := e.Data.(event.Delta)
	if !is || a.BlockID != b.BlockID || a.MessageID != b.MessageID || to.Turn != e.Turn || to.SubagentID != e.SubagentID {
		return false
	}
	a.Text += b.Text
	to.Data = a
	return true
}

var swapsResults = Adapter{
	Name: "swaps-results", Sentence: "emits the results of two calls that end within 10 ms in the other order", Delays: true,
	Relay: func(in <-chan event.Event, send func(event.Event) bool) {
		var kept *event.Event
		timer := time.NewTimer(batch)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				if kept != nil {
					send(*kept)
				}
				kept = nil
			case e, ok := <-in:
				result := ok && e.Type() == event.TypeToolResult
				if kept != nil {
					first := *kept
					kept = nil
					if result && first.Turn == e.Turn && first.SubagentID == e.SubagentID {
						first.TS = e.TS
						send(e)
						send(first)
						continue
					}
					send(first)
				}
				switch {
				case !ok:
					return
				case result:
					kept = &e
					timer.Reset(batch)
				default:
					send(e)
				}
			}
		}
	},
}

// repeatsState is a subject whose whole-state events may come at any time.
var repeatsState = Adapter{
	Name: "repeats-state", Sentence: "repeats usage, queue, plan and the state of a running task",
	Events: each(func(e event.Event, out func(event.Event)) {
		out(e)
		switch d := e.Data.(type) {
		case event.Usage, event.Queue, event.Plan:
			out(e)
		case event.Task:
			if d.Status == event.TaskRunning {
				out(e)
			}
		}
	}),
}

var signalsActivity = Adapter{
	Name: "signals-activity", Sentence: "signals activity before each tool call and at the start of each turn",
	Events: each(func(e event.Event, out func(event.Event)) {
		activity := e
		activity.Data = event.Thinking{}
		switch e.Type() {
		case event.TypeToolStart:
			out(activity)
			out(e)
		case event.TypeTurnStart:
			out(e)
			out(activity)
		default:
			out(e)
		}
	}),
}
