package plug

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
)

// Limits bound how long a program waits, in milliseconds, as the protocols write them.
type Limits struct {
	Start int64 `json:"start_ms"` // for the runtime to be ready
	Stop  int64 `json:"stop_ms"`  // for a turn to end after stop
	Stall int64 `json:"stall_ms"` // for anything from a runtime that is silent in a turn
}

// LimitsOf returns the limits of an opening, or nil if it has none.
func LimitsOf(o conformance.Open) *Limits {
	if o.Limits == (adapters.Limits{}) {
		return nil
	}
	return &Limits{o.Limits.Handshake.Milliseconds(), o.Limits.Stop.Milliseconds(), (o.Limits.Idle + o.Limits.Request).Milliseconds()}
}
