package jsonl_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// TestTrace checks that a trace names the steps of the case, and that the run of a
// program that ends early has not ended.
func TestTrace(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	r := play(t, of(t, "bridge", "claude"), "claude/newest/permission/allow")
	var names []string
	for _, step := range jsonl.Trace(r) {
		g.Expect(step.Err).NotTo(gomega.HaveOccurred(), step.Name)
		names = append(names, step.Name)
	}
	g.Expect(names).To(gomega.Equal([]string{"open", "send m1", "answer allow", "close"}))
	g.Expect(jsonl.Ended(r)).To(gomega.Succeed())

	r = play(t, of(t, "noise", "claude"), "claude/newest/permission/allow")
	g.Expect(jsonl.Ended(r)).NotTo(gomega.Succeed())
}
