package session

import (
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var waitsToBeHeard = broken.Adapter{
	Name: "close-waits-for-the-reader", Sentence: "blocks Close until the client has received all events",
	Proves:   "session.close-without-reader",
	Mutation: broken.Mutation{WaitForReader: true},
}
