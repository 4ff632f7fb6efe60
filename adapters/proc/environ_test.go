package proc

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestEnviron(t *testing.T) {
	g := NewWithT(t)
	for _, name := range []string{"TURNSPEC_TOKEN", "TURNSPEC_LATER", "PGPASSWORD", "PORT", "TURNSPEC_CASE", "OPENAI_API_KEY"} {
		t.Setenv(name, "v")
	}
	g.Expect(Environ(nil)).To(ContainElements("TURNSPEC_CASE=v", "OPENAI_API_KEY=v"))
	for _, name := range []string{"TURNSPEC_TOKEN", "TURNSPEC_LATER", "PGPASSWORD", "PORT"} {
		g.Expect(Environ(nil)).NotTo(ContainElement(name + "=v"))
		g.Expect(Getenv(nil, name)).To(BeEmpty())
	}
	g.Expect(Getenv(nil, "OPENAI_API_KEY")).To(Equal("v"))
	g.Expect(Environ([]string{"PORT=1"})).To(Equal([]string{"PORT=1"}), "a given environment is the caller's")
	g.Expect(Environ([]string{})).To(BeEmpty())
	g.Expect(Getenv([]string{"PORT=1", "PORT=2"}, "PORT")).To(Equal("2"))
}
