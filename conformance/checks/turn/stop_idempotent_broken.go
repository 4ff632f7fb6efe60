package turn

import (
	"errors"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var stopsOnce = broken.Adapter{
	Name: "stops-once", Sentence: "fails if it is stopped twice",
	Proves: "turn.stop-idempotent",
	Mutation: broken.Mutation{Stop: func(before int) error {
		if before > 0 {
			return errors.New("no turn runs")
		}
		return nil
	}},
}
