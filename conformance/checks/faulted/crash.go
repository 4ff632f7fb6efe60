// Package faulted judges runs with a fault for the checks of several topics.
package faulted

import (
	"fmt"

	"github.com/turnspec/turnspec/conformance"
)

// Failer returns a function that reports a problem of a run with a fault.
func Failer(r *conformance.Run, f *conformance.Finding) func(format string, args ...any) {
	return func(format string, args ...any) {
		f.Problems = append(f.Problems, conformance.Problem{Text: r.Fault.String() + ": " + fmt.Sprintf(format, args...), Fault: r.Fault})
	}
}
