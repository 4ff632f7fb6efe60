package jsonl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
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

// Send implements adapters.Session. A program may say that it takes no message
// while a turn runs; who takes none at all is no adapter.
func (x *session) Send(ctx context.Context, m adapters.Message) error {
	c := command{Do: "send", MessageID: m.ID, Text: m.Text, Files: m.Attachments, Priority: string(m.Priority)}
	switch {
	case len(m.Attachments) > 0:
		return x.able(ctx, CanAttach, c)
	case m.Priority != "":
		return x.able(ctx, CanPriority, c)
	}
	x.mu.Lock()
	busy := x.busy
	x.mu.Unlock()
	err := x.ask(ctx, &c)
	if r, ok := errors.AsType[*refused](err); ok && busy && r.code == "unsupported" {
		return fmt.Errorf("send while a turn runs: %s: %w", r.text, conformance.ErrDeclaredUnsupported)
	}
	return err
}

// Withdraw implements adapters.Withdrawer.
func (x *session) Withdraw(ctx context.Context, id string) error {
	return x.able(ctx, CanWithdraw, command{Do: "withdraw", MessageID: id})
}

// Steer implements adapters.Steerer.
func (x *session) Steer(ctx context.Context, m adapters.Message) error {
	return x.able(ctx, CanSteer, command{Do: "steer", MessageID: m.ID, Text: m.Text})
}

// Answer implements adapters.Session.
func (x *session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	c := command{Do: "answer", RequestID: id, Message: a.Message, Input: a.Input, Scope: string(a.Scope)}
	if a.Value != nil {
		c.Value = a.Value
		return x.able(ctx, CanQuestion, c)
	}
	c.Decision = string(a.Decision)
	return x.able(ctx, CanAnswer, c)
}

// Stop implements adapters.Session.
func (x *session) Stop(ctx context.Context) error {
	return x.able(ctx, CanStop, command{Do: "stop"})
}

// StopTask implements adapters.TaskStopper.
func (x *session) StopTask(ctx context.Context, id string) error {
	return x.able(ctx, CanStopTask, command{Do: "stop_task", TaskID: id})
}

// SetModel implements adapters.ModelSetter.
func (x *session) SetModel(ctx context.Context, model string) error {
	return x.able(ctx, CanModel, command{Do: "set_model", Model: model})
}

// SetMode implements adapters.ModeSetter.
func (x *session) SetMode(ctx context.Context, mode string) error {
	return x.able(ctx, CanMode, command{Do: "set_mode", Mode: mode})
}

// Revert implements adapters.Reverter.
func (x *session) Revert(ctx context.Context, messageID string) error {
	return x.able(ctx, CanRevert, command{Do: "revert", MessageID: messageID})
}

// Rewind implements adapters.Rewinder.
func (x *session) Rewind(ctx context.Context, messageID string, dry bool) (adapters.Rewound, error) {
	return adapters.Rewound{}, x.able(ctx, CanRewind, command{Do: "rewind", MessageID: messageID, Dry: dry})
}

// Compact implements adapters.Compacter.
func (x *session) Compact(ctx context.Context) error {
	return x.able(ctx, CanCompact, command{Do: "compact"})
}

// Rename implements adapters.Renamer.
func (x *session) Rename(ctx context.Context, name string) error {
	return x.able(ctx, CanRename, command{Do: "rename", Text: name})
}

// Archive implements adapters.Archiver: the session ends by it.
func (x *session) Archive(ctx context.Context) error {
	if err := x.able(ctx, CanArchive, command{Do: "archive"}); err != nil {
		return err
	}
	return x.leave()
}

// Close implements adapters.Session.
func (x *session) Close(ctx context.Context) error {
	if err := x.ask(ctx, &command{Do: "close"}); err != nil {
		x.abandon()
		return err
	}
	return x.leave()
}
