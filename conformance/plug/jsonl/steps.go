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
	"github.com/turnspec/turnspec/conformance/plug"
)

// sendIfAble sends a command if the program declared the ability.
func (x *session) sendIfAble(ctx context.Context, ability string, c command) error {
	if err := x.hello.Require(ability); err != nil {
		return err
	}
	err := x.send(ctx, &c)
	if r, ok := errors.AsType[*plug.RefusalError](err); ok && r.Code == "unsupported" && slices.Contains(wholeAbilities, ability) {
		return fmt.Errorf("%s: %w: %w", ability, conformance.ErrContradictsDeclaration, err)
	}
	return err
}

// wholeAbilities are those that a program has for all values or not at all. For the
// others it may support only some values, such as some modes.
var wholeAbilities = []string{
	plug.CanStop, plug.CanSteer, plug.CanModel, plug.CanWithdraw, plug.CanStopTask, plug.CanRevert, plug.CanCompact, plug.CanArchive, plug.CanRename,
}

// Supports implements conformance.EventSupporter.
func (x *session) Supports(what string) bool {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if x.Unsupported(what) || x.hello.Lacks(what) {
		return false
	}
	name, _, _ := strings.Cut(what, ".")
	typ := event.Type(name)
	switch {
	case x.plain != nil:
		return x.plain.supports(what, &x.hello.Declaration)
	case what == "open.mode":
		// A small program that emits some events only, and cannot answer, may have one mode.
		return x.hello.Events == nil || x.hello.Require(plug.CanAnswer) == nil
	case typ == event.TypeToolInput && x.hello.Require(plug.CanStreamToolInput) != nil:
		return false
	case !slices.Contains(event.Types(), typ):
		return true // a member of the envelope, or of a command: this protocol has all of them
	}
	return x.hello.Emits(typ)
}

// TakesLimits implements conformance.LimitTaker.
func (x *session) TakesLimits() bool { return x.hello.Require(plug.CanLimits) == nil }

// Send implements adapters.Session. A program may refuse a message while a turn
// runs.
func (x *session) Send(ctx context.Context, m adapters.Message) error {
	c := command{Do: "send", MessageID: m.ID, Text: &m.Text, Files: m.Attachments, Priority: string(m.Priority)}
	switch {
	case len(m.Attachments) > 0:
		return x.sendIfAble(ctx, plug.CanAttach, c)
	case m.Priority != "":
		return x.sendIfAble(ctx, plug.CanPriority, c)
	}
	if x.plain != nil {
		return x.sendMapped(ctx, m, c)
	}
	x.Mu.Lock()
	running := x.Running || x.sent // the program knows of the turn before its turn_start is read
	x.sent = true
	x.Mu.Unlock()
	err := x.send(ctx, &c)
	if r, ok := errors.AsType[*plug.RefusalError](err); ok && running && r.Code == "unsupported" {
		return plug.UnsupportedBecause("the program refused it while a turn runs, as unsupported: " + r.Text)
	}
	return err
}

// Withdraw implements adapters.Withdrawer.
func (x *session) Withdraw(ctx context.Context, id string) error {
	return x.sendIfAble(ctx, plug.CanWithdraw, command{Do: "withdraw", MessageID: id})
}

// Steer implements adapters.Steerer.
func (x *session) Steer(ctx context.Context, m adapters.Message) error {
	return x.sendIfAble(ctx, plug.CanSteer, command{Do: "steer", MessageID: m.ID, Text: &m.Text})
}

// Answer implements adapters.Session.
func (x *session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	x.noteAnswer(id)
	c := command{Do: "answer", RequestID: id, Message: a.Message, Input: a.Input, Scope: string(a.Scope), Value: a.Value}
	if a.Value != nil {
		return x.sendIfAble(ctx, plug.CanQuestion, c)
	}
	c.Decision = string(a.Decision)
	return x.sendIfAble(ctx, plug.CanAnswer, c)
}

// Stop implements adapters.Session.
func (x *session) Stop(ctx context.Context) error {
	x.noteStop()
	return x.sendIfAble(ctx, plug.CanStop, command{Do: "stop"})
}

// StopTask implements adapters.TaskStopper.
func (x *session) StopTask(ctx context.Context, id string) error {
	return x.sendIfAble(ctx, plug.CanStopTask, command{Do: "stop_task", TaskID: id})
}

// SetModel implements adapters.ModelSetter.
func (x *session) SetModel(ctx context.Context, model string) error {
	return x.sendIfAble(ctx, plug.CanModel, command{Do: "set_model", Model: model})
}

// SetMode implements adapters.ModeSetter.
func (x *session) SetMode(ctx context.Context, mode string) error {
	return x.sendIfAble(ctx, plug.CanMode, command{Do: "set_mode", Mode: mode})
}

// Revert implements adapters.Reverter.
func (x *session) Revert(ctx context.Context, messageID string) error {
	return x.sendIfAble(ctx, plug.CanRevert, command{Do: "revert", MessageID: messageID})
}

// Rewind implements adapters.Rewinder.
func (x *session) Rewind(ctx context.Context, messageID string, dry bool) (adapters.Rewound, error) {
	return adapters.Rewound{}, x.sendIfAble(ctx, plug.CanRewind, command{Do: "rewind", MessageID: messageID, Dry: dry})
}

// Compact implements adapters.Compacter.
func (x *session) Compact(ctx context.Context) error {
	return x.sendIfAble(ctx, plug.CanCompact, command{Do: "compact"})
}

// Rename implements adapters.Renamer.
func (x *session) Rename(ctx context.Context, name string) error {
	return x.sendIfAble(ctx, plug.CanRename, command{Do: "rename", Text: &name})
}

// List implements adapters.Lister. A program may have some lists only.
func (x *session) List(ctx context.Context, list adapters.List) ([]adapters.Listed, error) {
	if err := x.hello.Require(plug.CanList); err != nil {
		return nil, err
	}
	r, err := x.request(ctx, &command{Do: "list", List: string(list)})
	if err != nil {
		return nil, err
	}
	return r.Listed, nil
}

// Archive implements adapters.Archiver. It ends the session.
func (x *session) Archive(ctx context.Context) error {
	if err := x.sendIfAble(ctx, plug.CanArchive, command{Do: "archive"}); err != nil {
		return err
	}
	return x.closeStdin()
}

// Close implements adapters.Session.
func (x *session) Close(ctx context.Context) error {
	if err := x.send(ctx, &command{Do: "close"}); err != nil {
		x.Abandon(plug.UnusedGrace)
		return err
	}
	return x.closeStdin()
}
