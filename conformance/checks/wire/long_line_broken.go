package wire

import (
	"bytes"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var readsShortLines = broken.Adapter{
	Name: "reads-short-lines", Sentence: "splits lines at 64 KiB",
	Fails: []string{"text.once", "time.no-added-delay", "turn.end-stated", "subagent.task", "turn.long-end", "usage.stated", "wire.long-line", "wire.same-chunk", "wire.split", "wire.unknown"},
	Only:  map[string]string{"subagent.task": "codex", "turn.long-end": "codex", "usage.stated": "claude"},
	Mutation: broken.Mutation{Read: func(chunk []byte) []byte {
		if len(chunk) == 64<<10 && !bytes.Contains(chunk, []byte("\n")) {
			return []byte("\n")
		}
		return chunk
	}},
}
