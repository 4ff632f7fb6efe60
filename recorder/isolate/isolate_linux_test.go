package isolate

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// probe is the variable that makes this test binary a program which calls Enter and
// prints its environment.
const probe = "TURNSPEC_ISOLATE_PROBE"

func TestMain(m *testing.M) {
	if os.Getenv(probe) == "" {
		os.Exit(m.Run())
	}
	reexeced, code, err := Enter(os.Args[1:])
	switch {
	case err != nil:
		println("error:", err.Error())
		os.Exit(3)
	case reexeced:
		os.Exit(code)
	}
	host, _ := os.Hostname()
	var names []string
	ifs, _ := net.Interfaces()
	for _, i := range ifs {
		if i.Flags&net.FlagUp != 0 {
			names = append(names, i.Name)
		}
	}
	_, _ = os.Stdout.WriteString(host + "\n" + strings.Join(names, ",") + "\n" + strings.Join(Report(), "\n") + "\n")
	os.Exit(7)
}

func runProbe(t *testing.T, env ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), probe+"=1"), env...)
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

func TestEnterHasOnlyLoopback(t *testing.T) {
	g := NewWithT(t)
	out, code := runProbe(t, marker+"=")
	g.Expect(code).To(Equal(7), "the exit code of the inner process: %s", out)
	if strings.Contains(out, "not allowed here") {
		t.Skip(out)
	}
	lines := strings.Split(out, "\n")
	g.Expect(lines[0]).To(Equal(HostName))
	g.Expect(lines[1]).To(Equal("lo"))
	g.Expect(out).To(ContainSubstring("only loopback"))
}

func TestEnterReportsWhyThereIsNoNamespace(t *testing.T) {
	g := NewWithT(t)
	before, _ := os.Hostname()
	out, code := runProbe(t, marker+"=operation not permitted")
	g.Expect(code).To(Equal(7))
	g.Expect(out).To(HavePrefix(before + "\n"))
	g.Expect(out).To(ContainSubstring("a namespace is not allowed here (operation not permitted)"))
}

func TestEnterRejectsAnInheritedMarker(t *testing.T) {
	g := NewWithT(t)
	out, code := runProbe(t, marker+"="+inside+currentNamespaces())
	g.Expect(code).To(Equal(3))
	g.Expect(out).To(ContainSubstring("unset it"))
}

func TestRoomsAndEnv(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("https_proxy", "http://proxy.example")
	r, err := NewRooms()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Work).To(BeADirectory())
	env := strings.Join(r.Env("/opt/x"), "\n")
	g.Expect(env).To(ContainSubstring("HOME=" + r.Home + "\n"))
	g.Expect(env).To(MatchRegexp(`^PATH=([^\n]*:)?/opt/x:`))
	g.Expect(strings.ToLower(env)).NotTo(ContainSubstring("proxy"))
	g.Expect(r.Remove()).To(Succeed())
	g.Expect(r.Root).NotTo(BeAnExistingFile())
}
