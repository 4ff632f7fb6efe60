package session

import (
	"context"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var neverReturnsFromSend = broken.Adapter{
	Name: "never-returns-from-send", Sentence: "never returns from Send",
	// No later step runs, so that all checks that expect later events or replies
	// fail too.
	Fails: []string{"component.remove", "component.state", "component.tool-linked", "component.update", "permission.answered-once", "permission.deny-enforced", "permission.resolved", "permission.unsupported-request", "policy.fail-closed", "policy.no-bypass", "policy.table", "process.exit-code", "question.answered", "question.plan-approval", "replay.components", "replay.tool-linked", "session.context-cancelled", "session.ended-rejects-calls", "session.resume-context", "session.returns", "subagent.background", "subagent.parallel", "text.once", "thinking.delivered", "tool.client-called", "tool.client-offered", "tool.known", "tool.plan", "turn.crash-ends", "turn.long-end", "turn.lost-end", "turn.one-terminal", "turn.refused", "turn.stall-ends", "turn.unprompted", "usage.reported", "wire.garbage", "wire.long-line", "wire.same-chunk", "wire.split", "wire.stderr", "wire.unknown"},
	// Codex begins no turn by itself, asks for no plan, and is offered tools before a message.
	Only:     map[string]string{"question.plan-approval": "claude", "permission.unsupported-request": "claude", "turn.unprompted": "claude", "tool.client-offered": "claude"},
	Mutation: broken.Mutation{BeforeSend: func(context.Context) { select {} }},
}

var panicsInClose = broken.Adapter{
	Name: "panics-in-close", Sentence: "panics in Close",
	// Close is followed by a resume in one case.
	Fails:    []string{"session.close-without-reader", "session.ended-rejects-calls", "session.resume-context", "session.returns", "text.once", "turn.long-end", "turn.lost-end", "turn.refused", "turn.stall-ends"},
	Mutation: broken.Mutation{AfterClose: func() { panic("close of closed channel") }},
}
