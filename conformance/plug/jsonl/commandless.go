package jsonl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/internal/plain"
)

// commandlessGrace is how a program that takes no commands is ended.
var commandlessGrace = proc.Grace{Stdin: endLimit, Term: endLimit}

// commandless is a session of a program that takes messages and no commands: as lines of its
// stdin, or as arguments with which it is started for each message.
type commandless struct {
	*plain.Translator
	subject  *Subject
	opening  conformance.Open
	declared plug.Declaration

	lines int // read from stdout

	// Guarded by Mu:
	turn  chan struct{} // closed when the program of the last turn has ended; nil: none was started
	ended bool          // the session has
}

// openCommandless opens a session with a program that takes no commands.
func (s *Subject) openCommandless(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	switch option := plug.RuntimeOnly(o); {
	case option != "":
		return nil, plug.Unsupported("a program without commands cannot take " + option)
	case o.Resume != "", len(o.MCP) > 0:
		return nil, plug.Unsupported("a program without commands can neither resume a session nor take MCP servers")
	case plug.Mode(o) != adapters.ModeNever:
		return nil, plug.Unsupported("a program without commands has one mode, and cannot take " + plug.Mode(o))
	}
	d := plain.NewDialect(s.Dialect)
	x := &commandless{Translator: plain.New(plug.NewSession(&s.Program, o), d), subject: s, opening: o}
	d.Adapt(&x.declared)
	x.declared.Can = []string{}
	s.Store(x.declared)
	x.HoldReady(event.SessionReady{SessionID: o.SessionID, Runtime: s.Of, Mode: plug.Mode(o)})
	if s.Dialect.Args == nil {
		if err := x.startProgram(ctx, nil); err != nil {
			return nil, plug.StartError("start the subject", err)
		}
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if !s.Dialect.Names(event.TypeSessionReady, "provider_session_id") {
		x.Release()
	}
	return x, nil
}

// startProgram starts the program, with further arguments.
func (x *commandless) startProgram(ctx context.Context, args []string) error {
	if args != nil {
		args = append(slices.Clone(x.subject.Command[min(1, len(x.subject.Command)):]), args...)
	}
	p, err := x.subject.Start(ctx, x.opening, "command", args)
	if err != nil {
		return err
	}
	x.Process, x.Cancel = p, p.Kill
	ended := make(chan struct{})
	x.Mu.Lock()
	x.turn = ended
	x.Mu.Unlock()
	go x.read(p, ended)
	return nil
}

// read reads the program's stdout to its end.
func (x *commandless) read(p *plug.Process, ended chan struct{}) {
	lines := plug.NewLines(p.Stdout())
	for {
		b, err := lines.Next()
		if err != nil && !errors.Is(err, linereader.ErrTooLong) {
			break
		}
		x.lines++
		x.Program.Show(false, string(b))
		if mistake := x.handle(b, err); mistake != nil {
			_ = x.Fail(mistake)
			break
		}
	}
	p.Reap(func() proc.Exit { return proc.End(p, commandlessGrace) }, func() {})
	x.endProgram(p.Exit)
	close(ended)
}

// handle handles a line.
func (x *commandless) handle(b []byte, err error) *plug.Error {
	end := x.Dialect.Mapping.EndOfStream
	switch text := bytes.TrimSpace(b); {
	case err != nil:
		return plug.TooLong(fmt.Sprintf("line %d of stdout", x.lines), b)
	case len(text) == 0, end != "" && string(text) == end:
		return nil
	case text[0] != '{' || !jsontext.Value(b).IsValid():
		return plug.Errorf("line %d of stdout is no JSON object: %s", x.lines, plug.Clip(string(b))).Advise("write only events to stdout, one JSON object a line, and logs to stderr")
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	return x.Handle(string(b), fmt.Sprintf("line %d of stdout", x.lines))
}

// endProgram handles the end of a program: of its turn, if it was started for one.
func (x *commandless) endProgram(exit proc.Exit) {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	running, failed := x.Running, exit.Code != 0
	switch {
	case running && failed && !x.Closing:
		x.Interrupt()
		x.Emit(event.Error{Code: event.ErrorCrash, Message: strings.TrimSpace("the program ended (" + exit.String() + ") " + x.Process.Output())})
		x.Running = false
	case running && !x.Closing && x.Dialect.Mapping.Args != nil:
		x.Interrupt()
		x.Emit(event.Done{})
		x.Running = false
	case running && !x.Closing && x.ProtocolError() == nil:
		x.FailEnded("program", "a turn ran", "its stdin is closed")
	}
	if x.Dialect.Mapping.Args == nil {
		x.endSession("the program ended")
	}
}

// endSession emits the end of the session, once.
func (x *commandless) endSession(reason string) {
	if x.ended {
		return
	}
	x.ended = true
	if x.Dialect.Read > 0 {
		x.Dialect.End()
	}
	x.EndSession(x.Closing, reason, x.Interrupt)
	x.Finish()
}

// Send implements adapters.Session.
func (x *commandless) Send(ctx context.Context, m adapters.Message) error {
	if err := plug.TextOnly(m); err != nil {
		return err
	}
	x.Mu.Lock()
	running, ended, last := x.Running, x.ended, x.turn
	x.Mu.Unlock()
	with := map[string]string{"session": x.sessionName(), "message": m.Text, "message_id": m.ID, "dir": x.opening.Dir}
	switch {
	case ended:
		return adapters.ErrClosed
	case running:
		return plug.Unsupported("a message while a turn runs")
	case x.Dialect.Mapping.Args != nil:
		if last != nil && !plug.WaitFor(ctx, last, endLimit) {
			return x.Fail(plug.Errorf("the program still ran %v after the end of its turn", endLimit).Advise("exit when the turn has ended: the next message starts the program again"))
		}
		x.begin(m)
		return x.startProgram(ctx, x.Dialect.Mapping.FillArgs(with))
	}
	line, err := x.Dialect.Mapping.FillStdin(with)
	if err != nil {
		return err
	}
	if bytes.ContainsAny(line, "\r\n") {
		return plug.Unsupported("a message of several lines, because stdin of the mapping is a text: make it JSON")
	}
	x.begin(m)
	x.Program.Show(true, string(line))
	if _, err := x.Process.Stdin().Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the program reads no messages: %w", err)
	}
	return nil
}

// begin begins the turn of a message.
func (x *commandless) begin(m adapters.Message) {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.BeginMessage(m)
}

// sessionName is the name of the session for the program, which is unique among all runs.
func (x *commandless) sessionName() string {
	return filepath.Base(filepath.Dir(x.opening.Dir)) + "-" + x.opening.SessionID
}

// Stop implements adapters.Session.
func (*commandless) Stop(context.Context) error { return plug.Unsupported("stop") }

// Answer implements adapters.Session.
func (*commandless) Answer(context.Context, string, adapters.Answer) error {
	return plug.Unsupported("an answer")
}

// Close implements adapters.Session: it closes the program's stdin.
func (x *commandless) Close(context.Context) error {
	x.Mu.Lock()
	x.Closing = true
	ended := x.turn
	x.Mu.Unlock()
	if ended != nil {
		x.End(commandlessGrace, "program", "exit when stdin is at its end, or when the turn has ended")
		<-ended
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.endSession("")
	return nil
}

// Supports implements conformance.EventSupporter.
func (x *commandless) Supports(what string) bool {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	switch {
	case what == "open.dir":
		return x.Dialect.Mapping.NamesDir()
	case slices.Contains([]string{"open.mode", "open.failed"}, what), strings.HasPrefix(what, "can."):
		return false
	}
	return !x.Unsupported(what) && !x.declared.Lacks(what) && x.Expects(what) && x.Translator.Supports(what, &x.declared)
}

// Probes implements conformance.Prober.
func (x *commandless) Probes() []conformance.Probe {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	return x.Dialect.Probes()
}
