package broken_test

import (
	"bytes"
	"io"
	"regexp"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// endsWithTheFirstIdle takes the first of the two session.idle of a stopped turn for its end: the
// rest of the text and the results of the tools come between them.
var endsWithTheFirstIdle = broken.Adapter{
	Name: "ends-with-the-first-idle", Sentence: "ends a stopped turn before the rest of its text has come",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		ended := 0
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.BlockEnd); ok && d.Status == event.BlockInterrupted {
				ended = e.Turn
				early := e
				early.Data = event.Done{Stopped: true}
				out(early)
			}
			if !e.Terminal() || ended != e.Turn {
				out(e)
			}
		}
	}},
}

// endsWithEachIdle ends a stopped turn at both of them.
var endsWithEachIdle = broken.Adapter{
	Name: "ends-with-each-idle", Sentence: "ends a stopped turn twice",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if d, ok := e.Data.(event.Done); ok && d.Stopped {
			out(e)
		}
	}),
}

// retractsWhatIsKept takes a reply without an end for one that is asked for again. The runtime
// gives it back to the model, which goes on after it.
var retractsWhatIsKept = broken.Adapter{
	Name: "retracts-what-is-kept", Sentence: "takes back the text of a reply without an end, although the next one goes on after it",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		retracted := false
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.BlockEnd); ok && !retracted {
				d.Status, retracted = event.BlockRetracted, true
				e.Data = d
			}
			out(e)
		}
	}},
}

// reportsAnAbortedToolComplete takes the status of a command that was stopped for the truth.
var reportsAnAbortedToolComplete = broken.Adapter{
	Name: "reports-an-aborted-tool-complete", Sentence: "reports that a command succeeded that was stopped",
	Mutation: broken.Change(func(d *event.ToolResult) {
		if d.Status == event.ToolInterrupted {
			d.Status, d.IsError = event.ToolOK, false
		}
	}),
}

// waitsForTheID finds the request of a reply by its id alone.
var waitsForTheID = broken.Adapter{
	Name: "waits-for-the-id", Sentence: "ignores a reply that has no id",
	Mutation: broken.Mutation{Output: func(p proc.Process) (stdout, stderr io.Reader) {
		return broken.EachLine(p.Stdout(), func(line []byte) []byte {
			if bytes.HasPrefix(line, []byte(`{"type":"response"`)) {
				return []byte("\n")
			}
			return line
		}), p.Stderr()
	}},
}

// repeatsAMessageID gives the messages that the runtime names late one id.
var repeatsAMessageID = broken.Adapter{
	Name: "repeats-a-message-id", Sentence: "reports one id for all messages",
	Mutation: broken.Change(func(d *event.Delta) { d.MessageID = "m1" }),
}

// waitsForEachAttempt does not count the attempts that the runtime announces.
var waitsForEachAttempt = broken.Adapter{
	Name: "waits-for-each-attempt", Sentence: "waits as long as the runtime asks a failing model again",
	Mutation: broken.Mutation{Output: func(p proc.Process) (stdout, stderr io.Reader) {
		announced := false
		return broken.EachLine(p.Stdout(), func(line []byte) []byte {
			again := announced
			if announced = bytes.Contains(line, []byte(`"status":{"type":"retry"`)); announced && again {
				return []byte("\n")
			}
			return line
		}), p.Stderr()
	}},
}

// replaysTheHistory takes what an agent repeats while it loads a session, or copies it to a
// fork, for news.
var replaysTheHistory = broken.Adapter{
	Name: "replays-the-history", Sentence: "shows the messages of a loaded or forked session again in the next turn",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		history := ""
		return func(e event.Event, out func(event.Event)) {
			out(e)
			switch d := e.Data.(type) {
			case event.SessionReady:
				if d.Resumed || d.ForkedFrom != "" {
					history = "I said this before."
				}
			case event.TurnStart:
				if history != "" {
					e.Data = event.Delta{Text: history, MessageID: "old", BlockID: "old"}
					out(e)
					e.Data = event.BlockEnd{BlockID: "old", Status: event.BlockComplete}
					out(e)
				}
				history = ""
			}
		}
	}},
}

