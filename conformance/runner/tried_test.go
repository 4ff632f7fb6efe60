package runner

import (
	"slices"
	"testing"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/fakes/fault"
)

// program is an external subject; placed is one that was started before the run.
type program struct{ conformance.Subject }

func (program) External() {}

type placed struct{ program }

func (placed) Standin() string { return "folder" }

// TestFaultsTriedByKind holds the numbers that conformance/plug/jsonl/PROTOCOL.md states: on
// which kinds of subjects how many faults are tried.
func TestFaultsTriedByKind(t *testing.T) {
	if n := len(fault.Operators()); n != 56 {
		t.Errorf("there are %d faults, the page says 56", n)
	}
	for _, x := range []struct {
		kind    string
		subject conformance.Subject
		limits  *adapters.Limits
		want    int
	}{
		{"a program that takes limits", program{}, &adapters.Limits{}, 51},
		{"a program without limits", program{}, nil, 45},
		{"a server that runs already", placed{}, nil, 44},
	} {
		var tried []string
		for _, c := range backend.Checks() {
			for _, name := range c.Faults {
				why := whyUntried(Job{Subject: x.subject}, c, name, &conformance.Run{Limits: x.limits})
				if why == "" && !slices.Contains(tried, name) {
					tried = append(tried, name)
				}
			}
		}
		if len(tried) != x.want {
			t.Errorf("%s: %d faults are tried, the page says %d", x.kind, len(tried), x.want)
		}
	}
}
