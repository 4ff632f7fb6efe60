package wire

import (
	"bytes"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var readsChunks = broken.Adapter{
	Name: "reads-chunks", Sentence: "takes each read for a line",
	Proves: "wire.split",
	// Codex writes the end of a long output in several reads; without it the command is a task.
	// Claude Code reports beside the result that a turn has ended.
	Mutation: broken.Mutation{Read: func(chunk []byte) []byte {
		return append(bytes.TrimRight(bytes.ReplaceAll(chunk, []byte("\n"), nil), "\r"), '\n')
	}},
}
