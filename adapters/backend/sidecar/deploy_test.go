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
			Healthcheck struct{ Test []string }
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
			g.Expect(s.Healthcheck.Test).To(Equal([]string{"CMD", "pg_isready", "--username", s.Environment["POSTGRES_USER"]}), "the servers wait for it")
			continue
		}
		g.Expect(string(b)).To(ContainSubstring("--tag "+s.Image+" "), "the first comment says how the image is made")
		g.Expect(s.Ports).To(HaveLen(1))
		port := strings.Split(s.Ports[0], ":") // loopback, outside, inside
		g.Expect(s.Command).To(ContainElements("0.0.0.0:"+port[2], "http://localhost:"+port[1]), "where it listens, and where it says that it does")
		g.Expect(s.Command).To(ContainElement("postgres://turnspec@database/turnspec"))
		g.Expect(s.DependsOn).To(HaveKeyWithValue("database", HaveKeyWithValue("condition", "service_healthy")))
		g.Expect(s.Environment["TURNSPEC_TOKEN"]).To(HavePrefix("${TURNSPEC_TOKEN:?"), "no token is the default")
	}
}

// Docker's own client accepts the compose file. No engine is needed for that.
func TestComposeFileIsAccepted(t *testing.T) {
	if err := exec.Command("docker", "compose", "version").Run(); err != nil {
		t.Skip("docker compose is not installed:", err)
	}
	g := NewWithT(t)
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
