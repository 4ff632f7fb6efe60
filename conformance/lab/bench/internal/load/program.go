package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/relay"
	"github.com/turnspec/turnspec/fakes/standin"
)

// The variables that make a program play: a plan, and the socket of a host.
const (
	envPlan = "TURNSPEC_LOAD"
	envHost = "TURNSPEC_LOAD_HOST"
)

// ready reports that this program has called Main, so that it can be started to
// play.
var ready bool

// errNotReady is returned if the program has not called Main.
var errNotReady = errors.New("this program cannot be started as a stand-in under load: call load.Main() first in main, and in a test in TestMain")

// Main plays and exits if this program was started for that. A program that makes a
// Post or a Host calls it first.
func Main() {
	ready = true
	text := os.Getenv(envPlan)
	if text == "" {
		return
	}
	socket := os.Getenv(envHost)
	_ = os.Unsetenv(envPlan) // children of this program are no stand-ins
	_ = os.Unsetenv(envHost)
	code, err := playPlan(text, socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, "turnspec: the stand-in under load:", err)
		code = 2
	}
	os.Exit(code)
}

func playPlan(text, socket string) (int, error) {
	var p Plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return 2, err
	}
	s, err := p.Load()
	if err != nil {
		return 2, err
	}
	if socket != "" {
		err := host(s, socket)
		return 0, errors.Join(err, p.writeEffort())
	}
	argv := append([]string{standin.ProgramName(s.c.Runtime)}, os.Args[1:]...)
	e, err := s.Serve(context.Background(), Clock{}, argv, os.Stdin, os.Stdout)
	return e.Code, errors.Join(err, p.writeEffort())
}

// writeEffort writes this program's Effort.
func (p Plan) writeEffort() error {
	if p.Dir == "" {
		return nil
	}
	b, err := json.Marshal(Effort{PID: os.Getpid(), CPU: CPUTime()})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.Dir, fmt.Sprintf("effort-%d", os.Getpid())), b, 0o600)
}

// Efforts returns what the programs of a plan have written to its folder.
func Efforts(dir string) ([]Effort, error) {
	files, err := filepath.Glob(filepath.Join(dir, "effort-*"))
	var out []Effort
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		var e Effort
		if err := json.Unmarshal(b, &e); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		out = append(out, e)
	}
	return out, err
}

// Post is a folder in which clients find a stand-in that plays a plan.
type Post struct {
	Program string // the stand-in
	Dir     string // a folder of this post, which Close removes
	name    string
}

// NewPost makes a post and sets the plan's Dir to it.
func NewPost(p Plan, runtime string) (*Post, error) {
	if !ready {
		return nil, errNotReady
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "turnspec-load-")
	if err != nil {
		return nil, err
	}
	o := &Post{Dir: dir, name: standin.ProgramName(runtime)}
	o.Program = filepath.Join(dir, "bin", o.name)
	p.Dir = dir
	text, err := json.Marshal(p)
	script := fmt.Sprintf("#!/bin/sh\nexport %s=%s\nexec %s \"$@\"\n", envPlan, shellQuote(string(text)), shellQuote(self))
	for _, d := range []string{"bin", "settings", "work"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(dir, d), 0o755))
	}
	if err = errors.Join(err, os.WriteFile(o.Program, []byte(script), 0o755)); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// Work returns an empty working directory.
func (o *Post) Work() string { return filepath.Join(o.Dir, "work") }

// Env returns an environment in which a client finds the stand-in.
func (o *Post) Env(base []string) []string {
	return relay.Environ(base, o.name, o.Program, filepath.Join(o.Dir, "settings"))
}

// Close removes the folder.
func (o *Post) Close() error { return os.RemoveAll(o.Dir) }

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Host is a program that plays many sessions, one for each connection.
type Host struct {
	Socket string // where it listens
	p      proc.Process
}

// NewHost starts a host that plays the plan, in the folder of a post.
func NewHost(ctx context.Context, o *Post, p Plan, number int) (*Host, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p.Dir = o.Dir
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	h := &Host{Socket: filepath.Join(o.Dir, fmt.Sprintf("%d.s", number))}
	env := append(os.Environ(), envPlan+"="+string(text), envHost+"="+h.Socket)
	if h.p, err = (proc.Exec{}).Launch(ctx, proc.Command{Argv: []string{self}, Env: env}); err != nil {
		return nil, err
	}
	b := make([]byte, 1)
	if _, err := h.p.Stdout().Read(b); err != nil { // it listens
		return nil, errors.Join(fmt.Errorf("a host of sessions did not start: %w", err), h.Close())
	}
	return h, nil
}

// Launcher starts sessions on the host.
func (h *Host) Launcher() proc.Launcher {
	return proc.LauncherFunc(func(ctx context.Context, c proc.Command) (proc.Process, error) {
		argv, err := json.Marshal(c.Argv)
		if err != nil {
			return nil, err
		}
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unix", h.Socket)
		if err != nil {
			return nil, err
		}
		if _, err := conn.Write(append(argv, '\n')); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return newRemote(conn.(*net.UnixConn)), nil
	})
}

// Close ends the host.
func (h *Host) Close() error {
	e := proc.End(h.p, ending)
	if e.Code != 0 {
		return fmt.Errorf("a host of sessions: %v", e)
	}
	return nil
}