// settlesAtTheEnd reports that the runtime took a question back when the turn ends.
var settlesAtTheEnd = broken.Adapter{
	Name: "settles-at-the-end", Sentence: "reports at the end of the turn that the runtime took a question back",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var late []event.Event
		return func(e event.Event, out func(event.Event)) {
			d, isQuestion := e.Data.(event.PermissionResolved)
			i, isInterrupt := e.Data.(event.InterruptResolved)
			if isQuestion && d.By == event.ByWithdrawn || isInterrupt && i.By == event.ByWithdrawn {
				late = append(late, e)
				return
			}
			if e.Terminal() {
				for _, l := range late {
					l.TS = e.TS
					out(l)
				}
				late = nil
			}
			out(e)
		}
	}},
}

// emitsAResultAfterTheEnd emits what an agent sends about a call after the reply to the message.
var emitsAResultAfterTheEnd = broken.Adapter{
	Name: "emits-a-result-after-the-end", Sentence: "emits the result of a tool again after the turn has ended",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var result event.Event
		return func(e event.Event, out func(event.Event)) {
			out(e)
			if e.Type() == event.TypeToolResult {
				result = e
			}
			if e.Terminal() && result.Turn == e.Turn {
				out(result)
			}
		}
	}},
}

// startsACallAgain takes each update of a call for a call.
var startsACallAgain = broken.Adapter{
	Name: "starts-a-call-again", Sentence: "announces a tool call again with each update of it",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if e.Type() == event.TypeToolStart {
			out(e)
		}
	}),
}

var (
	beginsCall   = regexp.MustCompile(`"tool_calls":\[\{"index":(\d+),"id"`)
	continuesOne = regexp.MustCompile(`("tool_calls":\[\{"index":)\d+(,"function")`)
)

// appendsToTheLastCall takes each piece of arguments for one of the call that began last.
var appendsToTheLastCall = broken.Adapter{
	Name: "appends-to-the-last-call", Sentence: "appends the arguments of all calls to those of the last one",
	Mutation: broken.Mutation{Output: func(p proc.Process) (stdout, stderr io.Reader) {
		last := "0"
		return broken.EachLine(p.Stdout(), func(line []byte) []byte {
			if m := beginsCall.FindSubmatch(line); m != nil {
				last = string(m[1])
			}
			return continuesOne.ReplaceAll(line, []byte("${1}"+last+"${2}"))
		}), p.Stderr()
	}},
}

// furtherCall is a call with the index of one before it, up to the name of its function.
var furtherCall = regexp.MustCompile(`"index":0,"id":"call_t[2-9]","type":"function","function":\{"name":"[a-z]*",`)

// takesTheIndexForTheCall appends each piece to the call of its index, whatever id and name it has.
var takesTheIndexForTheCall = broken.Adapter{
	Name: "takes-the-index-for-the-call", Sentence: "tells calls apart only by their index",
	Mutation: broken.Mutation{Output: func(p proc.Process) (stdout, stderr io.Reader) {
		return broken.EachLine(p.Stdout(), func(line []byte) []byte {
			return furtherCall.ReplaceAll(line, []byte(`"index":0,"function":{`))
		}), p.Stderr()
	}},
}

// withoutAnIndex is a call without an index.
var withoutAnIndex = regexp.MustCompile(`"tool_calls":\[\{"id":.*?\}\}\]`)

// needsAnIndex drops calls that have no index.
var needsAnIndex = broken.Adapter{
	Name: "needs-an-index", Sentence: "drops calls without an index",
	Mutation: broken.Mutation{Output: func(p proc.Process) (stdout, stderr io.Reader) {
		return broken.EachLine(p.Stdout(), func(line []byte) []byte {
			return withoutAnIndex.ReplaceAll(line, []byte(`"tool_calls":[]`))
		}), p.Stderr()
	}},
}

// listOfParts is content that is a list.
var listOfParts = regexp.MustCompile(`"content":\[\{.*?\}\]\}`)

// readsTextContentOnly drops content that is a list.
var readsTextContentOnly = broken.Adapter{
	Name: "reads-text-content-only", Sentence: "drops content that is a list of parts",
	Mutation: broken.Mutation{Output: func(p proc.Process) (stdout, stderr io.Reader) {
		return broken.EachLine(p.Stdout(), func(line []byte) []byte {
			return listOfParts.ReplaceAll(line, []byte(`"content":null}`))
		}), p.Stderr()
	}},
}

// messageForDelta is a message in place of a delta.
var messageForDelta = regexp.MustCompile(`"message":\{"role":"assistant".*?\},"finish_reason"`)

