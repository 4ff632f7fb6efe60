package permission

import (
	"io"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var allowsTooLate = broken.Adapter{
	Name: "allows-too-late", Sentence: "sends an answer to a question that is no longer open",
	Proves: "permission.late",
	Mutation: broken.Mutation{LateAnswer: func(allow func(id string) []byte, id string, w io.Writer) {
		line := allow(id[strings.LastIndex(id, ".")+1:]) // the adapter may put the session before it
		_, _ = w.Write(slices.Concat(line, []byte("\n"), line, []byte("\n")))
	}},
}
