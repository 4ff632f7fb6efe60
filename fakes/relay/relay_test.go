package relay_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/relay"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

func TestMain(m *testing.M) {
	if handled, code := relay.Main(); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// post is where a play of a case can be found.
func post(t *testing.T, id string) (*relay.Post, *standin.Play) {
	t.Helper()
	c, err := fixtures.LoadCase(id)
	if err != nil {
		t.Fatal(err)
	}
	play, err := standin.New(c, standin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := relay.NewPost(c.Runtime, play.Launcher(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		play.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, play
}

const hello = `{"type":"user","message":{"role":"user","content":"Name three rivers."}}` + "\n"

func argv(p *relay.Post) *exec.Cmd {
	return exec.Command(p.Program, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
}

// TestPlayActsAsAProgram: it is found by its name, takes lines, writes lines and
// ends, also where its client gave it no environment.
func TestPlayActsAsAProgram(t *testing.T) {
	g := gomega.NewWithT(t)
	p, play := post(t, "claude/newest/text/plain")
	cmd := argv(p)
	cmd.Env, cmd.Stdin = []string{"HOME=/nowhere"}, strings.NewReader(hello)
	out, err := cmd.Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(out)).To(gomega.ContainSubstring("the Nile"))
	g.Expect(bytes.Count(out, []byte("\n"))).To(gomega.BeNumerically(">", 5))
	g.Expect(play.State().Finished).To(gomega.BeTrue())
	g.Expect(play.Unrecorded()).To(gomega.BeEmpty())
	version, err := exec.Command(p.Program, "--version").Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(version)).To(gomega.MatchRegexp(`^[0-9.]+ \(Claude Code\)\n$`))
}

// TestSignalsReachThePlay: gentle ones end the program as they end the runtime;
// of a killed one the play hears too.
func TestSignalsReachThePlay(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		g := gomega.NewWithT(t)
		p, play := post(t, "claude/newest/text/plain")
		cmd := argv(p)
		in, err := cmd.StdinPipe()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		out, err := cmd.StdoutPipe()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(cmd.Start()).To(gomega.Succeed())
		_, err = in.Write([]byte(hello))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = out.Read(make([]byte, 10)) // it plays
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(cmd.Process.Signal(s)).To(gomega.Succeed())
		_, _ = out.Read(make([]byte, 1<<20))
		g.Expect(cmd.Wait()).NotTo(gomega.Succeed())
		g.Eventually(p.Running).WithTimeout(30e9).Should(gomega.BeZero())
		signalled := func() bool {
			return slices.ContainsFunc(play.ClientActions(), func(w standin.ClientAction) bool { return w.Kind == standin.KindSignal })
		}
		g.Eventually(signalled).WithTimeout(30e9).Should(gomega.BeTrue())
	}
}

// TestEnvNamesThePost: by PATH first, and by the variables of the runtime's
// clients; settings of the user stay out.
func TestEnvNamesThePost(t *testing.T) {
	g := gomega.NewWithT(t)
	p, _ := post(t, "codex/newest/text/plain")
	env := p.Env([]string{"PATH=/usr/bin", "CODEX_PATH=/opt/codex", "CODEX_HOME=/home/me/.codex", "LANG=C"})
	g.Expect(env).To(gomega.ConsistOf("LANG=C", "PATH="+filepath.Dir(p.Program)+":/usr/bin", "CODEX_PATH="+p.Program, "CODEX_HOME="+p.Home))
}

// TestFailedLaunchIsReported on the program's stderr, with exit code 2.
func TestFailedLaunchIsReported(t *testing.T) {
	g := gomega.NewWithT(t)
	p, err := relay.NewPost("claude", proc.LauncherFunc(func(context.Context, proc.Command) (proc.Process, error) {
		return nil, os.ErrPermission
	}), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = p.Close() }()
	var told bytes.Buffer
	cmd := exec.Command(p.Program)
	cmd.Stderr = &told
	g.Expect(cmd.Run()).NotTo(gomega.Succeed())
	g.Expect(cmd.ProcessState.ExitCode()).To(gomega.Equal(2))
	g.Expect(told.String()).To(gomega.ContainSubstring("turnspec: permission denied"))
}

// TestPlaceOutlivesPlays proves that a client which was started before the plays finds each of
// them, and that its stand-in exits at once in between.
func TestPlaceOutlivesPlays(t *testing.T) {
	g := gomega.NewWithT(t)
	c, err := fixtures.LoadCase("claude/newest/text/plain")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	place := t.TempDir()
	env, err := relay.Furnish(place, "claude", os.Environ())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	program := filepath.Join(place, "bin", "claude")
	g.Expect(env).To(gomega.ContainElements(
		"CLAUDE_CODE_EXECUTABLE="+program, "CLAUDE_CONFIG_DIR="+filepath.Join(place, "settings"), gomega.HavePrefix("PATH="+filepath.Dir(program)+":")))
	run := func() string {
		cmd := exec.Command(program, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
		cmd.Env, cmd.Stdin = append(os.Environ(), env...), strings.NewReader(hello)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	g.Expect(run()).To(gomega.ContainSubstring("the stand-in of claude has lost the suite that plays it"))
	for range 2 {
		play, err := standin.New(c, standin.Options{})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		p, err := relay.NewPostAt(place, "claude", play.Launcher(), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(p.Program).To(gomega.Equal(program))
		_, err = relay.NewPostAt(place, "claude", play.Launcher(), nil)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("another run plays at " + place)))
		g.Expect(run()).To(gomega.ContainSubstring("the Nile"))
		play.Close()
		g.Expect(p.Close()).To(gomega.Succeed())
		g.Expect(p.Dir).NotTo(gomega.BeADirectory())
	}
	// Files that a killed run has left there do no harm.
	l, err := net.Listen("unix", filepath.Join(place, "claude.s"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	g.Expect(l.Close()).To(gomega.Succeed())
	p, err := relay.NewPostAt(place, "claude", nil, nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.Close()).To(gomega.Succeed())
}
