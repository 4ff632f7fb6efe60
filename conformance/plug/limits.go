package plug

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
)

// Limits bound how long a program waits, in milliseconds, as the protocols write them.
type Limits struct {
	Start int64 `doc:"Until the runtime is ready: after it the open fails with code timeout."                                                                                        json:"start_ms" min:"1"`
	Stop  int64 `doc:"Until a turn has ended after stop."                                                                                                                            json:"stop_ms"  min:"1"`
	Stall int64 `doc:"For any sign of life of a runtime that is silent in a turn, with all that the program does to find out: after it the turn ends in an error with code timeout." json:"stall_ms" min:"1"`
}

// LimitsOf returns the limits of an opening, or nil if it has none.
func LimitsOf(o conformance.Open) *Limits {
	if o.Limits == (adapters.Limits{}) {
		return nil
	}
	return &Limits{o.Limits.Handshake.Milliseconds(), o.Limits.Stop.Milliseconds(), (o.Limits.Idle + o.Limits.Request).Milliseconds()}
}
