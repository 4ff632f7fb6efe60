package perform_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/model"
	"github.com/turnspec/turnspec/fixtures"
)

// silent is a subject that opens without a runtime and emits no events.
type silent struct{ opened chan struct{} }

func (silent) Name() string    { return "silent" }
func (silent) Runtime() string { return "claude" }

func (s silent) Open(_ context.Context, o conformance.Open) (adapters.Session, error) {
	if o.Launch == nil {
		return nil, context.Canceled
	}
	close(s.opened)
	out := &silentSession{events: make(chan event.Event)}
	return out, nil
}

type silentSession struct {
	oddSession
	events chan event.Event
}

func (s *silentSession) Events() <-chan event.Event                   { return s.events }
func (s *silentSession) Send(context.Context, adapters.Message) error { return nil }
func (s *silentSession) Close(context.Context) error                  { close(s.events); return nil }

// TestLiveCancelled checks that a live run without events ends when it is cancelled,
// reports context.Canceled for its wait, and leaks no goroutine.
func TestLiveCancelled(t *testing.T) {
	g := NewWithT(t)
	leaks := goleak.IgnoreCurrent()
	scn, err := fixtures.LoadScenario("text/plain")
	g.Expect(err).NotTo(HaveOccurred())
	srv, err := model.Start(scn, model.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(t.Context())
	s := silent{make(chan struct{})}
	go func() {
		<-s.opened
		cancel()
	}()
	r := perform.Live(ctx, s, scn, perform.Runtime{Name: "claude", Dir: t.TempDir(), Model: srv})
	g.Expect(r.EndedEarly).To(BeTrue())
	g.Expect(r.Events).To(BeEmpty())
	g.Expect(errOf(r, fixtures.VerbOpen)).NotTo(HaveOccurred(), "Launch is set for a live run too")
	g.Expect(errOf(r, fixtures.VerbWait)).To(MatchError(context.Canceled))
	goleak.VerifyNone(t, leaks)
}

// shellSubject is a program: a shell script that is run when a session is opened.
type shellSubject struct {
	silent
	script string
	opened conformance.Open
	out    string
}

func (*shellSubject) External() {}

func (s *shellSubject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	s.opened = o
	p, err := o.Launch.Launch(ctx, proc.Command{Argv: []string{"/bin/sh", "-c", s.script}, Env: o.Env, Dir: o.Dir})
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(p.Stdout())
	s.out = string(out)
	proc.End(p, proc.Grace{})
	if err != nil {
		return nil, err
	}
	return nil, context.Canceled
}

// TestLiveProgramFindsRuntime checks that a program finds the real runtime as PROTOCOL.md
// promises, that it has the environment of the user, and the runtime that of the isolation.
func TestLiveProgramFindsRuntime(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the runtime of this test is a shell script")
	}
	g := NewWithT(t)
	scn, err := fixtures.LoadScenario("text/plain")
	g.Expect(err).NotTo(HaveOccurred())
	srv, err := model.Start(scn, model.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Setenv("OF_THE_USER", "yes")
	binary := filepath.Join(t.TempDir(), "real")
	g.Expect(os.WriteFile(binary, []byte("#!/bin/sh\necho \"runtime: $* model=$MODEL user=$OF_THE_USER subject=$OF_SUBJECT home=$HOME\"\ncat\n"), 0o755)).To(Succeed())
	s := &shellSubject{script: `echo "subject: model=$MODEL user=$OF_THE_USER"
export OF_SUBJECT=yes
echo by PATH | claude one
echo by variable | "$CLAUDE_CODE_EXECUTABLE" two`}
	dir := t.TempDir()
	r := perform.Live(t.Context(), s, scn, perform.Runtime{
		Name: "claude", Dir: dir, Model: srv, Command: []string{binary}, Args: []string{"--of-model"},
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "MODEL=here"}, ModelEnv: []string{"MODEL=here"},
	})
	g.Expect(r.Harness).To(BeEmpty())
	g.Expect(strings.Split(s.out, "\n")).To(Equal([]string{
		"subject: model=here user=yes",
		"runtime: --of-model one model=here user= subject=yes home=" + dir, "by PATH",
		"runtime: --of-model two model=here user= subject=yes home=" + dir, "by variable", "",
	}))
	g.Expect(s.opened.Args).To(BeEmpty(), "no program can pass them on")
	g.Expect(proc.Getenv(s.opened.Env, "PATH")).To(HaveSuffix(os.Getenv("PATH")))
}
