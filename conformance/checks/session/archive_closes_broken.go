package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var silentArchive = broken.Adapter{
	Name: "silent-archive", Sentence: "does not report the end of an archived session",
	Proves: "session.archive-closes", Runtime: "codex", Why: "Claude Code has no archive",
	Mutation: broken.Mutation{AfterArchive: func(e event.Event, out func(event.Event)) {
		if e.Type() != event.TypeSessionEnd {
			out(e)
		}
	}},
}
