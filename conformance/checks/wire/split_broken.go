package wire

import (
	"bytes"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var readsChunks = broken.Adapter{
	Name: "reads-chunks", Sentence: "takes each read for a line",
	Fails: []string{"subagent.task", "text.once", "text.unicode", "time.backlog", "time.no-added-delay", "turn.end-stated", "turn.long-end", "turn.nothing-after-terminal", "usage.stated", "wire.long-line", "wire.same-chunk", "wire.split", "wire.unknown"},
	// Codex writes the end of a long output in several reads; without it the command is a task.
	// Claude Code reports beside the result that a turn has ended.
	Only: map[string]string{"subagent.task": "codex", "turn.long-end": "codex", "usage.stated": "claude"},
	Mutation: broken.Mutation{Read: func(chunk []byte) []byte {
		return append(bytes.TrimRight(bytes.ReplaceAll(chunk, []byte("\n"), nil), "\r"), '\n')
	}},
}
