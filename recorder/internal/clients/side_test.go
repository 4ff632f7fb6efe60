//go:build clients

package clients

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fakes/model"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder"
	"github.com/turnspec/turnspec/recorder/internal/drive"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/registry"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// limit bounds one run of a client.
const limit = 60 * time.Second

// side is one of the two runs of a client.
type side struct {
	c      client
	s      *fixtures.Scenario
	rt     runtimes.Runtime
	rooms  *isolate.Rooms
	env    []string
	binary string
	end    []func() error // checks after the client has exited
}

// plan is the input of a driver.
type plan struct {
	Work   string `json:"work"`
	Binary string `json:"binary"` // the runtime, or the stand-in
	Agent  string `json:"agent,omitempty"`
	// Runtime is where the runtime is installed, for a client that it brings.
	Runtime string `json:"runtime"`
	Mode    string `json:"mode,omitempty"`
	Title   string `json:"title,omitempty"`
	Model   string `json:"model,omitempty"` // the address of the model, for a client that talks to it
	Steps   []step `json:"acts"`
}

// perform runs the client and returns its output, with the folders of the machine
// replaced.
func (c client) perform(ctx context.Context, s *fixtures.Scenario, rt runtimes.Runtime, kept string, prepare func(*side) error) (seen []string, err error) {
	rooms, err := isolate.NewRooms()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rooms.Remove() }()
	x := &side{c: c, s: s, rt: rt, rooms: rooms, env: rooms.Env(rt.Path...)}
	for name, data := range s.Workspace {
		if err := writeFile(filepath.Join(rooms.Work, filepath.FromSlash(name)), data); err != nil {
			return nil, err
		}
	}
	if err := prepare(x); err != nil {
		return nil, err
	}
	out, err := x.runDriver(ctx)
	for _, f := range x.end {
		err = errors.Join(err, f())
	}
	installed := rt.Root
	if target, err := filepath.EvalSymlinks(rt.Root); err == nil {
		installed = target
	}
	text := strings.NewReplacer(
		installed, "<runtime>", rt.Root, "<runtime>",
		rooms.Work, "<work>", strings.TrimPrefix(rooms.Work, "/"), "<work>", rooms.Home, "<home>", rooms.Tmp, "<tmp>", slug(rooms.Work), "<work:slug>", slug(rooms.Home), "<home:slug>",
	).Replace(string(out))
	err = errors.Join(err, os.WriteFile(kept, []byte(text), 0o644))
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n"), err
}

// slug is the file name that runtimes make of a path.
func slug(path string) string { return notAlnum.ReplaceAllString(path, "-") }

var notAlnum = regexp.MustCompile(`[^A-Za-z0-9]`)

func writeFile(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

func (x *side) runDriver(ctx context.Context) ([]byte, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	p := plan{Work: x.rooms.Work, Binary: x.binary, Title: x.c.title, Runtime: x.rt.Root}
	if p.Steps, err = stepsFor(x.s); err != nil {
		return nil, err
	}
	if x.c.agent != "" {
		p.Agent = filepath.Join(dir, "node_modules", filepath.FromSlash(x.c.agent))
		x.env = append(x.env, "CODEX_PATH="+x.binary, "CLAUDE_CODE_EXECUTABLE="+x.binary)
	}
	p.Mode = x.c.mode[""]
	for _, need := range x.s.Needs {
		if m, ok := x.c.mode[need]; ok {
			p.Mode = m
		}
	}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(x.rooms.Tmp, "plan.json")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", filepath.Join(dir, x.c.script), file)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = x.rooms.Work, x.env, &out, &errs
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		err = fmt.Errorf("%s: %w\n%s\n%s", x.c.name, err, tail(out.String()), tail(errs.String()))
		return out.Bytes(), err
	}
	return out.Bytes(), nil
}

func tail(s string) string { return s[max(0, len(s)-3000):] }

