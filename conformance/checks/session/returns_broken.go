package session

import (
	"context"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var neverReturnsFromSend = broken.Adapter{
	Name: "never-returns-from-send", Sentence: "never returns from Send",
	// No later step runs, so that all checks that expect later events or replies
	// fail too.
	Proves: "session.returns",
	// Codex begins no turn by itself, asks for no plan, and is offered tools before a message.
	Mutation: broken.Mutation{BeforeSend: func(context.Context) { select {} }},
}

var panicsInClose = broken.Adapter{
	Name: "panics-in-close", Sentence: "panics in Close",
	// Close is followed by a resume in one case.
	Proves:   "session.returns",
	Mutation: broken.Mutation{AfterClose: func() { panic("close of closed channel") }},
}
