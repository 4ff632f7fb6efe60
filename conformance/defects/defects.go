// Package defects answers one question: which defects is the suite known to
// catch?
//
// Each check is proven by a broken adapter: the reference with one mutation.
// They are listed here for demonstrations and explanations.
package defects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Defect is one thing that an adapter can do wrong. Its Subject method puts it
// into a subject.
type Defect = broken.Adapter

// All returns every defect.
func All() []Defect { return checks.Broken() }

// Named returns the defect of that name.
func Named(name string) (Defect, error) {
	var names []string
	for _, d := range checks.Broken() {
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return Defect{}, fmt.Errorf("no defect %q, only %s", name, strings.Join(names, ", "))
}

// Proving returns the defects that a check catches.
func Proving(check string) []Defect {
	var out []Defect
	for _, d := range checks.Broken() {
		if slices.Contains(d.Fails, check) {
			out = append(out, d)
		}
	}
	return out
}
