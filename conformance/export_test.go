package conformance

import (
	"time"

	"github.com/turnspec/turnspec/fixtures"
)

// Spread is spread, for tests.
var Spread = spread

// SessionID is sessionID, for tests.
var SessionID = sessionID

// Take is Shard.take, for tests.
var Take = Shard.take

// Outline is outline, for tests.
var Outline = outline

// PlayWithin is Play with a limit of its own.
func PlayWithin(limit time.Duration, s Subject, scn *fixtures.Scenario, c *fixtures.Case) *Run {
	return playWithin(limit, s, c, nil, &setting{scenario: scn})
}
