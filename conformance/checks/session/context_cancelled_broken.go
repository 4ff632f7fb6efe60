package session

import (
	"context"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var waitsForEveryReply = broken.Adapter{
	Name: "waits-for-every-reply", Sentence: "ignores the contexts of Open and Send",
	Proves:   "session.context-cancelled",
	Mutation: broken.Mutation{Context: context.WithoutCancel},
}
