package standin_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

func TestMain(m *testing.M) {
	// A link named codex or claude to this binary plays, too.
	if handled, code := standin.Main(os.Args[0], os.Args[1:]); handled {
		os.Exit(code)
	}
	testscript.Main(m, standin.TestscriptCommands())
}

func TestPrograms(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			// acts/<name>-<process>: what the recording's client wrote.
			for name, id := range map[string]string{"codex": codexPlain, "claude": claudePlain, "codex-resume": codexResume, "claude-resume": claudeResume} {
				c := load(t, id)
				for n := 1; n <= 2; n++ {
					var in bytes.Buffer
					for _, w := range acts(c) {
						if w.Process == n {
							in.Write(append(slices.Clone(w.Bytes), '\n'))
						}
					}
					file := filepath.Join(e.WorkDir, name+"-"+string(rune('0'+n)))
					if err := os.WriteFile(file, in.Bytes(), 0o600); err != nil {
						return err
					}
				}
			}
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			return nil
		},
	})
}

func TestServePlaysOnStdio(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, codexPlain)
	var in, out, errb bytes.Buffer
	for _, w := range acts(c) {
		in.Write(append(slices.Clone(w.Bytes), '\n'))
	}
	// Stdin stays open until the play has come to its end.
	r, w := io.Pipe()
	saw := &watch{b: &out, what: []byte(`"method":"turn/completed"`), then: func() { _ = w.Close() }}
	go func() { _, _ = w.Write(in.Bytes()) }()
	code := standin.Serve(context.Background(), c, standin.Options{KeepIDs: true}, []string{"codex", "app-server"}, r, saw, &errb)
	g.Expect(code).To(gomega.Equal(0))
	wd, err := os.Getwd()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	want := strings.ReplaceAll(recorded(c, fixtures.Out, 1), "<work>", wd)
	same(t, out.String(), strings.ReplaceAll(want, "<home>", os.Getenv("HOME")))
	g.Expect(errb.String()).To(gomega.Equal(recorded(c, fixtures.Err, 1)))
}

// watch is a writer that does something when it has seen a text.
type watch struct {
	b    *bytes.Buffer
	what []byte
	then func()
}

func (w *watch) Write(p []byte) (int, error) {
	n, err := w.b.Write(p)
	if w.then != nil && bytes.Contains(w.b.Bytes(), w.what) {
		w.then()
		w.then = nil
	}
	return n, err
}

func TestServeEndsWithItsContext(t *testing.T) {
	g := gomega.NewWithT(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	go func() {
		_, _ = w.Write([]byte("\n")) // it returns when the stand-in reads
		cancel()
	}()
	code := standin.Serve(ctx, load(t, claudePlain), standin.Options{}, []string{"claude", "-p"}, r, io.Discard, io.Discard)
	g.Expect(code).To(gomega.Equal(143))
}

func TestLinkedProgramExitsAsTheRuntime(t *testing.T) {
	// What a shell started in the background is deaf to SIGINT, and so is all that
	// it starts, unless it hears the signal itself.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt)
	defer signal.Stop(heard)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name, id string
		s        proc.Signal
		want     proc.Exit
	}{
		{"codex", codexPlain, proc.SIGTERM, proc.Exit{}},
		{"codex", codexPlain, proc.SIGINT, proc.Exit{Code: -1, Signal: proc.SIGINT}},
		{"claude", claudePlain, proc.SIGTERM, proc.Exit{Code: 143}},
		{"claude", claudePlain, proc.SIGKILL, proc.Exit{Code: -1, Signal: proc.SIGKILL}},
	} {
		g := gomega.NewWithT(t)
		dir := t.TempDir()
		link := filepath.Join(dir, x.name)
		if err := os.Symlink(self, link); err != nil {
			t.Skip("no links here:", err)
		}
		c := load(t, x.id)
		p, err := proc.Exec{}.Launch(context.Background(), proc.Command{
			Argv: []string{link, "app-server"}, Dir: dir, Env: []string{"TURNSPEC_CASE=" + x.id, "HOME=" + dir, "GOCOVERDIR=" + dir},
		})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = p.Stdin().Write(append(acts(c)[0].Bytes, '\n'))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		line, err := lines.NewReader(p.Stdout(), 0).Next() // it has begun to play, and takes signals
		g.Expect(string(line), err).To(gomega.ContainSubstring(map[string]string{"codex": `"codexHome":"` + dir, "claude": `"request_id":"r1"`}[x.name]))
		g.Expect(p.Signal(x.s)).To(gomega.Succeed())
		g.Expect(p.Wait()).To(gomega.Equal(x.want))
	}
}
