package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

const sleeper = "TURNSPEC_TEST_SLEEPER"

func TestMain(m *testing.M) {
	if os.Getenv(sleeper) != "" {
		time.Sleep(time.Hour)
	}
	if how := os.Getenv(starting); how != "" {
		startAndEnd(how)
	}
	os.Exit(m.Run())
}

// starting says in the environment of this test's program how it ends after it has started a sleeper.
const starting = "TURNSPEC_TEST_STARTS"

// startAndEnd starts a sleeper, prints its number, and ends as the environment says.
func startAndEnd(how string) {
	p, err := Exec{EndWithProgram: true}.Launch(context.Background(), Command{Argv: []string{os.Args[0]}, Env: append(os.Environ(), sleeper+"=1")})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.(*child).cmd.Process.Pid)
	if how == "panics" {
		go func() { panic("as a bug does") }()
	}
	select {}
}

// Without signals, SIGTERM and SIGKILL end a process; a process that has ended, and a
// signal that cannot be sent, do no harm.
func TestKill(t *testing.T) {
	g := NewWithT(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sleeper+"=1")
	g.Expect(cmd.Start()).To(Succeed())
	g.Expect(kill(cmd.Process, SIGINT)).To(MatchError("SIGINT: this system has no signals"))
	g.Expect(kill(cmd.Process, SIGTERM)).To(Succeed())
	_ = cmd.Wait()
	g.Expect(cmd.ProcessState.Success()).To(BeFalse())
	g.Expect(kill(cmd.Process, SIGKILL)).To(Succeed())
}

// TestMissingFolder checks that the error names the folder, and not the program, which is there.
func TestMissingFolder(t *testing.T) {
	g := NewWithT(t)
	for _, dir := range []string{"/no/such/folder", os.Args[0]} {
		_, err := Exec{}.Launch(t.Context(), Command{Argv: []string{os.Args[0]}, Dir: dir})
		g.Expect(err).To(MatchError(SatisfyAll(HavePrefix("the working directory: "), ContainSubstring(dir))))
	}
}

// End ends a real process that ignores its stdin.
func TestEnd(t *testing.T) {
	g := NewWithT(t)
	p, err := Exec{}.Launch(t.Context(), Command{Argv: []string{os.Args[0]}, Env: append(os.Environ(), sleeper+"=1")})
	g.Expect(err).NotTo(HaveOccurred())
	exit := End(p, Grace{Stdin: time.Millisecond, Term: time.Minute})
	g.Expect(exit).NotTo(Equal(Exit{}))
}
