package runindex

import "github.com/turnspec/turnspec/conformance"

// Demand fails an event that lacks a member which the runtime states, unless the subject
// declares that it leaves the member out. The member is named as in conformance.EventSupporter,
// stated is what it would hold.
func Demand(t *conformance.Trial, f *conformance.Finding, e conformance.Event, member string, has bool, stated string) {
	if !t.Supports(member) {
		return
	}
	f.Asserted(1)
	if !has {
		f.At(e, "there is no %s, but the runtime states %s: emit it, or declare that you leave it out", member, Clip(stated))
	}
}
