package different

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// All returns all adapters of this package.
func All() []Adapter {
	return []Adapter{
		delaysEvents, joinsDeltas, swapsResults, slowToCall, slowToDecide, slowTools, buffersEvents,
		splitsText, repeatsState, signalsActivity,
		renamesBlocks, neverRepeatsIDs, renamesQuestions, renamesAgents, skipsTurnNumbers,
		rewritesJSON, roundsTime, wordsErrors, codesSignals, trimsOutput,
		withoutState, withoutDetails, withoutOutput, withoutFields,
		writesJSONOtherwise, writesInPieces, readsBytes, checksModes, wordsDenials,
		addsMembers, spacesJSON, namesItself, batchesEvents, joinsOutput,
		withoutThinking, withoutResults, withoutCosts, withoutChoices, withoutMedia, withoutTurnIDs,
	}
}

// each returns an Events that handles one event at a time and keeps no state.
func each(f func(e event.Event, out func(event.Event))) func(event.Position) func(event.Event, func(event.Event)) {
	return func(event.Position) func(event.Event, func(event.Event)) { return f }
}

// changed returns an Events that changes the data of events.
func changed(f func(d event.Data) event.Data) func(event.Position) func(event.Event, func(event.Event)) {
	return each(func(e event.Event, out func(event.Event)) {
		e.Data = f(e.Data)
		out(e)
	})
}

// delay is how long an adapter that is slow takes.
const delay = 20 * time.Millisecond

var delaysEvents = Adapter{
	Name: "delays-events", Sentence: "emits each event 20 ms after its line", Delays: true,
	Relay: func(in <-chan event.Event, send func(event.Event) bool) {
		type due struct {
			event.Event
			at time.Time
		}
		queue := make(chan due, 1024) // a shorter one blocks the reader, which then takes a later ts
		go func() {
			defer close(queue)
			for e := range in {
				queue <- due{e, time.Now().Add(delay)}
			}
		}()
		for d := range queue {
			time.Sleep(time.Until(d.at))
			send(d.Event)
		}
	},
}

var slowToCall = Adapter{
	Name: "slow-to-call", Sentence: "takes 20 ms before it makes a call, and 20 ms before it returns",
	Call: func(_ context.Context, call func() error) error {
		time.Sleep(delay)
		defer time.Sleep(delay)
		return call()
	},
}

var slowToDecide = Adapter{
	Name: "slow-to-decide", Sentence: "takes 20 ms to decide by the policy",
	Open: func(o *conformance.Open) {
		if judge := o.Judge; judge != nil {
			o.Judge = func(ctx context.Context, c adapters.Call) adapters.Verdict {
				time.Sleep(delay)
				return judge(ctx, c)
			}
		}
	},
}

var slowTools = Adapter{
	Name: "slow-tools", Sentence: "takes 20 ms to call a tool or hook of the client",
	Open: func(o *conformance.Open) {
		for i := range o.Tools {
			call := o.Tools[i].Call
			o.Tools[i].Call = func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
				time.Sleep(delay)
				return call(ctx, c)
			}
		}
		for i := range o.Hooks {
			call := o.Hooks[i].Call
			o.Hooks[i].Call = func(ctx context.Context, in event.Raw) (event.Raw, error) {
				time.Sleep(delay)
				return call(ctx, in)
			}
		}
	},
}

var buffersEvents = Adapter{
	Name: "buffers-events", Sentence: "has a buffer of 16 events",
	Relay: func(in <-chan event.Event, send func(event.Event) bool) {
		buffer := make(chan event.Event, 16)
		go func() {
			defer close(buffer)
			for e := range in {
				buffer <- e
			}
		}()
		for e := range buffer {
			send(e)
		}
	},
}

// modes are the permission modes that adapters can set.
var modes = []string{adapters.ModeAsk, adapters.ModeAcceptEdits, adapters.ModePlan, adapters.ModeReadOnly, adapters.ModeDontAsk, adapters.ModeNever}

var checksModes = Adapter{
	Name: "checks-modes", Sentence: "refuses an unknown mode itself, and asks no runtime",
	Mode: func(mode string) error {
		if !slices.Contains(modes, mode) {
			return fmt.Errorf("%w: no mode %q", adapters.ErrRefused, mode)
		}
		return nil
	},
}

var wordsDenials = Adapter{
	Name: "words-denials", Sentence: "reports a denied call as failed, and gives the model a reason of its own if the user gives none",
	Lacks: []string{"tool_result.status"},
	Events: changed(func(d event.Data) event.Data {
		if r, ok := d.(event.ToolResult); ok && r.Status == event.ToolDenied {
			r.Status, r.IsError = event.ToolError, true
			return r
		}
		return d
	}),
	Answer: func(a adapters.Answer) adapters.Answer {
		if a.Message == "" && (a.Decision == event.DecisionDeny || a.Decision == event.DecisionCancel) {
			a.Message = "This call is not wanted."
		}
		return a
	},
}

var roundsTime = Adapter{
	Name: "rounds-time", Sentence: "has a clock of milliseconds",
	Events: each(func(e event.Event, out func(event.Event)) {
		e.TS = e.TS.Truncate(time.Millisecond)
		out(e)
	}),
}

var wordsErrors = Adapter{
	Name: "words-errors", Sentence: "puts a prefix before errors and notices",
	Events: changed(func(d event.Data) event.Data {
		switch d := d.(type) {
		case event.Error:
			d.Message = "runtime: " + d.Message
			return d
		case event.Notice:
			d.Text = "runtime: " + d.Text
			return d
		}
		return d
	}),
}

var codesSignals = Adapter{
	Name: "codes-signals", Sentence: "reports exit code -1 for a process that a signal ended",
	Events: changed(func(d event.Data) event.Data {
		if d, ok := d.(event.SessionEnd); ok && d.ExitCode == nil {
			code := -1
			d.ExitCode = &code
			return d
		}
		return d
	}),
}

var trimsOutput = Adapter{
	Name: "trims-output", Sentence: "leaves out the newlines at the end of a tool's output",
	Events: changed(func(d event.Data) event.Data {
		if d, ok := d.(event.ToolResult); ok {
			d.Output = strings.TrimRight(d.Output, "\n")
			return d
		}
		return d
	}),
}
