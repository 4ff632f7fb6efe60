package sidecar_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v3"
)

// The compose file is valid, and each service has what the server needs.
func TestComposeFile(t *testing.T) {
	g := NewWithT(t)
	b, err := os.ReadFile("deploy/compose.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	var file struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Ports       []string
			Environment map[string]string
			DependsOn   map[string]any `yaml:"depends_on"`
			Volumes     []string
		}
		Volumes map[string]any
	}
	g.Expect(yaml.Unmarshal(b, &file)).To(Succeed())
	g.Expect(file.Services).To(HaveLen(3))
	for name, s := range file.Services {
		g.Expect(s.Image).NotTo(BeEmpty(), name)
		for _, port := range s.Ports {
			g.Expect(port).To(HavePrefix("127.0.0.1:"), "only loopback is open by default")
		}
		if name == "database" {
			g.Expect(file.Volumes).To(HaveKey(strings.Split(s.Volumes[0], ":")[0]))
			continue
		}
		g.Expect(s.Command).To(ContainElement("postgres://turnspec@database/turnspec"))
		g.Expect(s.DependsOn).To(HaveKey("database"))
		g.Expect(s.Environment["TURNSPEC_TOKEN"]).To(HavePrefix("${TURNSPEC_TOKEN:?"), "no token is the default")
	}
	if exec.Command("docker", "compose", "version").Run() != nil {
		t.Log("docker compose is not here: only the YAML was checked")
		return
	}
	cmd := exec.Command("docker", "compose", "--file", "deploy/compose.yaml", "config", "--quiet")
	cmd.Env = append(os.Environ(), "TURNSPEC_TOKEN=x")
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
}

// systemd accepts the unit, whose program and user are replaced by ones that are here.
func TestSystemdUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	g := NewWithT(t)
	b, err := os.ReadFile("deploy/turnspec.service")
	g.Expect(err).NotTo(HaveOccurred())
	verify := func(unit string) (string, error) {
		path := filepath.Join(t.TempDir(), "turnspec.service")
		g.Expect(os.WriteFile(path, []byte(unit), 0o600)).To(Succeed())
		out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput()
		return string(out), err
	}
	unit := strings.NewReplacer("/usr/bin/turnspec", "/bin/sh", "User=turnspec", "User=root").Replace(string(b))
	out, err := verify(unit)
	g.Expect(err).NotTo(HaveOccurred(), out)
	g.Expect(out).NotTo(ContainSubstring("turnspec.service:"))
	out, _ = verify(strings.Replace(unit, "KillMode=mixed", "KillMode=gentle", 1))
	g.Expect(out).To(ContainSubstring("kill mode"), "systemd-analyze does not find mistakes")
}
