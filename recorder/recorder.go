// Package recorder answers one question: how does a scenario become a case?
//
// A real runtime performs the scenario against a scripted model, kept apart
// from the machine and the network. All lines between client and runtime are
// kept with their time, secrets and vendor's prose leave them, and only what the
// strict loader takes is written. What is refused leaves no file.
package recorder

import (
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
	"github.com/turnspec/turnspec/recorder/drive"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/redact"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// Options says what to record, and where to.
type Options struct {
	Scenario *fixtures.Scenario
	Runtime  string            // codex, claude
	Version  string            // "": the pinned default
	Runtimes string            // folder of installed runtimes; "": runtimes.Dir
	Found    *runtimes.Runtime // instead of Runtime and Version: this one
	Out      string            // the corpus folder; "": write nothing
	Deadline time.Duration
	Date     string        // of the head; "": today
	Launcher proc.Launcher // nil: real processes

	aside string // see model.Options
}

// Report says how a recording went.
type Report struct {
	Runtime, Version string
	File             string // written, or ""
	Isolation        []string
	Took             time.Duration
	Lines, Requests  int
}

// Record performs the scenario and returns its case, redacted as it is written.
func Record(ctx context.Context, o Options) (*fixtures.Case, *Report, error) {
	rt, err := o.find()
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	rep := &Report{Runtime: rt.Name, Version: rt.Version, Isolation: isolate.Report()}
	c, err := perform(ctx, o, rt, drive.Run)
	if err != nil {
		return nil, rep, err
	}
	rep.Lines, rep.Requests = len(c.Wire), len(c.Witness)
	b, err := c.Format()
	if err != nil {
		return nil, rep, err
	}
	// What was written is read again before it takes its place: the loader's
	// word counts, and the caller gets the case as others will see it.
	c, err = fixtures.ParseCase(c.ID+".txtar", c.ID, b)
	if err != nil {
		return nil, rep, fmt.Errorf("the loader refuses what was recorded: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, rep, err
	}
	if o.Out != "" {
		rep.File = filepath.Join(o.Out, filepath.FromSlash(c.ID)+".txtar")
		if err := writeAtomic(rep.File, b); err != nil {
			return nil, rep, err
		}
	}
	rep.Took = time.Since(start)
	return c, rep, nil
}

func (o Options) find() (runtimes.Runtime, error) {
	if o.Found != nil {
		return *o.Found, nil
	}
	return runtimes.Find(o.Runtimes, o.Runtime, o.Version)
}

// Address is where the model listens inside a namespace: always the same, so
// that nothing of a wire depends on it.
const Address = "127.0.0.1:8790"

// perform runs the scenario and returns what was heard, redacted.
func perform(ctx context.Context, o Options, rt runtimes.Runtime, run func(context.Context, drive.Options) error) (*fixtures.Case, error) {
	rooms, err := isolate.NewRooms()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rooms.Remove() }()
	// A mistake in the facts shows before the runtime is started.
	redactor, err := redact.New(factsOf(rooms, rt, o.Scenario))
	if err != nil {
		return nil, err
	}
	if err := mcp.Install(rooms.Bin, o.Scenario.Servers); err != nil {
		return nil, err
	}
	mo := model.Options{Dir: rooms.Work, Aside: o.aside}
	if isolate.Isolated() {
		mo.Addr = Address
	}
	srv, err := model.Start(o.Scenario, mo)
	if err != nil {
		return nil, err
	}
	defer func() { _ = srv.Close() }()
	c := &fixtures.Case{
		ID:       path.Join(rt.Name, rt.Version, o.Scenario.ID),
		Scenario: o.Scenario.ID, Runtime: rt.Name, Version: rt.Version, Recorded: head(o.Date),
	}
	err = run(ctx, drive.Options{
		Scenario: o.Scenario, Runtime: rt.Name, Version: rt.Version, Binary: rt.Binary,
		Env: rooms.Env(rt.Path...), Work: rooms.Work, Model: scripted{srv}, Launcher: o.Launcher,
		Deadline: o.Deadline,
		Tee:      func(l fixtures.WireLine) { c.Wire = append(c.Wire, l) },
	})
	// A refusal of the model is the cause of what the driver then waits for.
	if err := errors.Join(srv.Err(), err); err != nil {
		return nil, fmt.Errorf("record %s on %s %s: %w", o.Scenario.ID, rt.Name, rt.Version, err)
	}
	if err := srv.Close(); err != nil { // no handler runs any more: the witness is whole
		return nil, err
	}
	c.Witness = srv.Witness()
	if err := unsaid(o.Scenario, srv.Unused(), c.Witness); err != nil {
		return nil, err
	}
	return c, redactor.Case(c)
}

// scripted is the model as the driver sees it.
type scripted struct{ *model.Server }

func (s scripted) Holding(hold string) (text, think string, ok bool) {
	said, ok := s.Server.Holding(hold)
	return said.Text, said.Think, ok
}

func head(date string) string {
	if date == "" {
		date = time.Now().Format(time.DateOnly)
	}
	return date + " turnspec record"
}

// factsOf says what the machine is called.
func factsOf(r *isolate.Rooms, rt runtimes.Runtime, s *fixtures.Scenario) redact.Facts {
	f := redact.Facts{
		Home: r.Home, Work: r.Work, Tmp: r.Tmp, UID: os.Getuid(), Scenario: s,
		Paths: map[string]string{r.Root: "room", rt.Root: "runtime"},
	}
	if target, err := filepath.EvalSymlinks(rt.Root); err == nil {
		f.Paths[target] = "runtime"
	}
	if u, err := user.Current(); err == nil {
		f.User = u.Username
	}
	if h, err := os.Hostname(); err == nil && h != isolate.HostName {
		f.Host = h
	}
	return f
}

// writeAtomic puts the file in place whole or not at all.
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

// Check records anew and compares with the stored case. The difference is ""
// when they are equal.
func Check(ctx context.Context, o Options, stored *fixtures.Case) (diff string, rep *Report, err error) {
	o.Out, o.Runtime, o.Version = "", stored.Runtime, stored.Version
	now, rep, err := Record(ctx, o)
	if err != nil {
		return "", rep, err
	}
	return compare.Diff(stored, now), rep, nil
}

// unsaid refuses a recording that left a reply of the scenario unsaid: the
// scenario would claim what did not happen. But some may stay unsaid: the reply
// to a turn that not every runtime begins by itself, or to a request without news
// that not every runtime makes, and the reply to a message that the runtime brought
// together with another one.
func unsaid(s *fixtures.Scenario, unused []int, witness []fixtures.Request) error {
	may := map[string]bool{"task": true, "again": true, "compact": true}
	for _, r := range witness {
		if len(r.New) > 1 {
			for _, id := range r.New {
				may[id] = true
			}
		}
	}
	var lines []string
	for _, replies := range s.Model {
		for _, r := range replies {
			if slices.Contains(unused, r.Line) && !may[r.On] {
				lines = append(lines, fmt.Sprintf("%s:%d", s.File, r.Line))
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	return fmt.Errorf("%s: the model never said what it should: %s", s.ID, strings.Join(lines, ", "))
}
