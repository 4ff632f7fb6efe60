// Package server holds the checks of what only a server can get wrong: its listeners,
// repeated requests, and who may send them. It is not part of the stable interface. The
// broken servers that prove them are in the tests of package sse.
package server

import (
	"github.com/turnspec/turnspec/conformance"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Resume,
		Cursor,
		NoContent,
		Heartbeat,
		WithoutListeners,
		Once,
		Guard,
		Media,
	}
}

// needsAbility returns the needs of a check of servers that declare an ability.
func needsAbility(ability string) func(*conformance.Run) []string {
	return func(r *conformance.Run) []string {
		if len(r.Probes) == 0 {
			return nil // it is no server
		}
		return []string{"can." + ability}
	}
}