// readsDeltasOnly drops a message in place of a delta.
var readsDeltasOnly = broken.Adapter{
	Name: "reads-deltas-only", Sentence: "drops a message in place of a delta",
	Mutation: broken.Mutation{Output: func(p proc.Process) (stdout, stderr io.Reader) {
		return broken.EachLine(p.Stdout(), func(line []byte) []byte {
			return messageForDelta.ReplaceAll(line, []byte(`"delta":{},"finish_reason"`))
		}), p.Stderr()
	}},
}

// reasoningDetails is reasoning in a list.
var reasoningDetails = regexp.MustCompile(`"reasoning_details":\[.*?\]`)

// readsNoDetails drops reasoning_details.
var readsNoDetails = broken.Adapter{
	Name: "reads-no-details", Sentence: "drops reasoning in reasoning_details",
	Mutation: broken.Mutation{Output: func(p proc.Process) (stdout, stderr io.Reader) {
		return broken.EachLine(p.Stdout(), func(line []byte) []byte {
			return reasoningDetails.ReplaceAll(line, []byte(`"reasoning_details":[]`))
		}), p.Stderr()
	}},
}

// endOfStream is what marks the end of a stream.
var endOfStream = regexp.MustCompile(`"text":"\[DONE\]"`)

// needsAReason takes a stream without finish_reason for one that was cut off.
var needsAReason = broken.Adapter{
	Name: "needs-a-reason", Sentence: "takes a reply without finish_reason for a failure",
	Mutation: broken.Mutation{Output: func(p proc.Process) (stdout, stderr io.Reader) {
		return broken.EachLine(p.Stdout(), func(line []byte) []byte {
			return endOfStream.ReplaceAll(line, []byte(`"comment":"end"`))
		}), p.Stderr()
	}},
}

// errorObject is an error that is an event itself.
var errorObject = regexp.MustCompile(`"data":\{"object":"error".*\}\}`)

// readsNestedErrorsOnly drops an error whose members are not nested.
var readsNestedErrorsOnly = broken.Adapter{
	Name: "reads-nested-errors-only", Sentence: "drops an error that is the event itself",
	Mutation: broken.Mutation{Output: func(p proc.Process) (stdout, stderr io.Reader) {
		return broken.EachLine(p.Stdout(), func(line []byte) []byte {
			return errorObject.ReplaceAll(line, []byte(`"comment":"error"}`))
		}), p.Stderr()
	}},
}

// hidesTheLimit takes each finish_reason for a complete reply.
var hidesTheLimit = broken.Adapter{
	Name: "hides-the-limit", Sentence: "ends a turn whose reply was cut as if it were complete",
	Mutation: broken.Change(func(d *event.Done) {
		if d.Reason == "length" {
			d.Reason = "stop"
		}
	}),
}

// hidesTheContext is seen if the runtime states the window beside the tokens of a reply.
var hidesTheContext = broken.Adapter{
	Name: "hides-the-context", Sentence: "does not report how full the context is",
	Mutation: broken.Change(func(d *event.Usage) { d.Context = nil }),
}

// orphansNestedAgents is seen where a sub-agent starts another one.
var orphansNestedAgents = broken.Adapter{
	Name: "orphans-nested-agents", Sentence: "does not report which agent started a task",
	Mutation: broken.Change(func(d *event.Task) { d.ParentID = "" }),
}

// keepsTheFailedAttempt keeps the text of an attempt that is repeated.
var keepsTheFailedAttempt = broken.Adapter{
	Name: "keeps-the-failed-attempt", Sentence: "shows the text of a failed attempt and of the next one",
	Mutation: broken.Change(func(d *event.BlockEnd) {
		if d.Status == event.BlockRetracted {
			d.Status = event.BlockComplete
		}
	}),
}

// endsWithTheFirstRun takes agent_end for the end although a retry is pending.
var endsWithTheFirstRun = broken.Adapter{
	Name: "ends-with-the-first-run", Sentence: "ends the turn in an error when the runtime is about to try again",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		ended := 0
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.Notice); ok && d.Code == event.NoticeRetry && e.Turn != ended {
				ended, e.Data = e.Turn, event.Error{Code: event.ErrorModel, Message: d.Text}
				out(e)
			} else if e.Turn == 0 || e.Turn != ended {
				out(e)
			}
		}
	}},
}

