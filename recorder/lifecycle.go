package recorder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/compare"
	"github.com/turnspec/turnspec/recorder/drive"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// asItCame reads what a runtime sent: its duplicates and bad UTF-8 are its own.
var asItCame = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// LifecycleScenario makes the session whose reads are recorded.
const LifecycleScenario = "text/plain"

// Title is what the model says when a client asks for a title, beside the
// session.
const Title = `{"title":"Three rivers"}`

// Lifecycle performs the scenario, which makes a session with a turn in it, and
// then records what the runtime answers to reads and configuration.
func Lifecycle(ctx context.Context, o Options) (*fixtures.Lifecycle, *Report, error) {
	rt, err := o.find()
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	rep := &Report{Runtime: rt.Name, Version: rt.Version, Isolation: isolate.Report()}
	says, err := version(ctx, rt)
	if err != nil {
		return nil, rep, err
	}
	o.aside = Title
	var asked []drive.Asked
	c, err := perform(ctx, o, rt, func(ctx context.Context, do drive.Options) (err error) {
		asked, err = drive.Lifecycle(ctx, do)
		return err
	})
	if err != nil {
		return nil, rep, err
	}
	l := &fixtures.Lifecycle{Runtime: rt.Name, Version: rt.Version, Recorded: c.Recorded, Says: says, Elided: c.Elided}
	for _, q := range asked {
		a, err := answer(c.Wire, q)
		if err != nil {
			return nil, rep, fmt.Errorf("lifecycle of %s %s: %s: %w", rt.Name, rt.Version, q.Method, err)
		}
		l.Answers = append(l.Answers, a)
	}
	b, err := l.Format()
	if err != nil {
		return nil, rep, err
	}
	if l, err = fixtures.ParseLifecycle("lifecycle.txtar", b); err != nil {
		return nil, rep, fmt.Errorf("the loader refuses what was recorded: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, rep, err
	}
	if o.Out != "" {
		rep.File = filepath.Join(o.Out, rt.Name, rt.Version, "lifecycle.txtar")
		if err := writeAtomic(rep.File, b); err != nil {
			return nil, rep, err
		}
	}
	rep.Lines, rep.Requests, rep.Took = len(l.Answers), len(c.Witness), time.Since(start)
	return l, rep, nil
}

// version is what the runtime says to --version.
func version(ctx context.Context, rt runtimes.Runtime) (string, error) {
	rooms, err := isolate.NewRooms()
	if err != nil {
		return "", err
	}
	defer func() { _ = rooms.Remove() }()
	cmd := exec.CommandContext(ctx, rt.Binary, "--version")
	cmd.Env, cmd.Dir = rooms.Env(rt.Path...), rooms.Work
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", rt.Name, err)
	}
	says := strings.TrimSpace(string(out))
	if !strings.Contains(says, rt.Version) {
		return "", fmt.Errorf("%s says %q, but %s is pinned: is the install folder another version's?", rt.Binary, says, rt.Version)
	}
	return says, nil
}

// answer cuts one answer out of the redacted wire.
func answer(wire []fixtures.WireLine, q drive.Asked) (fixtures.Answer, error) {
	a := fixtures.Answer{Method: q.Method}
	if q.In < 0 || q.Answer == 0 {
		return a, errors.New("the wire shows no answer")
	}
	var in, out struct {
		Params   jsontext.Value `json:"params"`
		Request  jsontext.Value `json:"request"`
		Result   jsontext.Value `json:"result"`
		Error    jsontext.Value `json:"error"`
		Response jsontext.Value `json:"response"`
	}
	if err := json.Unmarshal(wire[q.In].Bytes, &in, asItCame); err != nil {
		return a, err
	}
	if err := json.Unmarshal(wire[q.Answer].Bytes, &out, asItCame); err != nil {
		return a, err
	}
	a.Params, a.Result, a.Error = in.Params, out.Result, out.Error
	if in.Request != nil {
		var r struct {
			Subtype  string         `json:"subtype"`
			Response jsontext.Value `json:"response"`
		}
		if err := json.Unmarshal(out.Response, &r, asItCame); err != nil {
			return a, err
		}
		a.Params = in.Request
		switch {
		case r.Subtype == "error":
			a.Error = out.Response
		case r.Response == nil:
			a.Result = jsontext.Value("null")
		default:
			a.Result = r.Response
		}
	}
	for i := q.In; i < q.Limit; i++ {
		if wire[i].Dir != fixtures.Out || i == q.Answer {
			continue
		}
		if i < q.Answer {
			a.Before = append(a.Before, wire[i].Bytes)
		} else {
			a.Then = append(a.Then, wire[i].Bytes)
		}
	}
	return a, nil
}

// CheckLifecycle records anew and compares with what is stored.
func CheckLifecycle(ctx context.Context, o Options, stored *fixtures.Lifecycle) (diff string, rep *Report, err error) {
	o.Out, o.Runtime, o.Version = "", stored.Runtime, stored.Version
	now, rep, err := Lifecycle(ctx, o)
	if err != nil {
		return "", rep, err
	}
	if stored.Says != now.Says {
		diff = fmt.Sprintf("--version says %q, said %q\n", now.Says, stored.Says)
	}
	return diff + compare.Diff(asCase(stored), asCase(now)), rep, nil
}

// asCase makes a case of a lifecycle, so that it is compared as a case is.
func asCase(l *fixtures.Lifecycle) *fixtures.Case {
	c := &fixtures.Case{ID: l.Runtime + "/" + l.Version + "/lifecycle", File: l.File, Runtime: l.Runtime, Version: l.Version}
	add := func(dir fixtures.Dir, format string, args ...any) {
		c.Wire = append(c.Wire, fixtures.WireLine{Line: len(c.Wire) + 1, Process: 1, Dir: dir, Bytes: fmt.Appendf(nil, format, args...)})
	}
	for i, a := range l.Answers {
		ask, good, bad := `{"id":%d,"method":%q,"params":%s}`, `{"id":%d,"result":%s}`, `{"id":%d,"error":%s}`
		if l.Runtime == "claude" {
			ask = `{"type":"control_request","request_id":"a%d","turnspec":%q,"request":%s}`
			good = `{"type":"control_response","response":{"subtype":"success","request_id":"a%d","response":%s}}`
			bad = `{"type":"control_response","response":{"subtype":"success","request_id":"a%d","error":%s}}`
		}
		add(fixtures.In, ask, i+1, a.Method, a.Params)
		for _, line := range a.Before {
			add(fixtures.Out, "%s", line)
		}
		if a.Error != nil {
			add(fixtures.Out, bad, i+1, a.Error)
		} else {
			add(fixtures.Out, good, i+1, a.Result)
		}
		for _, line := range a.Then {
			add(fixtures.Out, "%s", line)
		}
	}
	return c
}
