package codex

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestUnknownVersionIsLikeTheOneBefore(t *testing.T) {
	g := NewWithT(t)
	for number, want := range map[string]string{
		"": "gpt-5.5", "0.169.0": "gpt-5.5", "0.171.0": "gpt-5.5", "1.0.0": "gpt-5.5", "0.150.0": "gpt-5.3-codex", "0.98.0": "gpt-5.1-codex", "0.1.0": "gpt-5.1-codex",
	} {
		g.Expect(versionFor(number).model).To(Equal(want), number)
	}
}

func TestConfigDependsOnVersion(t *testing.T) {
	g := NewWithT(t)
	c, err := ConfigFor("0.98.0", "ask", []string{"subagent", "permission"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.args).To(Equal([]string{"--disable", "remote_models", "--enable", "collab"}))
	g.Expect(c.policy).To(Equal("untrusted"))
	_, err = ConfigFor("0.98.0", "never", []string{"steer"})
	g.Expect(err).To(MatchError(ContainSubstring("`not on codex 0.98.0: REASON`")))
	c, err = ConfigFor("0.98.0", "never", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.args).To(Equal([]string{"--disable", "remote_models"}), "the table has not changed")
}

func TestBubblewrapPreventsTheWarning(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	v := versionFor("0.120.0")
	g.Expect(v.lastGreeting("/none:" + dir)).To(Equal("configWarning"))
	g.Expect(os.WriteFile(filepath.Join(dir, "bwrap"), nil, 0o755)).To(Succeed())
	g.Expect(v.lastGreeting("/none:" + dir)).To(BeEmpty())
	g.Expect(versionFor("0.169.0").lastGreeting(dir)).To(Equal("remoteControl/status/changed"))
}
