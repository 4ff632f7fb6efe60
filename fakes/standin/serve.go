package standin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/internal/signals"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// Serve plays a case as a program on stdio and returns its exit code: 128 and
// more when a signal ended it. When ctx is cancelled the runtime is sent
// SIGTERM. argv[0] is the name of the program.
func Serve(ctx context.Context, c *fixtures.Case, o Options, argv []string, stdin io.Reader, stdout, stderr io.Writer) int {
	e, _ := serve(ctx, c, o, argv, nil, stdin, stdout, stderr)
	return exitCode(e)
}

func exitCode(e proc.Exit) int {
	switch e.Signal {
	case "":
		return e.Code
	case proc.SIGINT:
		return 128 + 2
	case proc.SIGHUP:
		return 128 + 1
	case proc.SIGTERM:
		return 128 + 15
	}
	return 128 + 9
}

// serve is Serve with signals that go to the runtime.
func serve(ctx context.Context, c *fixtures.Case, o Options, argv []string, sent <-chan proc.Signal, stdin io.Reader, stdout, stderr io.Writer) (proc.Exit, *Play) {
	o.Manual = false
	play, err := New(c, o)
	if err != nil {
		fmt.Fprintln(stderr, "turnspec:", err)
		return proc.Exit{Code: 2}, nil
	}
	defer play.Close()
	p, err := play.Launcher().Launch(ctx, proc.Command{Argv: argv})
	if err != nil {
		fmt.Fprintln(stderr, "turnspec:", err)
		return proc.Exit{Code: 2}, nil
	}
	// The copy of stdin ends with stdin or with the program: a read of a terminal
	// cannot be interrupted.
	go func() {
		_, _ = io.Copy(p.Stdin(), stdin)
		_ = p.Stdin().Close()
	}()
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-sent:
				_ = p.Signal(s)
			case <-ctx.Done():
				_ = p.Signal(proc.SIGTERM)
				return
			case <-ended:
				return
			}
		}
	}()
	var copies sync.WaitGroup
	copies.Go(func() {
		if _, err := io.Copy(stdout, p.Stdout()); err != nil {
			_ = p.Signal(proc.SIGKILL) // its client is gone: SIGPIPE would end it
		}
	})
	copies.Go(func() { _, _ = io.Copy(stderr, p.Stderr()) })
	e := p.Wait()
	close(ended)
	copies.Wait()
	return e, play
}

// The variables that configure Main.
const (
	EnvCase  = "TURNSPEC_CASE"  // the id of the case
	EnvCases = "TURNSPEC_CASES" // a folder of cases; the embedded ones without it
	EnvSpeed = "TURNSPEC_SPEED" // see Options.Speed; no pauses without it
	// EnvState names a folder that the processes of one case share. They are
	// counted there, and play.jsonl reports what the subject did.
	EnvState = "TURNSPEC_STATE"
	// EnvHTTP lets the stand-in of a runtime that is an HTTP server serve HTTP, if it is
	// not empty. Otherwise requests and replies are lines on stdio.
	EnvHTTP = "TURNSPEC_HTTP"
)

// Main plays the case named by TURNSPEC_CASE if the program was started by the name
// of a runtime's executable. It returns handled false for any other name.
func Main(argv0 string, args []string) (handled bool, code int) {
	name := strings.TrimSuffix(filepath.Base(argv0), ".exe")
	rt := runtimes.OfProgram(name)
	if rt == nil {
		return false, 0
	}
	c, o, err := fromEnv(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "turnspec:", err)
		return true, 2
	}
	version := len(args) > 0 && args[0] == "--version"
	dir := os.Getenv(EnvState)
	if dir != "" && !version {
		if o.First, err = nextProcess(dir); err != nil {
			fmt.Fprintln(os.Stderr, "turnspec:", err)
			return true, 2
		}
	}
	argv := append([]string{name}, args...)
	sent, stop := signals.Notify()
	stdin, stdout := io.Reader(os.Stdin), io.Writer(os.Stdout)
	var front *httpFront
	if os.Getenv(EnvHTTP) != "" && !version {
		if front, err = listenHTTP(rt, c.Version, argv, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "turnspec:", err)
			return true, 2
		}
		stdin, stdout, sent = front.requests, front.replies, front.endAtTERM(sent)
	}
	e, play := serve(context.Background(), c, o, argv, sent, stdin, stdout, os.Stderr)
	if front != nil {
		e = front.close(e)
	}
	stop()
	if play != nil && !version {
		if err := report(play, max(1, o.First), dir, e); err != nil {
			fmt.Fprintln(os.Stderr, "turnspec:", err)
			return true, 2
		}
	}
	if e.Signal != "" {
		signals.EndBy(e.Signal)
	}
	return true, exitCode(e)
}

