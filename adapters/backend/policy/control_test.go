package policy_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/reference"
)

var update = flag.Bool("update", false, "write control.txt")

// readsNothing are the runtimes that no file of a workspace steers.
var readsNothing = map[string]bool{"chat": true}

// TestControlFiles: each runtime states the files that steer it, and the policy has them.
func TestControlFiles(t *testing.T) {
	g := NewWithT(t)
	var want strings.Builder
	for _, a := range reference.All() {
		name, files := a.Capabilities().Runtime, a.ControlFiles()
		g.Expect(len(files) == 0).To(Equal(readsNothing[name]), "%s states no control files", name)
		want.WriteString(name + ": " + strings.Join(files, " ") + "\n")
	}
	if *update {
		must(t, os.WriteFile("control.txt", []byte(want.String()), 0o644))
	}
	have, err := os.ReadFile("control.txt")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(have)).To(Equal(want.String()), "go test ./adapters/backend/policy -run TestControlFiles -update")
}
