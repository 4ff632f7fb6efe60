package acp_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/acp"
	"github.com/turnspec/turnspec/fixtures"
)

// TestLimitsReachTheAgent checks that an agent that declares limits gets them in _meta of
// its session, and that another agent gets none.
func TestLimitsReachTheAgent(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := fixtures.LoadCase(version + "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	scn, err := fixtures.LoadScenario(c.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	// Long enough for a program under the race detector on a busy machine; none is waited for.
	limits := &adapters.Limits{Handshake: 90 * time.Second, Stop: 60 * time.Second, Idle: 60 * time.Second, Request: 60 * time.Second}
	for kind, want := range map[string]string{takesLimits: `_meta {"turnspec":{"limits":{"stall_ms":120000,"start_ms":90000,"stop_ms":60000}}}`, right: ""} {
		s := &acp.Subject{Program: plug.Program{Title: kind, Of: "claude", Command: []string{self, asAgent, kind}}}
		r := perform.Process(t.Context(), s, perform.Recording{Case: c, Scenario: scn, Limits: limits}, nil)
		if len(r.Program) != 1 {
			t.Errorf("%s: %d programs ran: %s", kind, len(r.Program), r.Harness)
			continue
		}
		got, _, _ := strings.Cut(r.Program[0].Stderr, "\n")
		if !strings.HasPrefix(got, "_meta") {
			got = ""
		}
		if got != want || (r.Limits != nil) != (want != "") {
			t.Errorf("%s: the agent got %q, want %q; limits %v; harness %q, stderr %q", kind, got, want, r.Limits, r.Harness, r.Program[0].Stderr)
		}
	}
}
