package sse_test

import (
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
)

// TestLimitsReachTheSidecar checks that a sidecar that declares limits gets them: it gives up
// on a runtime that hangs within seconds. One that does not declare them gets none.
func TestLimitsReachTheSidecar(t *testing.T) {
	t.Parallel()
	c, err := fixtures.LoadCase("claude/newest/text/plain")
	if err != nil {
		t.Fatal(err)
	}
	scn, err := fixtures.LoadScenario(c.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	limits := &adapters.Limits{Handshake: 3 * time.Second, Stop: 2 * time.Second, Idle: 2 * time.Second, Request: 2 * time.Second}
	stall, err := fault.Named("stall")
	if err != nil {
		t.Fatal(err)
	}
	places := stall.Places(c, scn)
	f := stall.Apply(c, places[len(places)/2])
	r := perform.Process(t.Context(), of(t, "whole", "claude"), perform.Recording{Case: c, Scenario: scn, Limits: limits}, &f)
	if !endsIn(r, event.ErrorTimeout) || r.Limits == nil {
		t.Errorf("the turn of a runtime that hangs does not end in a timeout: %v %s %s", r.Limits, r.Hang, r.Harness)
	}
	if r := perform.Process(t.Context(), of(t, "plain", "claude"), perform.Recording{Case: c, Scenario: scn, Limits: limits}, nil); r.Limits != nil {
		t.Error("a sidecar that declares no limits got some")
	}
}

func endsIn(r *conformance.Run, code event.ErrorCode) bool {
	for _, e := range r.Events {
		if d, is := e.Data.(event.Error); is && d.Code == code {
			return true
		}
	}
	return false
}
