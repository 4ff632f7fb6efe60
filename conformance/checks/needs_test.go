package checks

import (
	"slices"
	"testing"

	"github.com/turnspec/turnspec/conformance"
)

func TestNeedsNameChecks(t *testing.T) {
	for id := range needs {
		if !slices.ContainsFunc(All(), func(c *conformance.Check) bool { return c.ID == id }) {
			t.Errorf("there is no check %q", id)
		}
	}
}
