package session

import (
	"io"
	"regexp"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsTheReplies = broken.Adapter{
	Name: "forgets-the-replies", Sentence: "leaves the replies of the model out of the history",
	Proves:  "session.history",
	Runtime: "chat", Why: "the other runtimes keep the conversation themselves",
	Mutation: broken.Mutation{Write: func(line []byte, w io.Writer) error {
		_, err := w.Write(reply.ReplaceAll(line, nil))
		return err
	}},
}

var reply = regexp.MustCompile(`\{"content":"[^"]*","role":"assistant"\},?`)