// TestscriptCommands are the executables of all runtimes for a test with testscript.
// Each plays the case named by TURNSPEC_CASE.
func TestscriptCommands() map[string]func() {
	out := map[string]func(){}
	for _, name := range runtimes.Programs() {
		out[name] = func() {
			_, code := Main(name, os.Args[1:])
			os.Exit(code)
		}
	}
	return out
}

func fromEnv(name string) (*fixtures.Case, Options, error) {
	var o Options
	id := os.Getenv(EnvCase)
	if id == "" {
		return nil, o, fmt.Errorf("%s is not set: which case is to be played as %s?", EnvCase, name)
	}
	corpus := fixtures.Embedded()
	if dir := os.Getenv(EnvCases); dir != "" {
		corpus = fixtures.OverEmbedded(os.DirFS(dir), dir)
	}
	c, err := corpus.LoadCase(id)
	if err != nil {
		return nil, o, err
	}
	if ProgramName(c.Runtime) != name {
		return nil, o, fmt.Errorf("%s: case %q is of %s, but it was started as %s", EnvCase, id, c.Runtime, name)
	}
	// Without a lifecycle of this version, reads are answered from the case alone.
	if o.ReadReplies, err = corpus.LoadReadReplies(c.Runtime, c.Version); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, o, err
	}
	if o.Requests, err = refusal.Load(corpus, c.Runtime, c.Version); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, o, err
	}
	if s := os.Getenv(EnvSpeed); s != "" {
		if o.Speed, err = strconv.ParseFloat(s, 64); err != nil || o.Speed < 0 {
			return nil, o, fmt.Errorf("%s: want a number from 0, got %q", EnvSpeed, s)
		}
	}
	return c, o, nil
}

// nextProcess counts the processes of a case: each makes the next file.
func nextProcess(dir string) (int, error) {
	for n := 1; ; n++ {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("process-%d", n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", EnvState, err)
		}
		return n, f.Close()
	}
}

// Report is a line of play.jsonl: what a subject did to one process.
type Report struct {
	Process    int      `json:"process"`
	Exit       string   `json:"exit"`
	Wrote      []string `json:"wrote"` // the kinds of its acts, an answer with its decision
	Unrecorded []string `json:"unrecorded"`
	Violations []string `json:"violations"`
}

func report(p *Play, process int, dir string, e proc.Exit) error {
	r := Report{Process: process, Exit: e.String(), Unrecorded: p.Unrecorded(), Violations: p.Violations()}
	for _, w := range p.ClientActions() {
		s := string(w.Kind)
		if w.Answer != "" {
			s += " " + w.Answer
		}
		r.Wrote = append(r.Wrote, s)
	}
	if dir == "" {
		for _, s := range r.Unrecorded {
			fmt.Fprintln(os.Stderr, "turnspec: unrecorded:", s)
		}
		for _, s := range r.Violations {
			fmt.Fprintln(os.Stderr, "turnspec: violation:", s)
		}
		return nil
	}
	b, err := json.Marshal(r, wire.AsWritten)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "play.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(b, '\n')); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// ProgramName is the name of a runtime's executable.
func ProgramName(runtime string) string {
	if rt := runtimes.Find(runtime); rt != nil {
		return rt.ProgramName()
	}
	return runtime
}

// IsMessage reports whether a line of a client is a message of the user.
func IsMessage(runtime string, line []byte) bool {
	rt := runtimes.Find(runtime)
	return rt != nil && rt.ReadInput(line).Kind == KindSend
}

// TextDelta returns the text that a line of a runtime adds to a message, of the
// session's agent or of a sub-agent; "" if it adds none. Lines may be glued.
func TextDelta(runtime string, line []byte) string {
	rt := runtimes.Find(runtime)
	if rt == nil {
		return ""
	}
	var out strings.Builder
	for b := range bytes.SplitSeq(line, []byte("\n")) {
		if l := rt.ReadOutput(b); l.Piece.Kind == wire.Text {
			out.WriteString(l.Piece.Text)
		}
	}
	return out.String()
}
