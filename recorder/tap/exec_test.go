//go:build unix

package tap_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/recorder/tap"
)

// The test's binary is a client's tap or a runtime if the first argument is one of these.
const (
	argTap     = "test-tap"     // FOLDER CMD ARG…
	argSignals = "test-signals" // prints its id and group, the lines of stdin and its signals
)

func TestMain(m *testing.M) {
	if tap.Main(os.Args) {
		return
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case argTap:
			fmt.Fprintln(os.Stderr, tap.Exec(os.Args[2], os.Args[3:], os.Stderr))
			os.Exit(2)
		case argSignals:
			printSignals()
			return
		}
	}
	os.Exit(m.Run())
}

func printSignals() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	lines := make(chan string)
	go func() {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			lines <- in.Text()
		}
		close(lines)
	}()
	fmt.Println(os.Getpid(), syscall.Getpgrp())
	for {
		select {
		case s := <-signals:
			fmt.Println(s)
		case l, ok := <-lines:
			if !ok {
				return
			}
			fmt.Println(l)
		}
	}
}

// client is a client of a runtime behind a tap.
type client struct {
	*exec.Cmd
	dir string
	in  io.WriteCloser
	out *bufio.Reader
	err bytes.Buffer
}

func start(t *testing.T, argv ...string) *client {
	t.Helper()
	return startIn(t, filepath.Join(t.TempDir(), "recordings"), argv...)
}

