package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var readsNoResults = broken.Adapter{
	Name: "reads-no-results", Sentence: "leaves the output of tools out when it reads a transcript",
	Proves: "session.transcript",
	Mutation: broken.Mutation{Transcript: func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.ToolResult); ok {
			d.Output = ""
			e.Data = d
		}
		out(e)
	}},
}

var readsMessagesTwice = broken.Adapter{
	Name: "reads-messages-twice", Sentence: "gives each message of the user twice when it reads a transcript",
	Proves: "session.transcript",
	Mutation: broken.Mutation{Transcript: func(e event.Event, out func(event.Event)) {
		out(e)
		if e.Type() == event.TypeUserMessage {
			out(e)
		}
	}},
}

var readsNoAnswers = broken.Adapter{
	Name: "reads-no-answers", Sentence: "leaves questions open when it reads a transcript",
	Proves: "session.transcript",
	Mutation: broken.Mutation{Transcript: func(e event.Event, out func(event.Event)) {
		if e.Type() != event.TypePermissionResolved && e.Type() != event.TypeInterruptResolved {
			out(e)
		}
	}},
}

var readsDenials = broken.Adapter{
	Name: "reads-denials", Sentence: "gives each answer to a question as a denial when it reads a transcript",
	Proves: "session.transcript",
	Mutation: broken.Mutation{Transcript: func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.PermissionResolved); ok {
			d.Allowed, d.Decision = false, event.DecisionDeny
			e.Data = d
		}
		out(e)
	}},
}