// emitsTheSnapshot takes the message so far, which each update repeats, for what is new.
var emitsTheSnapshot = broken.Adapter{
	Name: "emits-the-snapshot", Sentence: "emits the text so far with each delta",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		soFar := map[string]string{}
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.Delta); ok {
				soFar[d.BlockID] += d.Text
				d.Text = soFar[d.BlockID]
				e.Data = d
			}
			out(e)
		}
	}},
}

// emitsTheOutputSoFar takes partialResult for what is new.
var emitsTheOutputSoFar = broken.Adapter{
	Name: "emits-the-output-so-far", Sentence: "emits the whole output of a tool again with each piece",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		soFar := map[string]string{}
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.ToolOutput); ok {
				soFar[d.ToolUseID] += d.Text
				d.Text = soFar[d.ToolUseID]
				e.Data = d
			}
			out(e)
		}
	}},
}

// reportsTheEmptyRound takes the round without content after an aborted tool, which the newer
// dialect calls an error, for a failure.
var reportsTheEmptyRound = broken.Adapter{
	Name: "reports-the-empty-round", Sentence: "ends a stopped turn in an error",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Done); ok && d.Stopped {
			e.Data = event.Error{Code: event.ErrorUnknown, Message: "This operation was aborted"}
		}
		out(e)
	}),
}

// endsBeforeTheQueue takes the end of a reply for the end of the turn although messages wait.
var endsBeforeTheQueue = broken.Adapter{
	Name: "ends-before-the-queue", Sentence: "ends the turn when a queued message comes",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		ended := 0
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.UserMessage); ok && d.Via != event.ViaTurn && ended != e.Turn {
				ended, e.Data = e.Turn, event.Done{}
				out(e)
			} else if e.Turn == 0 || e.Turn != ended {
				out(e)
			}
		}
	}},
}

// keepsAnEmptiedPlan takes a plan without steps for no news.
var keepsAnEmptiedPlan = broken.Adapter{
	Name: "keeps-an-emptied-plan", Sentence: "goes on showing a plan that the model has emptied",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Plan); !ok || len(d.Steps) > 0 {
			out(e)
		}
	}),
}

var asksWithoutAReason = broken.Adapter{
	Name: "asks-without-a-reason", Sentence: "asks for permission without the reason that the runtime states",
	Mutation: broken.Omit("permission_request.reason"),
}

var blamesTheModelForASignal = broken.Adapter{
	Name: "blames-the-model-for-a-signal", Sentence: "reports a runtime that a signal ended as a failure of the model",
	Mutation: broken.Change(func(d *event.Error) {
		if d.Code == event.ErrorCrash {
			d.Code = event.ErrorModel
		}
	}),
}

var updatesMovedFiles = broken.Adapter{
	Name: "updates-moved-files", Sentence: "reports a file that was moved as changed in its place",
	Mutation: broken.EachFileChange(func(c *event.FileChange) {
		if c.MoveTo != "" {
			c.Kind = event.ChangeUpdate
		}
	}),
}

var addsEachFile = broken.Adapter{
	Name: "adds-each-file", Sentence: "reports each changed file as a new one",
	Mutation: broken.EachFileChange(func(c *event.FileChange) { c.Kind = event.ChangeAdd }),
}

var repeatsTheResult = broken.Adapter{
	Name: "repeats-the-result", Sentence: "emits the result of each turn twice",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if e.Type() == event.TypeResult {
			out(e)
		}
	}),
}

var cutsEachOutput = broken.Adapter{
	Name: "cuts-each-output", Sentence: "reports each output of a tool as cut, which the runtime does not state",
	Mutation: broken.Change(func(d *event.ToolResult) { d.Truncated = true }),
}

var reportsNoWarning = broken.Adapter{
	Name: "reports-no-warning", Sentence: "does not say that a server of MCP failed to start",
	Mutation: broken.Omit("notice"),
}

var completesAFailedAgent = broken.Adapter{
	Name: "completes-a-failed-agent", Sentence: "reports a sub-agent for which the model failed as completed",
	Mutation: broken.Change(func(d *event.Task) {
		if d.Status == event.TaskFailed {
			d.Status = event.TaskCompleted
		}
	}),
}

var keepsADeletedStep = broken.Adapter{
	Name: "keeps-a-deleted-step", Sentence: "emits no plan after a step was deleted",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		steps := 0
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.Plan); ok {
				if len(d.Steps) < steps {
					return
				}
				steps = len(d.Steps)
			}
			out(e)
		}
	}},
}
