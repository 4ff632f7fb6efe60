// Package recorder turns a scenario into a case. It is not part of the stable interface.
//
// A real runtime performs the scenario against a scripted model, isolated from
// the machine and the network. All lines between client and runtime are kept with
// their time. Secrets and the vendor's prose are redacted, and the result is
// written only if the strict loader accepts it. A recording that fails leaves no
// file.
package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/mcp"
	"github.com/turnspec/turnspec/fakes/model"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/compare"
	"github.com/turnspec/turnspec/recorder/internal/drive"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/redact"
	"github.com/turnspec/turnspec/recorder/registry"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// Options configures a recording.
type Options struct {
	Scenario *fixtures.Scenario
	Runtime  string
	Version  string            // "": the pinned default
	Runtimes string            // folder of installed runtimes; "": runtimes.Dir
	Found    *runtimes.Runtime // used instead of Runtime and Version if set
	Out      string            // the corpus folder; "": write nothing
	Deadline time.Duration
	Date     string        // of the head; "": today
	Launcher proc.Launcher // nil: real processes with a /tmp of their own

	aside string // see model.Options
}

// Report describes a recording.
type Report struct {
	Runtime, Version string
	File             string // the file that was written, or ""
	Isolation        []string
	Took             time.Duration
	Lines, Requests  int
}

// Record performs the scenario and returns its redacted case.
func Record(ctx context.Context, o Options) (*fixtures.Case, *Report, error) {
	rt, rep, err := o.begin()
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	c, err := perform(ctx, o, rt, drive.Run)
	if err != nil {
		return nil, rep, err
	}
	rep.Lines, rep.Requests = len(c.Wire), len(c.Witness)
	b, err := c.Format()
	if err != nil {
		return nil, rep, err
	}
	// The case is parsed again, so that the caller gets it as others will read it.
	c, err = fixtures.ParseCase(c.ID+".txtar", c.ID, b)
	if err != nil {
		return nil, rep, fmt.Errorf("the loader rejects the recording: %w", err)
	}
	if err := rep.save(ctx, o.Out, c.ID+".txtar", b); err != nil {
		return nil, rep, err
	}
	rep.Took = time.Since(start)
	return c, rep, nil
}

// begin finds the installed runtime.
func (o Options) begin() (rt runtimes.Runtime, rep *Report, err error) {
	if o.Found != nil {
		rt = *o.Found
	} else if rt, err = runtimes.Find(o.Runtimes, o.Runtime, o.Version); err != nil {
		return rt, nil, err
	}
	return rt, &Report{Runtime: rt.Name, Version: rt.Version, Isolation: isolate.Report()}, nil
}

// save writes a file of the corpus, unless ctx is cancelled or out is "".
func (r *Report) save(ctx context.Context, out, name string, b []byte) error {
	if err := ctx.Err(); err != nil || out == "" {
		return err
	}
	r.File = filepath.Join(out, filepath.FromSlash(name))
	return writeAtomic(r.File, b)
}

// Address is where the model listens inside a network namespace. It is always
// the same, so that no line depends on it.
const Address = "127.0.0.1:8790"