func startIn(t *testing.T, dir string, argv ...string) *client {
	t.Helper()
	c := &client{dir: dir}
	c.Cmd = exec.Command(os.Args[0], append([]string{argTap, dir}, argv...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Stderr = &c.err
	var err error
	if c.in, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	c.Stdout, c.out = w, bufio.NewReader(r)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	t.Cleanup(func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	return c
}

func (c *client) line(t *testing.T) string {
	t.Helper()
	s, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%v after %q", err, s)
	}
	return strings.TrimSuffix(s, "\n")
}

// recorded returns the recording after it has ended.
func (c *client) recorded(t *testing.T) string {
	t.Helper()
	var b []byte
	last := `"exit":`
	if runtime.GOOS != "linux" {
		last = `"eof":`
	}
	NewWithT(t).Eventually(func() string {
		files, _ := filepath.Glob(filepath.Join(c.dir, "*.jsonl"))
		if len(files) != 1 {
			return ""
		}
		b, _ = os.ReadFile(files[0])
		return string(b)
	}).WithTimeout(30 * time.Second).Should(ContainSubstring(last))
	return string(b)
}

func TestSessionIsUnchanged(t *testing.T) {
	g := NewWithT(t)
	c := start(t, "sh", "-c", `read l; echo "got $l"; cat >/dev/null; echo no >&2; exit 3`)
	fmt.Fprintln(c.in, "one")
	g.Expect(c.line(t)).To(Equal("got one"))
	g.Expect(c.in.Close()).To(Succeed())
	rest, err := io.ReadAll(c.out)
	g.Expect(rest, err).To(BeEmpty())
	g.Expect(c.Wait()).To(MatchError("exit status 3"))
	g.Expect(c.err.String()).To(Equal("no\n"))
	for _, want := range []string{`"spawn":["sh","-c",`, `"in":{"raw":"one"}`, `"out":{"raw":"got one"}`, `"eof":true`, `"err":{"raw":"no"}`} {
		g.Expect(c.recorded(t)).To(ContainSubstring(want))
	}
}

// A line is passed on before it ends, and input before output that it causes is recorded so.
func TestBytesArePassedAtOnce(t *testing.T) {
	g := NewWithT(t)
	c := start(t, "sh", "-c", `printf 'be'; read l; echo gun; cat >/dev/null`)
	part := make([]byte, 2)
	_, err := io.ReadFull(c.out, part)
	g.Expect(string(part), err).To(Equal("be"))
	fmt.Fprintln(c.in, "go")
	g.Expect(c.line(t)).To(Equal("gun"))
	g.Expect(c.in.Close()).To(Succeed())
	g.Expect(c.Wait()).To(Succeed())
	g.Expect(c.recorded(t)).To(MatchRegexp(`(?s)"in":\{"raw":"go"\}.*"out":\{"raw":"begun"\}`))
}

// The runtime is the client's child and in its group: each signal reaches it once.
func TestSignals(t *testing.T) {
	g := NewWithT(t)
	c := start(t, os.Args[0], argSignals)
	pid := strconv.Itoa(c.Process.Pid)
	g.Expect(c.line(t)).To(Equal(pid + " " + pid))
	g.Expect(syscall.Kill(-c.Process.Pid, syscall.SIGTERM)).To(Succeed())
	g.Expect(c.line(t)).To(Equal("terminated"))
	g.Expect(syscall.Kill(c.Process.Pid, syscall.SIGHUP)).To(Succeed())
	g.Expect(c.line(t)).To(Equal("hangup"))
	g.Expect(syscall.Kill(-c.Process.Pid, syscall.SIGINT)).To(Succeed())
	g.Expect(c.line(t)).To(Equal("interrupt"))
	fmt.Fprintln(c.in, "end")
	g.Expect(c.line(t)).To(Equal("end"))
	g.Expect(c.in.Close()).To(Succeed())
	g.Expect(c.Wait()).To(Succeed())
	c.recorded(t)
}

// A client that kills its runtime leaves nothing of it, and a whole recording.
func TestKilledRuntime(t *testing.T) {
	for _, group := range []bool{false, true} {
		g := NewWithT(t)
		c := start(t, os.Args[0], argSignals)
		c.line(t)
		fmt.Fprintln(c.in, "last")
		g.Expect(c.line(t)).To(Equal("last"))
		pid := c.Process.Pid
		if group {
			pid = -pid
		}
		g.Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
		_, err := c.out.ReadByte()
		g.Expect(err).To(MatchError(io.EOF))
		g.Expect(c.Wait()).To(MatchError("signal: killed"))
		g.Expect(c.recorded(t)).To(ContainSubstring(`"out":{"raw":"last"}`))
		if runtime.GOOS == "linux" {
			g.Expect(c.recorded(t)).To(ContainSubstring(`"exit":"SIGKILL"`))
		}
	}
}

// A pipe that one side closes is closed for the other.
func TestHalfOpenPipes(t *testing.T) {
	g := NewWithT(t)
	// The runtime no longer reads, and goes on.
	c := start(t, "sh", "-c", `exec <&-; echo deaf; exec sleep 60`)
	g.Expect(c.line(t)).To(Equal("deaf"))
	g.Eventually(func() error {
		_, err := fmt.Fprintln(c.in, "hello")
		return err
	}).WithTimeout(30 * time.Second).Should(MatchError(syscall.EPIPE))
	g.Expect(c.Process.Kill()).To(Succeed())
	_ = c.Wait()

	// The client no longer reads: the runtime gets SIGPIPE.
	var closed *exec.Cmd
	r, w, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	closed = exec.Command(os.Args[0], argTap, t.TempDir(), "sh", "-c", "while :; do echo x; done")
	closed.Stdout = w
	g.Expect(closed.Start()).To(Succeed())
	_ = w.Close()
	_, err = r.Read(make([]byte, 1))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Close()).To(Succeed())
	g.Expect(closed.Wait()).To(MatchError("signal: broken pipe"))
}

func TestBigLine(t *testing.T) {
	g := NewWithT(t)
	c := start(t, "cat")
	line := `{"data":"` + strings.Repeat("abcd ef ", 2<<20) + `"}`
	go func() {
		_, _ = io.WriteString(c.in, line+"\n")
		_ = c.in.Close()
	}()
	g.Expect(c.line(t) == line).To(BeTrue())
	g.Expect(c.Wait()).To(Succeed())
	g.Expect(strings.Count(c.recorded(t), "\n")).To(Equal(5)) // spawn, in, out, eof, exit
}

// A recording that cannot begin leaves the session as it is.
func TestNoFolder(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "file")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	c := startIn(t, filepath.Join(file, "recordings"), "cat")
	fmt.Fprintln(c.in, "one")
	g.Expect(c.line(t)).To(Equal("one"))
	g.Expect(c.in.Close()).To(Succeed())
	g.Expect(c.Wait()).To(Succeed())
	g.Expect(c.err.String()).To(MatchRegexp(`^turnspec tap: cat is not recorded: mkdir .*: not a directory\n$`))
}

// A script under the name of the program would start itself again and again.
func TestScriptThatNamesItself(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "claude"), []byte("#!/bin/sh\nexec turnspec tap --to x -- claude \"$@\"\n"), 0o700)).To(Succeed())
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	c := start(t, "claude")
	g.Expect(c.Wait()).To(MatchError("exit status 2"))
	g.Expect(c.err.String()).To(ContainSubstring("is itself a script that starts turnspec tap: write the path of the real claude"))
}
