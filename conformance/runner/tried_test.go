package runner

import (
	"fmt"
	"os"
	"slices"
	"strings"
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

// TestFaultsTriedByKind demands that the pages state on which kinds of subjects how many faults
// are tried.
func TestFaultsTriedByKind(t *testing.T) {
	tried := func(s conformance.Subject, limits *adapters.Limits) int {
		var names []string
		for _, c := range backend.Checks() {
			for _, name := range c.Faults {
				why := whyUntried(Job{Subject: s}, c, name, &conformance.Run{Limits: limits})
				if why == "" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		return len(names)
	}
	all, limited, without, placed := len(fault.Operators()), tried(program{}, &adapters.Limits{}), tried(program{}, nil), tried(placed{}, nil)
	for page, says := range map[string]string{
		"../plug/jsonl/PROTOCOL.md": fmt.Sprintf("Of the %d faults %d are tried on a program that takes `limits`, %d on another, %d on a server that runs already.", all, limited, without, placed),
		"../ADAPTERS.md":            fmt.Sprintf("%d of the %d faults are tried", limited, all),
	} {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), says) {
			t.Errorf("%s does not say: %s", page, says)
		}
	}
}