// onRuntime lets the client drive the real runtime against the scripted model.
func (x *side) onRuntime() error {
	driven, err := registry.Get(x.rt.Name)
	if err != nil {
		return err
	}
	srv, err := model.Start(x.s, model.Options{Dir: x.rooms.Work, Aside: cmp.Or(driven.Aside, recorder.Title)})
	if err != nil {
		return err
	}
	x.end = append(x.end, srv.Err, srv.Close)
	conn, err := registry.Connect(x.rt.Name, x.rt.Version, x.s.InitialMode(), x.s.Needs, srv.URL())
	if err != nil {
		return err
	}
	x.binary, x.env = x.rt.Binary, append(x.env, conn.Env...)
	return errors.Join(conn.WriteHome(x.rooms.Home), x.config(conn))
}

// config writes the options of the connection into the configuration of codex.
func (x *side) config(conn drive.Connection) error {
	var lines strings.Builder
	for i, a := range conn.Args {
		if a == "-c" {
			lines.WriteString(conn.Args[i+1] + "\n")
		}
	}
	if lines.Len() == 0 {
		return nil
	}
	return writeFile(filepath.Join(x.rooms.Home, ".codex", "config.toml"), []byte(lines.String()))
}

// onStandIn lets the client drive the stand-in, which is this program under the name
// of the runtime.
func (x *side) onStandIn() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	state := filepath.Join(x.rooms.Tmp, "state")
	x.binary = filepath.Join(x.rooms.Tmp, standin.ProgramName(x.rt.Name))
	if err := errors.Join(os.Mkdir(state, 0o755), os.Symlink(self, x.binary)); err != nil {
		return err
	}
	// The files that tools would have made.
	for _, a := range x.s.Client {
		if a.Verb == fixtures.VerbWait && a.What == "file" {
			if err := writeFile(filepath.Join(x.rooms.Work, a.ID), nil); err != nil {
				return err
			}
		}
	}
	id := path.Join(x.rt.Name, x.rt.Version, x.s.ID)
	x.env = append(x.env, standin.EnvCase+"="+id, standin.EnvState+"="+state, standin.EnvSpeed+"=1")
	if rt := wires.Find(x.rt.Name); rt != nil && rt.Launched(x.rt.Version, []string{rt.ProgramName(), "serve"}, nil).Listens != "" {
		x.env = append(x.env, standin.EnvHTTP+"=1")
	}
	x.end = append(x.end, func() error { return checkReports(state) })
	conn, err := registry.Connect(x.rt.Name, x.rt.Version, x.s.InitialMode(), x.s.Needs, "http://127.0.0.1:1")
	if err != nil {
		return err
	}
	x.env = append(x.env, conn.Env...)
	return x.config(conn)
}

// grace is how long a stand-in may outlive its client. A killed one writes no
// report.
const grace = 5 * time.Second

// readReports waits for the report of each process of the stand-in, because a client
// may exit before its runtime.
func readReports(state string) ([]byte, error) {
	began, err := filepath.Glob(filepath.Join(state, "process-*"))
	if err != nil || len(began) == 0 {
		return nil, errors.Join(errors.New("the stand-in was not started"), err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(grace); ; <-tick.C {
		b, err := os.ReadFile(filepath.Join(state, "play.jsonl"))
		switch {
		case err == nil && bytes.Count(b, []byte("\n")) >= len(began):
			return b, nil
		case time.Now().After(late):
			return b, nil
		}
	}
}

// checkReports returns an error if the client did something that the case does not
// contain.
func checkReports(state string) error {
	b, err := readReports(state)
	if err != nil {
		return err
	}
	var bad []string
	for line := range strings.Lines(string(b)) {
		var r standin.Report
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return err
		}
		for _, s := range slices.Concat(r.Unrecorded, r.Violations) {
			bad = append(bad, fmt.Sprintf("process %d: %s", r.Process, s))
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("the client left the recorded case:\n\t%s", strings.Join(bad, "\n\t"))
	}
	return nil
}
