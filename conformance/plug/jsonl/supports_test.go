package jsonl

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// TestSupports checks that a program which lists its events lacks the other types, and
// nothing that is no event.
func TestSupports(t *testing.T) {
	x := &session{Session: plug.NewSession(&plug.Program{}, conformance.Open{})}
	x.hello.Declaration = plug.Declaration{Events: []event.Type{event.TypeDelta, event.TypeDone}, Without: []string{"delta.block_id", "subagent_id"}}
	for what, want := range map[string]bool{
		"delta": true, "delta.text": true, "delta.block_id": false, "plan": false, "plan.steps": false,
		"seq": true, "subagent_id": false, "answer.message": true, "open.refused": true, "open.mode": false,
	} {
		if got := x.Supports(what); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
}
