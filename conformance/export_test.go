package conformance

// What the tests look at from inside.
var (
	PlayWithin = playWithin
	Spread     = spread
	SessionID  = sessionID
)
