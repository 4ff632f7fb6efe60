package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/session"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/conformance/plug/acp"
	"github.com/turnspec/turnspec/conformance/plug/conversation"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/conformance/plug/sse"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// defaultStartLimit is how long a program may take for its first line in a smoke
// test, when no other program competes with it for the processor.
const defaultStartLimit = 20 * time.Second

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
	if errors.Is(err, fs.ErrNotExist) { // codexexec answers no reads
		err = nil
	}
	return rec, err
}

// setStartLimit sets how long the program of a subject may take for its first line.
func setStartLimit(s conformance.Subject, limit time.Duration) {
	switch s := s.(type) {
	case *jsonl.Subject:
		s.StartLimit = limit
	case *acp.Subject:
		s.StartLimit = limit
	case *conversation.Subject:
		s.StartLimit = limit
	case *sse.Subject:
		s.StartLimit = limit
	}
}

// connectedSteps are the steps of a smoke test before the subject can be judged.
var connectedSteps = []string{"harness", "hello", "open", "runtime started"}

// connect replays one turn of text to an external subject before the suite runs. An
// error means that the subject is not connected, so that nothing can be judged. If
// the subject is connected and does not get through the turn, connect returns a
// report of that one failure, and nil if it does.
func connect(ctx context.Context, cfg conformance.Config, s conformance.Subject, limit time.Duration, retry string) (*conformance.Report, error) {
	rec, err := smokeRecording(fixtures.Embedded(), s.Runtime(), "", jsonl.SmokeScenario)
	if err != nil {
		return nil, err
	}
	setStartLimit(s, limit)
	done := make(chan *conformance.Run, 1)
	go func() { done <- perform.Process(s, rec, nil) }()
	var r *conformance.Run
	select {
	case r = <-done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	setStartLimit(s, max(limit, time.Minute)) // in the run, several programs start at the same time
	if judge.Unsupported(r) != "" {
		return nil, nil
	}
	steps := jsonl.Connection(r)
	last := steps[len(steps)-1]
	switch {
	case last.Err == nil:
		return nil, nil
	case slices.Contains(connectedSteps, last.Name) && !openedAndEnded(r):
		return nil, fmt.Errorf("the subject %s is not connected: it failed at %q of a smoke test, so the suite was not run\n%s%s\n`%s` shows each line",
			s.Name(), last.Name, indent(last.Err.Error()), indent(programOutput(r, last.Err)), retry)
	case r.Hang == "" && takesTurn(s, r):
		return nil, nil // the suite judges it
	case r.Hang == "":
		r.Hang = last.Err.Error() + unreadOf(s, r)
	}
	if r.Hang != "" && !strings.Contains(r.Hang, "stderr: ") {
		r.Hang += programOutput(r, last.Err)
	}
	result := judge.Apply(session.Returns, &conformance.Trial{Run: r}, conformance.TierProcess)
	rep := &conformance.Report{Results: []conformance.Result{result}, Cases: 1}
	if rep.KnownFailures, err = runner.ApplyKnownFailures(cfg, rep.Results); err != nil {
		return nil, err
	}
	if rep.Results[0].KnownFailure != nil {
		return nil, nil
	}
	rep.KnownFailures = nil // one case cannot show that an entry is stale
	return rep, nil
}

// openedAndEnded reports whether the subject replied to open and ended later. It may
// have ended before the runtime that it started did anything.
func openedAndEnded(r *conformance.Run) bool {
	return r.Hang != "" && len(r.Opens) > 0 && r.Opens[0].Err == nil
}

// takesTurn reports whether the subject emitted anything about a turn, if its events
// can tell. The turn of a subject with a mapping begins without an event of it.
func takesTurn(s conformance.Subject, r *conformance.Run) bool {
	mapped := dialectOf(s) != nil
	return slices.ContainsFunc(r.Events, func(e conformance.Event) bool {
		if mapped && slices.Contains([]event.Type{event.TypeTurnStart, event.TypeUserMessage, event.TypeNotice}, e.Type()) {
			return false
		}
		return e.Turn > 0 || e.Type() == event.TypeDelta
	})
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
