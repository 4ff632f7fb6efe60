package permission

import (
	"time"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var allowsAfterAWhile = broken.Adapter{
	Name: "allows-after-a-while", Sentence: "allows what the user has not answered within 20 s",
	Proves:   "permission.waits-for-user",
	Mutation: broken.Mutation{AnswerAfter: 20 * time.Second},
}
