package session

import (
	"regexp"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsTheReplies = broken.Adapter{
	Name: "forgets-the-replies", Sentence: "leaves the replies of the model out of the history",
	Proves:  "session.history",
	Runtime: "chat", Why: "the other runtimes keep the conversation themselves",
	Mutation: broken.Written(func(line []byte) []byte {
		return reply.ReplaceAll(line, nil)
	}),
}

var reply = regexp.MustCompile(`\{"content":"[^"]*","role":"assistant"\},?`)
