package jsonl

import (
	"context"
	"errors"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
)

// Program says how the program under test is started.
type Program = plug.Program

// Declaration is what a program declares in its hello.
type Declaration = plug.Declaration

// LastDeclaration is the one of the session that was opened last.
type LastDeclaration = plug.LastDeclaration

// Mapping translates another vocabulary; package mapping reads them from files.
type Mapping = mapping.Mapping

// Subject is a program that speaks the protocol of this package.
type Subject struct {
	Program
	LastDeclaration

	// Dialect is the vocabulary of its events; nil: that of package event. If it takes no
	// commands, the program does not speak the protocol.
	Dialect *Mapping
}

var (
	_ conformance.Decliner         = (*Subject)(nil)
	_ conformance.OmissionDeclarer = (*Subject)(nil)
)

// DeclareOmission implements conformance.OmissionDeclarer.
func (s *Subject) DeclareOmission(what string) string {
	return plug.DeclareOmission(what) + " in its hello"
}

// Open implements conformance.Subject: it starts the program, waits for its hello
// and sends it the command open.
func (s *Subject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	if s.Dialect != nil && !s.Dialect.TakesCommands() {
		return s.openCommandless(ctx, o)
	}
	x, err := s.start(ctx, o)
	if err != nil {
		return nil, plug.StartError("start the subject", err)
	}
	if err := x.open(ctx, o); err != nil {
		x.Abandon(plug.UnusedGrace)
		return nil, err
	}
	return x, nil
}

// open sends the command open, if the program declared all that it needs.
func (x *session) open(ctx context.Context, o conformance.Open) error {
	op.DropSoft(&o, x.hello.Can)
	for _, w := range op.Wants(o) {
		if err := x.hello.Require(ability(w)); err != nil {
			return err
		}
	}
	c := openCommand{Do: "open", Opening: o.Opening, Questions: o.Questions, MCP: plug.MCPServers(o), Schema: o.Schema, Policy: o.Policy}
	x.offer(&c, o)
	if o.After != (event.Position{}) {
		c.After = &position{o.After.Seq, o.After.Turn}
	}
	if x.TakesLimits() {
		c.Limits = plug.LimitsOf(o)
	}
	err := x.send(ctx, &c)
	if err == nil {
		x.releaseReady()
	}
	if r, ok := errors.AsType[*plug.RefusalError](err); ok {
		if r.Code == "unsupported" {
			return r.AsUnsupported("the program refused it as unsupported: " + r.Text)
		}
		return &adapters.OpenError{Code: openCode(r), Op: "open", Err: err}
	}
	if e, ok := errors.AsType[*plug.Error](err); ok {
		return &adapters.OpenError{Code: event.ErrorProtocol, Op: "open", Err: e}
	}
	return err
}

// openCode returns the code of a failed open. The codes of other commands, as refused or
// unknown_id, mean that the runtime rejected the options.
func openCode(r *plug.RefusalError) event.ErrorCode {
	if code := r.EventCode(); code != "" || r.Err == nil {
		return code
	}
	return event.ErrorInvalid
}
