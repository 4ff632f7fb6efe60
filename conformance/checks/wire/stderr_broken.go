package wire

import (
	"io"
	"strings"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var leavesStderrUnread = broken.Adapter{
	Name: "leaves-stderr-unread", Sentence: "does not read stderr",
	Proves: "wire.stderr",
	Mutation: broken.Mutation{Output: func(p proc.Process) (io.Reader, io.Reader) {
		return p.Stdout(), strings.NewReader("")
	}},
}
