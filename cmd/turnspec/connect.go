package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/session"
	"github.com/turnspec/turnspec/conformance/checks/turn"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
)

// defaultStartLimit is how long a program may take for its first line in a smoke
// test, when no other program competes with it for the processor.
const defaultStartLimit = 12 * time.Second

// smokeRecording loads the recording of a case for a smoke test: of is a scenario or the
// id of a case. Version "" is the newest.
func smokeRecording(corpus fixtures.Corpus, runtime, version, of string) (perform.Recording, error) {
	if version == "" {
		version = "*"
	}
	var rec perform.Recording
	if !strings.HasPrefix(of, runtime+"/") {
		of = runtime + "/" + version + "/" + of
	}
	ids, err := matching(corpus, of)
	if err != nil {
		return rec, err
	}
	if ids := fixtures.Newest(ids); len(ids) > 1 {
		return rec, fmt.Errorf("%s matches %d cases, %s, %s …: name one", of, len(ids), ids[0], ids[1])
	}
	if rec.Case, err = corpus.LoadCase(fixtures.Newest(ids)[0]); err != nil {
		return rec, err
	}
	if rec.Scenario, err = corpus.LoadScenario(rec.Case.Scenario); err != nil {
		return rec, err
	}
	rec.Lifecycle, err = corpus.LoadReadReplies(rec.Case.Runtime, rec.Case.Version)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // codexexec answers no reads
		return rec, err
	}
	rec.Requests, err = refusal.Load(corpus, rec.Case.Runtime, rec.Case.Version)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return rec, err
}

// smokeReplyLimit is how long a program may take, in a smoke test, for a reply to a command
// that replies at once.
const smokeReplyLimit = 10 * time.Second

// setLimits sets how long the program of a subject may take for its first line and for a reply;
// 0: the limit of its protocol.
func setLimits(s conformance.Subject, start, reply time.Duration) {
	if p, is := s.(interface {
		SetLimits(start, reply time.Duration)
	}); is {
		p.SetLimits(start, reply)
	}
}

// smokeTest replays a case to an external subject, which may take limit for its first line.
func smokeTest(ctx context.Context, s conformance.Subject, rec perform.Recording, limit time.Duration) (*conformance.Run, error) {
	setLimits(s, limit, smokeReplyLimit)
	r := perform.Process(ctx, s, rec, nil)
	setLimits(s, max(limit, time.Minute), 0) // in the suite, several programs start at the same time
	return r, ctx.Err()
}

// printSmoke prints the steps of a smoke test, and reports whether all passed.
func printSmoke(out io.Writer, st report.Style, s conformance.Subject, r *conformance.Run, steps []jsonl.Step) bool {
	for _, step := range steps {
		if step.Err != nil {
			fmt.Fprintf(out, "%s %s\n%s\n", st.Bad("FAIL"), step.Name, indent(step.Err.Error()+programOutput(r, step.Err)+unreadOf(s, r)))
			return false
		}
		fmt.Fprintf(out, "%s   %s\n", st.Good("ok"), step.Name)
	}
	return true
}

// connect replays one turn of text of a version ("": the newest) to an external subject before
// the suite runs. It returns "" if the suite can judge the subject; else what the smoke test
// prints, and, if the subject opened, a report of the failure for the formats of reports.
func connect(ctx context.Context, cfg conformance.Config, s conformance.Subject, version string, limit time.Duration) (string, *conformance.Report, error) {
	rec, err := smokeRecording(fixtures.Embedded(), s.Runtime(), version, jsonl.SmokeScenario)
	if err != nil {
		return "", nil, err
	}
	r, err := smokeTest(ctx, s, rec, limit)
	if err != nil {
		return "", nil, err
	}
	steps := jsonl.Connection(r)
	if jsonl.TookTurn(r, steps) {
		return "", nil, nil
	}
	var text strings.Builder
	printSmoke(&text, report.Style{}, s, r, steps)
	if opened := len(r.Opens) > 0 && r.Opens[0].Err == nil; !opened || len(r.Played) == 0 && r.Hang == "" {
		return text.String(), nil, nil
	}
	last := steps[len(steps)-1].Err
	r.Hang = cmp.Or(r.Hang, last.Error())
	if !strings.Contains(r.Hang, "stderr: ") {
		r.Hang += programOutput(r, last)
	}
	check := session.Returns
	if r.OverBudget != "" {
		check = turn.WithinBudget
	}
	rep := &conformance.Report{Results: []conformance.Result{judge.Apply(check, &conformance.Trial{Run: r}, conformance.TierProcess)}, Cases: 1}
	if rep.KnownFailures, err = runner.ApplyKnownFailures(cfg, rep.Results); err != nil {
		return "", nil, err
	}
	if rep.Results[0].KnownFailure != nil {
		return "", nil, nil
	}
	rep.KnownFailures = nil // one case cannot show that an entry is stale
	return text.String(), rep, nil
}

// programOutput returns the stderr and the exit of the subject's program, unless err
// holds them.
func programOutput(r *conformance.Run, err error) string {
	var b strings.Builder
	for _, p := range r.Program {
		if p.Stderr != "" && !strings.Contains(err.Error(), "stderr: ") {
			fmt.Fprintf(&b, "\nstderr: %s", strings.ReplaceAll(p.Stderr, "\n", "\n        "))
		}
		if p.Exit != "" && !strings.Contains(err.Error(), p.Exit) {
			fmt.Fprintf(&b, "\nthe program ended: %s", p.Exit)
		}
	}
	return b.String()
}

// indent indents each line of a text.
func indent(text string) string {
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