// perform runs the scenario and returns the redacted wire and witness.
func perform(ctx context.Context, o Options, rt runtimes.Runtime, run func(context.Context, drive.Options) error) (*fixtures.Case, error) {
	client, err := registry.Get(rt.Name)
	if err != nil {
		return nil, err
	}
	rooms, err := isolate.NewRooms()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rooms.Remove() }()
	// Wrong facts are reported before the runtime starts.
	redactor, err := redact.New(factsOf(rooms, rt, o.Scenario))
	if err != nil {
		return nil, err
	}
	if err := mcp.Install(rooms.Bin, o.Scenario.Servers); err != nil {
		return nil, err
	}
	remote, err := mcp.Listen(fixtures.ServerAddress, o.Scenario.Servers)
	if err != nil {
		return nil, err
	}
	defer func() { _ = remote.Close() }()
	mo := model.Options{Dir: rooms.Work, Aside: cmp.Or(client.Aside, o.aside)}
	if isolate.Isolated() {
		mo.Addr = Address
	}
	srv, err := model.Start(o.Scenario, mo)
	if err != nil {
		return nil, err
	}
	defer func() { _ = srv.Close() }()
	if o.Date == "" {
		o.Date = time.Now().Format(time.DateOnly)
	}
	c := &fixtures.Case{
		ID:       path.Join(rt.Name, rt.Version, o.Scenario.ID),
		Scenario: o.Scenario.ID, Runtime: rt.Name, Version: rt.Version, Recorded: o.Date + " turnspec record",
	}
	if o.Launcher == nil {
		o.Launcher = rooms.Launcher()
	}
	if client.Launcher != nil {
		o.Launcher = client.Launcher
	}
	err = run(ctx, drive.Options{
		Scenario: o.Scenario, Runtime: client, Version: rt.Version, Binary: rt.Binary,
		Env: rooms.Env(rt.Path...), Work: rooms.Work, Model: srv, Launcher: o.Launcher,
		Deadline: o.Deadline,
		Tee:      func(l fixtures.WireLine) { c.Wire = append(c.Wire, l) },
	})
	// If the model rejects a request, the driver waits for something that never
	// comes, so the model's error is reported first.
	if err := errors.Join(srv.Err(), err); err != nil {
		return nil, fmt.Errorf("record %s on %s %s: %w", o.Scenario.ID, rt.Name, rt.Version, err)
	}
	if err := srv.Close(); err != nil { // after that the witness is complete
		return nil, err
	}
	c.Witness = srv.Witness()
	if err := checkUnused(o.Scenario, srv.Unused(), c.Witness); err != nil {
		return nil, err
	}
	return c, redactor.Case(c)
}

// factsOf returns the names of this machine and of the recording's folders.
func factsOf(r *isolate.Rooms, rt runtimes.Runtime, s *fixtures.Scenario) redact.Facts {
	f := redact.Facts{
		Home: r.Home, Work: r.Work, Tmp: r.Tmp, UID: os.Getuid(), Scenario: s,
		Paths: map[string]string{r.Root: "room"},
	}
	for _, r := range append([]runtimes.Runtime{rt}, rt.Uses...) {
		if r.Root == "" {
			continue // it is a part of this module
		}
		f.Paths[r.Root] = "runtime"
		if target, err := filepath.EvalSymlinks(r.Root); err == nil {
			f.Paths[target] = "runtime"
		}
	}
	if u, err := user.Current(); err == nil {
		f.User = u.Username
	}
	if h, err := os.Hostname(); err == nil && h != isolate.HostName {
		f.Host = h
	}
	return f
}

// writeAtomic writes a file as a whole or not at all.
func writeAtomic(file string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".recording-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(b)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}

// Check records a case again and compares it with the stored one. diff is "" if
// they are equal.
func Check(ctx context.Context, o Options, stored *fixtures.Case) (diff string, rep *Report, err error) {
	o.Out, o.Runtime, o.Version = "", stored.Runtime, stored.Version
	now, rep, err := Record(ctx, o)
	if err != nil {
		return "", rep, err
	}
	return compare.Diff(stored, now), rep, nil
}

// checkUnused returns an error if the model did not send a reply of the scenario,
// because then the scenario describes something that did not happen. A reply may
// stay unused if it is bound to a turn that not every runtime begins by itself,
// to a request without news that not every runtime makes, or to a message that the
// runtime sent together with another one; or if it repeats a reply without an end, which
// the runtime has kept.
func checkUnused(s *fixtures.Scenario, unused []int, witness []fixtures.Request) error {
	optional := map[string]bool{"task": true, "again": true, "compact": true}
	cut, keeps := false, false
	for _, r := range witness {
		keeps = keeps || cut && slices.Contains(r.New, "again")
		cut = r.Ended == fixtures.EndedCut
		if len(r.New) > 1 {
			for _, id := range r.New {
				optional[id] = true
			}
		}
	}
	var lines []string
	for _, replies := range s.Model {
		for _, r := range replies {
			if slices.Contains(unused, r.Line) && !optional[r.On] && (!r.Retry || !keeps) {
				lines = append(lines, fmt.Sprintf("%s:%d", s.File, r.Line))
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	return fmt.Errorf("%s: remove the replies that the model was never asked for: %s", s.ID, strings.Join(lines, ", "))
}
