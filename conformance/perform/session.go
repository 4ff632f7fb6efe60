package perform

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// session runs the steps of a scenario on a subject's session; it implements
// steps.Session.
type session struct {
	d    *director
	sess conformance.Session // nil before the first open
}

func (s session) Open(ctx context.Context, step fixtures.Step) error {
	return s.d.openSession(ctx, step)
}

// Send sends a message. Its files go along as data URLs, since in virtual time
// there is no disk.
func (s session) Send(ctx context.Context, step fixtures.Step) error {
	if step.What != "" {
		queue, ok := s.sess.(conformance.Queuer)
		if !ok {
			return adapters.ErrUnsupported
		}
		return queue.SendAt(ctx, step.ID, step.Text, step.What)
	}
	if len(step.Files) == 0 {
		return s.sess.Send(ctx, step.ID, step.Text)
	}
	with, ok := s.sess.(conformance.Attacher)
	if !ok {
		return adapters.ErrUnsupported
	}
	var files []event.Attachment
	for _, name := range step.Files {
		mime := fixtures.MIME(name)
		kind := "file"
		if strings.HasPrefix(mime, "image/") {
			kind = "image"
		}
		files = append(files, event.Attachment{
			Kind: kind, Name: name, MIME: mime,
			URL: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(s.d.run.Scenario.Workspace[name]),
		})
	}
	return with.SendWith(ctx, step.ID, step.Text, files)
}

func (s session) Steer(ctx context.Context, id, text string) error {
	return s.sess.Steer(ctx, id, text)
}

func (s session) Answer(ctx context.Context, step fixtures.Step) error {
	return s.d.answerQuestion(ctx, s.sess, step)
}

func (s session) Set(ctx context.Context, step fixtures.Step) error {
	x, ok := s.sess.(conformance.Setter)
	if !ok {
		return adapters.ErrUnsupported
	}
	value := step.ValueFor(s.d.run.Runtime)
	if step.What == "model" {
		return x.SetModel(ctx, value)
	}
	return x.SetMode(ctx, value)
}

func (s session) Stop(ctx context.Context) error { return s.sess.Stop(ctx) }

func (s session) StopAll(ctx context.Context) error {
	x, ok := s.sess.(conformance.AllStopper)
	if !ok {
		return adapters.ErrUnsupported
	}
	return x.StopAll(ctx)
}

func (s session) StopTask(ctx context.Context, tool string) error {
	x, ok := s.sess.(conformance.TaskStopper)
	if !ok {
		return adapters.ErrUnsupported
	}
	id := s.d.taskOf(tool)
	if id == "" {
		return fmt.Errorf("%w: no task of tool call %s runs", errNotStarted, tool)
	}
	return x.StopTask(ctx, id)
}

func (s session) Withdraw(ctx context.Context, message string) error {
	x, ok := s.sess.(conformance.Queuer)
	if !ok {
		return adapters.ErrUnsupported
	}
	return x.Withdraw(ctx, message)
}

func (s session) Revert(ctx context.Context, message string) error {
	x, ok := s.sess.(conformance.Reverter)
	if !ok {
		return fmt.Errorf("%s: %w", fixtures.VerbRevert, adapters.ErrUnsupported)
	}
	return x.Revert(ctx, message)
}

func (s session) Rewind(ctx context.Context, message string, dry bool) error {
	x, ok := s.sess.(conformance.Rewinder)
	if !ok {
		return fmt.Errorf("%s: %w", fixtures.VerbRewind, adapters.ErrUnsupported)
	}
	return x.Rewind(ctx, message, dry)
}

func (s session) Compact(ctx context.Context) error {
	x, ok := s.sess.(conformance.Compacter)
	if !ok {
		return fmt.Errorf("%s: %w", fixtures.VerbCompact, adapters.ErrUnsupported)
	}
	return x.Compact(ctx)
}

func (s session) Archive(ctx context.Context) error {
	x, ok := s.sess.(conformance.Archiver)
	if !ok {
		return fmt.Errorf("%s: %w", fixtures.VerbArchive, adapters.ErrUnsupported)
	}
	return x.Archive(ctx)
}

func (s session) Rename(ctx context.Context, name string) error {
	x, ok := s.sess.(conformance.Renamer)
	if !ok {
		return fmt.Errorf("%s: %w", fixtures.VerbName, adapters.ErrUnsupported)
	}
	return x.Rename(ctx, name)
}

// Raw and CloseStdin fail: no adapter lets its client write to the wire. Cases of
// scenarios that need it are not performed (see fixtures.Scenario.Expressible).
func (s session) Raw(context.Context, fixtures.Step) error { return errWireOnly }
func (s session) CloseStdin(context.Context) error         { return errWireOnly }

var errWireOnly = errors.New("an adapter has no method for this step")

func (s session) Close(ctx context.Context) error { return s.sess.Close(ctx) }

// taskOf returns the task id of a tool call, from the subject's events, or "".
func (d *director) taskOf(tool string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range slices.Backward(d.run.Events) {
		if t, ok := e.Data.(event.Task); ok && sameTool(t.ToolUseID, tool) {
			return t.TaskID
		}
	}
	return ""
}

// sameTool reports whether a subject's tool id is that of the scenario's call.
func sameTool(subject, scenario string) bool {
	return subject == scenario || subject == "toolu_"+scenario || subject == "call_"+scenario
}
