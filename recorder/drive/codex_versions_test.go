package drive

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/recorder/runtimes"
)

func TestAVersionThatNobodyLookedAtIsLikeTheOneBefore(t *testing.T) {
	g := NewWithT(t)
	for version, want := range map[string]string{
		"": "gpt-5.5", "0.169.1": "gpt-5.5", "1.0.0": "gpt-5.5", "0.150.0": "gpt-5.3-codex", "0.98.0": "gpt-5.1-codex", "0.1.0": "gpt-5.1-codex",
	} {
		g.Expect(codexAt(version).model).To(Equal(want), version)
	}
	for _, version := range runtimes.Versions("codex") {
		g.Expect(codexVersions).To(HaveKey(version), "a pinned version has its own entry")
	}
}

func TestNeedsAreOfferedByVersion(t *testing.T) {
	g := NewWithT(t)
	c, err := configFor("codex", "0.98.0", "ask", []string{"subagent", "permission"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.args).To(Equal([]string{"--disable", "remote_models", "--enable", "collab"}))
	g.Expect(c.policy).To(Equal("untrusted"))
	_, err = configFor("codex", "0.98.0", "never", []string{"steer"})
	g.Expect(err).To(MatchError(ContainSubstring("`not on codex 0.98.0: why`")))
	c, err = configFor("codex", "0.98.0", "never", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.args).To(Equal([]string{"--disable", "remote_models"}), "the table stays as it is")
}

func TestAMachineWithBubblewrapGetsNoWarning(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	v := codexAt("0.120.0")
	g.Expect(v.greets("/none:" + dir)).To(Equal("configWarning"))
	g.Expect(os.WriteFile(filepath.Join(dir, "bwrap"), nil, 0o755)).To(Succeed())
	g.Expect(v.greets("/none:" + dir)).To(BeEmpty())
	g.Expect(codexAt("0.169.0").greets(dir)).To(Equal("remoteControl/status/changed"))
}
