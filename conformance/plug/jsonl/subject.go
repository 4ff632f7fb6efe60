package jsonl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Subject is a program that speaks the protocol of this package.
type Subject struct {
	Title   string   // shown in reports; the command's first words when empty
	Of      string   // the runtime that it wraps: codex or claude
	Command []string // the program and its arguments
	Dir     string   // where it is started; "": here

	// Watch is called with each line that goes to and comes from the program,
	// and once with its start. It may be nil.
	Watch func(Line)
}

// Line is a line of the protocol.
type Line struct {
	In   bool // to the program
	Text string
}

// Name implements conformance.Subject.
func (s *Subject) Name() string {
	if s.Title != "" {
		return s.Title
	}
	return s.Of
}

// Runtime implements conformance.Subject.
func (s *Subject) Runtime() string { return s.Of }

// External implements conformance.External.
func (*Subject) External() {}

// Open implements conformance.Subject: it starts the program, hears its hello
// and tells it to open.
func (s *Subject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	x, err := s.start(ctx, o)
	if err != nil {
		return nil, &adapters.OpenError{Code: event.ErrorStartFailure, Op: "start the subject", Err: err}
	}
	if err := x.open(ctx, o); err != nil {
		x.abandon()
		return nil, err
	}
	return x, nil
}

// open tells the program what to open, if it declared that it can.
func (x *session) open(ctx context.Context, o conformance.Open) error {
	for _, need := range []struct {
		wanted bool
		can    string
	}{
		{o.Resume != "" && !o.Fork, CanResume},
		{o.Fork, CanFork},
		{o.Unarchive, CanArchive},
		{o.Checkpoints, CanRewind},
		{len(o.MCP) > 0, CanMCP},
		{o.Schema != nil, CanSchema},
		{o.Policy != nil, CanPolicy},
	} {
		if need.wanted {
			if err := x.must(need.can); err != nil {
				return err
			}
		}
	}
	if len(o.Tools) > 0 || len(o.Hooks) > 0 {
		return fmt.Errorf("tools and hooks of the client: %w", conformance.ErrDeclaredUnsupported)
	}
	if o.Components != nil {
		return fmt.Errorf("components: %w", conformance.ErrDeclaredUnsupported)
	}
	c := command{
		Do: "open", SessionID: o.SessionID, Dir: o.Dir, Command: o.Command, Args: o.Args, Model: o.Model, Mode: o.Mode,
		Resume: o.Resume, Fork: o.Fork, At: o.At, Unarchive: o.Unarchive, Checkpoints: o.Checkpoints, Questions: o.Questions, Schema: o.Schema, Policy: o.Policy,
	}
	if o.After != (event.Position{}) {
		c.After = &position{o.After.Seq, o.After.Turn}
	}
	for _, m := range o.MCP {
		c.MCP = append(c.MCP, server{m.Name, m.Command, m.Args, m.Env})
	}
	x.sessionID, x.seq = o.SessionID, o.After.Seq
	err := x.ask(ctx, &c)
	if r, ok := errors.AsType[*refused](err); ok {
		if r.code == "unsupported" {
			return fmt.Errorf("open: %s: %w", r.text, conformance.ErrDeclaredUnsupported)
		}
		return &adapters.OpenError{Code: openCode(r.code), Op: "open", Err: err}
	}
	if m, ok := errors.AsType[*PlugError](err); ok {
		return &adapters.OpenError{Code: event.ErrorProtocol, Op: "open", Err: m}
	}
	return err
}

// openCode is the code of a failed open, if it is one of ours: else it is none,
// which checks find.
func openCode(code string) event.ErrorCode {
	c := event.ErrorCode(code)
	if slices.Contains(event.ErrorCodes(), c) {
		return c
	}
	return ""
}

// refused is an error that the program itself gave.
type refused struct {
	code, text string
	is         error
}

func (r *refused) Error() string {
	if r.text == "" {
		return r.code
	}
	return r.text
}

func (r *refused) Unwrap() error { return r.is }

// refusals are what codes of a refusal mean.
var refusals = map[string]error{
	"unsupported": adapters.ErrUnsupported,
	"refused":     adapters.ErrRefused,
	"unknown_id":  adapters.ErrUnknownID,
	"no_turn":     adapters.ErrNoTurn,
	"closed":      adapters.ErrClosed,
}
