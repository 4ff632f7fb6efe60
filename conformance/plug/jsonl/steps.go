package jsonl

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance/plug"
)

// sendIfAble sends a command if the program declared the ability.
func (x *session) sendIfAble(ctx context.Context, ability string, c command) error {
	if err := x.hello.Require(ability); err != nil {
		return err
	}
	return x.send(ctx, &c)
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
	case x.softUndeclared(typ):
		return false
	case !slices.Contains(event.Types(), typ):
		return true // a member of the envelope, or of a command: this protocol has all of them
	}
	return x.hello.Emits(typ)
}

// softUndeclared reports whether only a soft option asks for events of the type, and the program
// does not declare it.
func (x *session) softUndeclared(typ event.Type) bool {
	return slices.ContainsFunc(op.Options(reflect.TypeFor[op.Opening]()), func(o op.Option) bool {
		return event.Type(o.Soft) == typ && x.hello.Require(o.Can) != nil
	})
}

// TakesLimits implements conformance.LimitTaker.
func (x *session) TakesLimits() bool { return x.hello.Require(plug.CanLimits) == nil }

// Send implements adapters.Session. A program may refuse a message while a turn
// runs.
func (x *session) Send(ctx context.Context, m adapters.Message) error {
	c := command{Call: op.Call{Do: "send", MessageID: m.ID}, Text: &m.Text, Files: m.Attachments, Priority: string(m.Priority)}
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

// Answer implements adapters.Session.
func (x *session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	x.noteAnswer(id)
	c := command{Call: op.Call{Do: "answer"}, RequestID: id, Message: a.Message, Input: a.Input, Scope: string(a.Scope), Value: a.Value}
	if a.Value != nil {
		return x.sendIfAble(ctx, plug.CanQuestion, c)
	}
	c.Decision = string(a.Decision)
	return x.sendIfAble(ctx, plug.CanAnswer, c)
}

// Stop implements adapters.Session.
func (x *session) Stop(ctx context.Context) error {
	x.noteStop()
	return plug.Contradiction(plug.CanStop, x.sendIfAble(ctx, plug.CanStop, command{Call: op.Call{Do: "stop"}}))
}

// Do implements op.Doer. After a session is archived its program ends.
func (x *session) Do(ctx context.Context, c op.Call) (any, error) {
	o := op.Named(c.Do)
	if o == nil {
		return nil, adapters.ErrUnsupported
	}
	if err := x.hello.Require(o.Name); err != nil {
		return nil, err
	}
	line := command{Call: c}
	if o.Has("text") {
		line.Text = &c.Text
	}
	r, err := x.request(ctx, &line)
	if err != nil {
		return nil, plug.Refused(o, err)
	}
	if o == op.Archive {
		return nil, x.closeStdin()
	}
	return r.Listed, nil
}

// Close implements adapters.Session.
func (x *session) Close(ctx context.Context) error {
	if err := x.send(ctx, &command{Call: op.Call{Do: "close"}}); err != nil {
		x.Abandon(plug.UnusedGrace)
		return err
	}
	return x.closeStdin()
}
