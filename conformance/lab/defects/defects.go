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
	"sync"

	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Defect is a mistake that an adapter can make. Its Subject method returns a subject
// with it.
type Defect = broken.Adapter

// Failure is a check that a defect makes an adapter fail, and the cheapest run that shows it.
type Failure = broken.Failure

// Failures returns the failures of adapters with a defect.
func Failures(d Defect) ([]Failure, error) {
	table, err := broken.Failures()
	return slices.Clone(table[d.Name]), err
}

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
func CaughtBy(check string) []Defect { return caughtBy()[check] }

var caughtBy = sync.OnceValue(func() map[string][]Defect {
	out := map[string][]Defect{}
	for _, d := range backend.Broken() {
		for _, check := range d.Fails() {
			out[check] = append(out[check], d)
		}
	}
	return out
})
