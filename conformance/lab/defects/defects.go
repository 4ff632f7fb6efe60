// Package defects lists the defects that the suite is known to catch. It is not part of
// the stable interface.
//
// Each check is proven by a broken adapter: the reference adapter with one mutation.
// Demonstrations and explanations list them from here.
package defects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Defect is a mistake that an adapter can make. Its Subject method returns a subject
// with it.
type Defect = broken.Adapter

// Named returns the defect of that name.
func Named(name string) (Defect, error) {
	var names []string
	for _, d := range backend.Broken() {
		if d.Name == name {
			return d, nil
		}
		names = append(names, d.Name)
	}
	return Defect{}, fmt.Errorf("no defect %q, only %s", name, strings.Join(names, ", "))
}

// CaughtBy returns the defects that a check catches.
func CaughtBy(check string) []Defect {
	var out []Defect
	for _, d := range backend.Broken() {
		if slices.Contains(d.Fails(), check) {
			out = append(out, d)
		}
	}
	return out
}
