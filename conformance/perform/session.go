package perform

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// session runs the steps of a scenario on a subject's session; it implements
// steps.Session.
type session struct {
	d    *director
	sess adapters.Session // nil before the first open

	stopTwice bool
	asked     *question // of a raced answer; nil: the question that the step names
}

func (s session) Open(ctx context.Context, step fixtures.Step) error {
	return s.d.openSession(ctx, step)
}

// Send sends a message. Its files go along as data URLs, since in virtual time
// there is no disk, unless the scenario sends their paths.
func (s session) Send(ctx context.Context, step fixtures.Step) error {
	m := adapters.Message{ID: step.ID, Text: step.Text, Priority: adapters.Priority(step.What)}
	for _, name := range step.Files {
		mime := fixtures.MIME(name)
		kind := "file"
		if strings.HasPrefix(mime, "image/") {
			kind = "image"
		}
		if step.ByPath {
			m.Attachments = append(m.Attachments, event.Attachment{Kind: kind, Name: name, MIME: mime, Path: path.Join(s.d.workDir(), name)})
			continue
		}
		m.Attachments = append(m.Attachments, event.Attachment{
			Kind: kind, Name: name, MIME: mime,
			URL: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(s.d.run.Scenario.Workspace[name]),
		})
	}
	return s.sess.Send(ctx, m)
}

// workDir returns the working directory of the session opened last.
func (d *director) workDir() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.run.Opens[len(d.run.Opens)-1].Dir
}

func (s session) Answer(ctx context.Context, step fixtures.Step) error {
	q, ok := s.d.findQuestion(step)
	if s.asked != nil {
		q, ok = *s.asked, true
	}
	if !ok {
		return errNoQuestion
	}
	return s.d.answerQuestion(ctx, s.sess, q, step)
}

func (s session) Stop(ctx context.Context) error {
	if !s.stopTwice {
		return s.sess.Stop(ctx)
	}
	second := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				second <- fmt.Errorf("stop: %w: %v", errPanicked, p)
			}
		}()
		second <- s.sess.Stop(ctx)
	}()
	return errors.Join(s.sess.Stop(ctx), <-second)
}

// Do runs an optional operation. The scenario names a task by its tool call, and a model or mode
// may have another name on each runtime. Do records a list with the result of the step.
func (s session) Do(ctx context.Context, o *op.Op, step fixtures.Step) error {
	id, text := step.ID, step.Text
	switch o.Args {
	case op.Value:
		text = step.ValueFor(s.d.run.Runtime, s.d.run.Version)
	case op.Tool:
		if id = s.d.taskOf(step.ID); id == "" && adapters.CanDo(s.sess, o.Name) {
			return fmt.Errorf("%w: no task of tool call %s runs", errNotStarted, step.ID)
		}
	}
	s.d.mu.Lock()
	n := len(s.d.run.Steps) - 1
	s.d.mu.Unlock()
	result, err := adapters.Do(ctx, s.sess, o.CallOf(step.What, id, text))
	if listed, ok := result.([]adapters.Listed); ok {
		s.d.mu.Lock()
		defer s.d.mu.Unlock()
		if !s.d.finished {
			s.d.run.Steps[n].Listed = listed
		}
	}
	return err
}

// Raw and CloseStdin fail: no adapter lets its client write to the wire. Cases of
// scenarios that need it are not performed (see fixtures.Scenario.Expressible).
func (s session) Raw(context.Context, fixtures.Step) error { return errWireOnly }
func (s session) CloseStdin(context.Context) error         { return errWireOnly }

var errWireOnly = errors.New("an adapter has no method for this step")

func (s session) Close(ctx context.Context) error { return s.sess.Close(ctx) }

// taskOf returns the task id of a tool call, from the subject's events, or "".
func (d *director) taskOf(call string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range slices.Backward(d.run.Events) {
		if t, ok := e.Data.(event.Task); ok && scenarioCall(d.run, t.ToolUseID) == call {
			return t.TaskID
		}
	}
	return ""
}

// scenarioCall returns the scenario's id of a tool call that has this id in the
// subject's events.
func scenarioCall(r *conformance.Run, id string) string {
	rt := runtimes.Find(r.Runtime)
	switch {
	case rt == nil:
		return id
	case rt.OwnCallIDs():
		return callByOrder(r, id)
	}
	return rt.ScenarioCall(id)
}

// callByOrder returns the scenario's call of a tool that the subject reports: the first one that
// runs the same command, as calls of one reply start in any order, or else the first one; "" if
// there is none.
func callByOrder(r *conformance.Run, id string) string {
	var calls []*fixtures.ToolCall
	for _, reply := range r.Scenario.Model[""] {
		for _, p := range reply.Parts {
			if p.Tool != nil && !r.Scenario.HiddenOn(r.Runtime, r.Version, p.Tool.ID) {
				calls = append(calls, p.Tool)
			}
		}
	}
	var seen []string
	for _, e := range r.Events {
		d, ok := e.Data.(event.ToolStart)
		if !ok || e.SubagentID != "" || slices.Contains(seen, d.ToolUseID) || len(calls) == 0 {
			continue
		}
		seen = append(seen, d.ToolUseID)
		i := max(0, slices.IndexFunc(calls, func(t *fixtures.ToolCall) bool { return d.Command != "" && commandOf(t) == d.Command }))
		if d.ToolUseID == id {
			return calls[i].ID
		}
		calls = slices.Delete(calls, i, i+1)
	}
	return ""
}

// commandOf returns the command that a call runs; "" if it runs none.
func commandOf(t *fixtures.ToolCall) string {
	var input struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(t.Input, &input) // other tools have other inputs
	return input.Command
}
