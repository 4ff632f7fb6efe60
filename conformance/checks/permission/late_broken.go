package permission

import (
	"io"
	"strings"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var allowsTooLate = broken.Adapter{
	Name: "allows-too-late", Sentence: "sends an answer to a question that is no longer open",
	Proves: "permission.late",
	Mutation: broken.Mutation{LateAnswer: func(runtime, id string, w io.Writer) {
		line := `{"type":"control_response","response":{"subtype":"success","request_id":"` + id + `","response":{"behavior":"allow"}}}`
		if runtime == "codex" {
			line = `{"id":` + id[strings.LastIndex(id, ".")+1:] + `,"result":{"decision":"accept"}}`
		}
		_, _ = io.WriteString(w, line+"\n"+line+"\n")
	}},
}
