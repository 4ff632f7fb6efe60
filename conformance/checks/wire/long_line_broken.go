package wire

import (
	"bytes"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var readsShortLines = broken.Adapter{
	Name: "reads-short-lines", Sentence: "splits lines at 64 KiB",
	Proves: "wire.long-line",
	Mutation: broken.Mutation{Read: func(chunk []byte) []byte {
		if len(chunk) == 64<<10 && !bytes.Contains(chunk, []byte("\n")) {
			return []byte("\n")
		}
		return chunk
	}},
}
