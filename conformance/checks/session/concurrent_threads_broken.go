package session

import (
	"bytes"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var adoptsStrangers = broken.Adapter{
	Name: "adopts-strangers", Sentence: "reports another thread of the process as a sub-agent",
	Proves:  "session.concurrent-threads",
	Runtime: "codex", Why: "a process of claude is one session",
	Mutation: broken.Mutation{Read: func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(`"thread/started"`), []byte(`"thread/archived"`))
	}},
}
