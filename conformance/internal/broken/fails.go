package broken

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Failure is a check that a broken adapter fails on a runtime, and the cheapest run in which
// it fails.
type Failure struct {
	Adapter, Check, Runtime, Scenario string
	Fault                             string // "": none
}

// String returns the failure as a line of the table.
func (f Failure) String() string {
	return strings.TrimSpace(strings.Join([]string{f.Adapter, f.Check, f.Runtime, f.Scenario, f.Fault}, " "))
}

// matrix lists what each broken adapter fails, one failure a line: the adapter, the check, the
// runtime, the scenario, and the fault if it takes one. TestMatrix writes it.
//
//go:embed testdata/matrix.txt
var matrix string

var parsed = sync.OnceValues(func() (map[string][]Failure, error) {
	out := map[string][]Failure{}
	for line := range strings.Lines(matrix) {
		words := append(strings.Fields(line), "")
		if len(words) != 5 && len(words) != 6 {
			return nil, fmt.Errorf("matrix.txt: %q is not an adapter, a check, a runtime, a scenario and a fault", line)
		}
		out[words[0]] = append(out[words[0]], Failure{words[0], words[1], words[2], words[3], words[4]})
	}
	return out, nil
})

// Failures returns what each broken adapter fails, by its name.
func Failures() (map[string][]Failure, error) { return parsed() }

// Fails returns the checks that the adapter fails on any runtime, sorted: the one that it
// proves, and others that see the same defect.
func (a Adapter) Fails() []string {
	all, err := parsed()
	if err != nil {
		panic(err) // the table is part of the program, and a test reads it
	}
	out := []string{a.Proves}
	for _, f := range all[a.Name] {
		out = append(out, f.Check)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
