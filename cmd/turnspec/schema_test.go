package main

import (
	"bytes"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/recorder/registry"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// Without an argument, a runtime without a schema is skipped with the reason. Named, it
// is an error.
func TestSchemaOfARuntimeWithout(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	g.Expect(withSchema(&out)).To(ContainElements("claude", "codex"))
	g.Expect(withSchema(&out)).NotTo(ContainElement("pi"))
	g.Expect(out.String()).To(ContainSubstring("skip  pi: its vendor publishes no schema of its wire\n"))
	_, err := registry.ReadSchema(t.Context(), runtimes.Runtime{Name: "pi"})
	g.Expect(err).To(MatchError(registry.ErrNoSchema))
}
