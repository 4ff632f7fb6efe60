package conformance

import (
	"time"

	"github.com/turnspec/turnspec/fixtures"
)

// What the tests look at from inside.
var (
	Spread    = spread
	SessionID = sessionID
	Take      = Shard.take
	Outline   = outline
)

// PlayWithin is Play with a limit of its own.
func PlayWithin(limit time.Duration, s Subject, scn *fixtures.Scenario, c *fixtures.Case) *Run {
	return playWithin(limit, s, c, nil, &setting{scenario: scn})
}
