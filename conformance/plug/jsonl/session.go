package jsonl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// must gives an error unless the program declared the ability.
func (x *session) must(ability string) error {
	if slices.Contains(x.hello.Can, ability) {
		return nil
	}
	return fmt.Errorf("%s: %w", ability, conformance.ErrDeclaredUnsupported)
}

// able asks what the program declared that it can.
func (x *session) able(ctx context.Context, ability string, c command) error {
	if err := x.must(ability); err != nil {
		return err
	}
	err := x.ask(ctx, &c)
	if r, ok := errors.AsType[*refused](err); ok && r.code == "unsupported" && slices.Contains(outright, ability) {
		return fmt.Errorf("%s: %w: %w", ability, conformance.ErrContradictsDeclaration, err)
	}
	return err
}

// outright are the abilities that a program has or has not, whatever is asked of
// them: it may know some modes and not others.
var outright = []string{CanStop, CanSteer, CanModel, CanWithdraw, CanStopTask, CanRevert, CanCompact, CanArchive, CanRename}

// Carries implements conformance.Carrier.
func (x *session) Supports(what string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fills[what] || slices.Contains(x.hello.Without, what) {
		return false
	}
	typ, _, member := strings.Cut(what, ".")
	if member && (slices.Contains(x.hello.Without, typ)) {
		return false
	}
	if slices.Contains(members, what) || x.hello.Events == nil {
		return true
	}
	return slices.Contains(x.hello.Events, event.Type(typ))
}

// members are those of an event itself that it may lack.
var members = []string{"seq", "ts", "turn", "subagent_id"}

// Send implements conformance.Session. A program may say that it takes no message
// while a turn runs; who takes none at all is no adapter.
func (x *session) Send(ctx context.Context, id, text string) error {
	x.mu.Lock()
	busy := x.busy
	x.mu.Unlock()
	err := x.ask(ctx, &command{Do: "send", MessageID: id, Text: text})
	if r, ok := errors.AsType[*refused](err); ok && busy && r.code == "unsupported" {
		return fmt.Errorf("send while a turn runs: %s: %w", r.text, conformance.ErrDeclaredUnsupported)
	}
	return err
}

// SendWith implements conformance.Attacher.
func (x *session) SendWith(ctx context.Context, id, text string, files []event.Attachment) error {
	return x.able(ctx, CanAttach, command{Do: "send", MessageID: id, Text: text, Files: files})
}

// SendAt implements conformance.Queuer.
func (x *session) SendAt(ctx context.Context, id, text, priority string) error {
	return x.able(ctx, CanPriority, command{Do: "send", MessageID: id, Text: text, Priority: priority})
}

// Withdraw implements conformance.Queuer.
func (x *session) Withdraw(ctx context.Context, id string) error {
	return x.able(ctx, CanWithdraw, command{Do: "withdraw", MessageID: id})
}

// Steer implements conformance.Session.
func (x *session) Steer(ctx context.Context, id, text string) error {
	return x.able(ctx, CanSteer, command{Do: "steer", MessageID: id, Text: text})
}

// Answer implements conformance.Session.
func (x *session) Answer(ctx context.Context, id string, a conformance.Answer) error {
	c := command{Do: "answer", RequestID: id, Message: a.Message, Input: a.Input, Scope: string(a.Scope)}
	if a.Value != nil {
		c.Value = a.Value
		return x.able(ctx, CanQuestion, c)
	}
	c.Decision = string(a.Decision)
	return x.able(ctx, CanAnswer, c)
}

// Stop implements conformance.Session.
func (x *session) Stop(ctx context.Context) error {
	return x.able(ctx, CanStop, command{Do: "stop"})
}

// StopTask implements conformance.TaskStopper.
func (x *session) StopTask(ctx context.Context, id string) error {
	return x.able(ctx, CanStopTask, command{Do: "stop_task", TaskID: id})
}

// SetModel implements conformance.Setter.
func (x *session) SetModel(ctx context.Context, model string) error {
	return x.able(ctx, CanModel, command{Do: "set_model", Model: model})
}

// SetMode implements conformance.Setter.
func (x *session) SetMode(ctx context.Context, mode string) error {
	return x.able(ctx, CanMode, command{Do: "set_mode", Mode: mode})
}

// Revert implements conformance.Reverter.
func (x *session) Revert(ctx context.Context, messageID string) error {
	return x.able(ctx, CanRevert, command{Do: "revert", MessageID: messageID})
}

// Rewind implements conformance.Rewinder.
func (x *session) Rewind(ctx context.Context, messageID string, dry bool) error {
	return x.able(ctx, CanRewind, command{Do: "rewind", MessageID: messageID, Dry: dry})
}

// Compact implements conformance.Compacter.
func (x *session) Compact(ctx context.Context) error {
	return x.able(ctx, CanCompact, command{Do: "compact"})
}

// Rename implements conformance.Renamer.
func (x *session) Rename(ctx context.Context, name string) error {
	return x.able(ctx, CanRename, command{Do: "rename", Text: name})
}

// Archive implements conformance.Archiver: the session ends by it.
func (x *session) Archive(ctx context.Context) error {
	if err := x.able(ctx, CanArchive, command{Do: "archive"}); err != nil {
		return err
	}
	return x.leave()
}

// Close implements conformance.Session.
func (x *session) Close(ctx context.Context) error {
	if err := x.ask(ctx, &command{Do: "close"}); err != nil {
		x.abandon()
		return err
	}
	return x.leave()
}
