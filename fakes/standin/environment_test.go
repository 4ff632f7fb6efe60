package standin_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/standin"
)

// An adapter that starts a stand-in with the inherited environment lets it find its case.
func TestStandInsInheritTheirSettings(t *testing.T) {
	for _, name := range []string{standin.EnvCase, standin.EnvCases, standin.EnvSpeed, standin.EnvState, standin.EnvHTTP} {
		t.Setenv(name, "v")
		NewWithT(t).Expect(proc.Environ(nil)).To(ContainElement(name + "=v"))
	}
}
