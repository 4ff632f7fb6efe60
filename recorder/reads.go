package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/compare"
	"github.com/turnspec/turnspec/recorder/internal/drive"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// ReadsScenario makes the session whose reads are recorded.
const ReadsScenario = "text/plain"

// Title is the model's reply if a client asks for a title, outside of the
// session.
const Title = `{"title":"Three rivers"}`

// RecordReads performs the scenario, which makes a session with a turn in it, and
// then records the runtime's replies to reads and settings.
func RecordReads(ctx context.Context, o Options) (*fixtures.ReadReplies, *Report, error) {
	rt, rep, err := o.begin()
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	version, err := printedVersion(ctx, rt)
	if err != nil {
		return nil, rep, err
	}
	o.aside = Title
	var exchanges []drive.Exchange
	c, err := perform(ctx, o, rt, func(ctx context.Context, do drive.Options) (err error) {
		exchanges, err = drive.RunReads(ctx, do)
		return err
	})
	if err != nil {
		return nil, rep, err
	}
	l := &fixtures.ReadReplies{Runtime: rt.Name, Version: rt.Version, Recorded: c.Recorded, VersionOutput: version, Elided: c.Elided}
	for _, x := range exchanges {
		a, err := answerOf(c, x)
		if err != nil {
			return nil, rep, fmt.Errorf("reads of %s %s: %s: %w", rt.Name, rt.Version, x.Method, err)
		}
		l.Replies = append(l.Replies, a)
	}
	b, err := l.Format()
	if err != nil {
		return nil, rep, err
	}
	if l, err = fixtures.ParseReadReplies("lifecycle.txtar", b); err != nil {
		return nil, rep, fmt.Errorf("the loader rejects the recording: %w", err)
	}
	if err := rep.save(ctx, o.Out, path.Join(rt.Name, rt.Version, "lifecycle.txtar"), b); err != nil {
		return nil, rep, err
	}
	rep.Lines, rep.Requests, rep.Took = len(l.Replies), len(c.Witness), time.Since(start)
	return l, rep, nil
}

// printedVersion returns what the runtime prints for --version; "" if it has no such option.
func printedVersion(ctx context.Context, rt runtimes.Runtime) (string, error) {
	if rt.Root == "" {
		return rt.Version, nil // it is no program
	}
	want := wires.Find(rt.Name).VersionLine(rt.Version)
	if want == "" {
		return "", nil
	}
	rooms, err := isolate.NewRooms()
	if err != nil {
		return "", err
	}
	defer func() { _ = rooms.Remove() }()
	cmd := exec.CommandContext(ctx, rt.Binary, "--version")
	cmd.Env, cmd.Dir = rooms.Env(rt.Path...), rooms.Work
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s --version: %w\n%s", rt.Name, err, errs.String())
	}
	version := cmp.Or(strings.TrimSpace(out.String()), strings.TrimSpace(errs.String())) // some print it on stderr
	if !strings.Contains(version, want) {
		return "", fmt.Errorf("%s --version prints %q, but version %s is pinned: remove its folder and run `turnspec runtimes install %s@%s`",
			rt.Binary, version, rt.Version, rt.Name, rt.Version)
	}
	return version, nil
}

// answerOf cuts one exchange out of the redacted wire.
func answerOf(c *fixtures.Case, x drive.Exchange) (fixtures.ReadReply, error) {
	a := fixtures.ReadReply{Method: x.Method}
	if x.Request < 0 || x.Reply == 0 {
		return a, errors.New("the wire shows no reply")
	}
	rt := wires.Find(c.Runtime)
	reply := c.Wire[x.Reply].Read(rt)
	a.Params, a.Result, a.Error = c.Wire[x.Request].Read(rt).Params, reply.Result, reply.Error
	for i := x.Request; i < x.Limit; i++ {
		switch l := c.Wire[i]; {
		case l.Dir != fixtures.Out || i == x.Reply:
		case i < x.Reply:
			a.Before = append(a.Before, l.Bytes)
		default:
			a.Then = append(a.Then, l.Bytes)
		}
	}
	return a, nil
}

// CheckReads records the reads again and compares them with the stored ones.
func CheckReads(ctx context.Context, o Options, stored *fixtures.ReadReplies) (diff string, rep *Report, err error) {
	o.Out, o.Runtime, o.Version = "", stored.Runtime, stored.Version
	now, rep, err := RecordReads(ctx, o)
	if err != nil {
		return "", rep, err
	}
	if stored.VersionOutput != now.VersionOutput {
		diff = fmt.Sprintf("--version prints %q, printed %q\n", now.VersionOutput, stored.VersionOutput)
	}
	return diff + compare.Diff(caseOfReads(stored), caseOfReads(now)), rep, nil
}

// caseOfReads makes a case of recorded reads, so that they are compared like a
// case.
func caseOfReads(l *fixtures.ReadReplies) *fixtures.Case {
	c := &fixtures.Case{ID: l.Runtime + "/" + l.Version + "/lifecycle", File: l.File, Runtime: l.Runtime, Version: l.Version}
	addLine := func(dir fixtures.Dir, b []byte) {
		c.Wire = append(c.Wire, fixtures.WireLine{Line: len(c.Wire) + 1, Process: 1, Dir: dir, Bytes: b})
	}
	replies := wires.Find(l.Runtime).Replies
	for i, a := range l.Replies {
		id := jsontext.Value(fmt.Sprintf(`"a%d"`, i+1))
		request := &wire.Line{ID: id}
		addLine(fixtures.In, replies.Request(id, a.Method, a.Params))
		for _, line := range a.Before {
			addLine(fixtures.Out, line)
		}
		if a.Error != nil {
			addLine(fixtures.Out, replies.Fail(request, a.Error))
		} else {
			addLine(fixtures.Out, replies.Result(request, a.Result))
		}
		for _, line := range a.Then {
			addLine(fixtures.Out, line)
		}
	}
	return c
}
