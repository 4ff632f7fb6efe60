package specs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/conformance/suite/specs"
	"github.com/turnspec/turnspec/fixtures"
)

// TestReferenceAdapter runs some cases as specs. Package suite's tests run all.
func TestReferenceAdapter(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	specs.Describe(t, conformance.Config{
		Corpus:   fixtures.Embedded(),
		Subjects: []conformance.Subject{conformance.Adapter("claude", claude.New())},
		Checks:   checks.All(),
		Cases:    []string{"claude/newest/text/plain", "claude/newest/text/two-blocks", "claude/newest/misuse/without-handshake"},
	})
	ginkgo.RunSpecs(t, "turnspec")
}

// TestReports runs the specs in a process of their own, which writes reports.
func TestReports(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=TestReferenceAdapter", "-ginkgo.focus=text")
	cmd.Env = append(os.Environ(), "TURNSPEC_REPORT=json="+file+",junit="+file+".xml")
	g := gomega.NewWithT(t)
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	b, err := os.ReadFile(file)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var d report.Document
	g.Expect(json.Unmarshal(b, &d)).To(gomega.Succeed())
	g.Expect(d.Cases).To(gomega.Equal(2))
	g.Expect(d.Times).To(gomega.HaveLen(2))
	g.Expect(len(d.Results)).To(gomega.BeNumerically(">", 40))
	g.Expect(file + ".xml").To(gomega.BeARegularFile())

	cmd = exec.CommandContext(t.Context(), os.Args[0], "-test.run=TestReferenceAdapter")
	cmd.Env = append(os.Environ(), "TURNSPEC_REPORT=pdf=report.pdf")
	out, err = cmd.CombinedOutput()
	g.Expect(err).To(gomega.HaveOccurred())
	g.Expect(string(out)).To(gomega.ContainSubstring("want FORMAT=FILE"))
}
