package isolate

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
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
	if os.Getenv(probe) == untilInterrupted {
		interrupted := make(chan os.Signal, 1)
		signal.Notify(interrupted, os.Interrupt)
		_, _ = os.Stdout.WriteString("ready\n")
		<-interrupted
		os.Exit(8)
	}
	host, _ := os.Hostname()
	var names []string
	ifs, _ := net.Interfaces()
	for _, i := range ifs {
		if i.Flags&net.FlagUp != 0 {
			names = append(names, i.Name)
		}
	}
	if script := os.Getenv(probe); script != "1" {
		os.Exit(runInRooms(script))
	}
	_, _ = os.Stdout.WriteString(host + "\n" + strings.Join(names, ",") + "\n" + strings.Join(Report(), "\n") + "\n")
	os.Exit(7)
}

// untilInterrupted is a value of probe: the inner process waits for SIGINT and exits with 8.
const untilInterrupted = "wait"

// Without a terminal only the outer process gets a SIGINT, as from `kill -INT` in a job of CI.
func TestEnterForwardsInterrupt(t *testing.T) {
	g := NewWithT(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), marker+"=", probe+"="+untilInterrupted)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cmd.Start()).To(Succeed())
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(line).To(Equal("ready\n"))
	g.Expect(cmd.Process.Signal(os.Interrupt)).To(Succeed())
	_ = cmd.Wait() // its exit code is judged
	g.Expect(cmd.ProcessState.ExitCode()).To(Equal(8))
}

// runInRooms runs a shell script with the launcher of new rooms, twice, and returns
// 9 if it cannot be private.
func runInRooms(script string) int {
	if !hasPrivate() {
		println(ReportTmp())
		return 9
	}
	rooms, err := NewRooms()
	if err != nil {
		println("error:", err.Error())
		return 3
	}
	for range 2 {
		p, err := rooms.Launcher().Launch(context.Background(), proc.Command{Argv: []string{"/bin/sh", "-c", script}, Dir: rooms.Work, Env: rooms.Env()})
		if err != nil {
			println("error:", err.Error())
			return 3
		}
		_, _ = io.Copy(os.Stdout, p.Stdout())
		_, _ = io.Copy(os.Stderr, p.Stderr())
		if p.Wait().Code != 0 {
			return 4
		}
	}
	if err := rooms.Remove(); err != nil {
		println("error:", err.Error())
		return 3
	}
	return 7
}

// What a runtime leaves in /tmp is seen by its next process, but not by another
// recording, and nothing of it stays on the machine.
func TestLauncherHasItsOwnTmp(t *testing.T) {
	g := NewWithT(t)
	left, err := os.MkdirTemp("/tmp", "turnspec-left-") //nolint:usetesting // it must be in /tmp itself
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(os.RemoveAll(left)).To(Succeed()) }()
	mark := filepath.Base(left) + "-mark"
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), marker+"=", probe+`=ls -a /tmp; pwd; echo in work > file; cat file; test -d "$TMPDIR"; echo >> /tmp/`+mark)
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code == 9 {
		t.Skipf("%s", out)
	} else {
		g.Expect(code).To(Equal(7), "%v %s", err, out)
	}
	text := string(out)
	g.Expect(text).NotTo(MatchRegexp("(?m)^"+filepath.Base(left)+"$"), "a folder of the machine")
	g.Expect(strings.Count(text, "in work\n")).To(Equal(2))
	g.Expect(strings.Count(text, mark+"\n")).To(Equal(1), "the second process sees what the first left")
	g.Expect(filepath.Join("/tmp", mark)).NotTo(BeAnExistingFile())
}

// MCP servers run this program, which may lie in /tmp itself.
func TestLauncherShowsProgramInTmp(t *testing.T) {
	g := NewWithT(t)
	self, err := os.ReadFile(os.Args[0])
	g.Expect(err).NotTo(HaveOccurred())
	file, err := os.CreateTemp("/tmp", "turnspec-program-")
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(os.Remove(file.Name())).To(Succeed()) }()
	_, err = file.Write(self)
	g.Expect(errors.Join(err, file.Chmod(0o700), file.Close())).To(Succeed())
	cmd := exec.Command(file.Name())
	cmd.Env = append(os.Environ(), marker+"=", probe+"=test -s "+file.Name()+" && echo visible")
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code == 9 {
		t.Skipf("%s", out)
	} else {
		g.Expect(code).To(Equal(7), "%v %s", err, out)
	}
	g.Expect(string(out)).To(ContainSubstring("visible"))
}

// A repository above the working directory changes what a runtime does.
func TestNewRoomsRejectsRepository(t *testing.T) {
	g := NewWithT(t)
	tmp := filepath.Join(t.TempDir(), "sub")
	g.Expect(os.MkdirAll(filepath.Join(tmp, "..", ".git"), 0o755)).To(Succeed())
	g.Expect(os.Mkdir(tmp, 0o755)).To(Succeed())
	t.Setenv("TMPDIR", tmp)
	_, err := NewRooms()
	g.Expect(err).To(MatchError(ContainSubstring("is a repository")))
	g.Expect(os.ReadDir(tmp)).To(BeEmpty())
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
