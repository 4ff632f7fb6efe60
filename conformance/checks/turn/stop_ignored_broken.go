package turn

import (
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var stopsWithoutALimit = broken.Adapter{
	Name: "stops-without-a-limit", Sentence: "waits forever for the end of a turn that it has stopped",
	Proves:   "turn.stop-ignored",
	Mutation: broken.Mutation{Open: func(o *conformance.Open) { o.Limits.Stop = 24 * time.Hour }},
}
