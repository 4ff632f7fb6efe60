package jsonl

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/internal/plain"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
)

// mapped reads the lines of a program that writes events in another vocabulary. It is
// guarded by the Mu of the session.
type mapped struct {
	*plain.Translator
	message *adapters.Message // that was sent and has begun no turn yet
}

func newMapped(s *plug.Session, m *mapping.Mapping) *mapped {
	return &mapped{Translator: plain.New(s, plain.NewDialect(m))}
}

// mappedAbilities are the abilities that do not depend on the vocabulary of the events.
var mappedAbilities = []string{
	plug.CanStop, op.SetModel.Name, op.SetMode.Name, op.List.Name, plug.CanMCP, plug.CanSchema, plug.CanPolicy, plug.CanLimits, plug.CanTools, plug.CanHooks,
}

// adapt limits what a hello declares to what the vocabulary can express.
func (p *mapped) adapt(declared *plug.Declaration) {
	can := slices.Clone(mappedAbilities)
	for _, o := range op.Options(reflect.TypeFor[op.Opening]()) {
		if o.Head && o.Soft == "" {
			can = append(can, o.Can)
		}
	}
	m := p.Dialect.Mapping
	if m.Names(event.TypeSessionReady, "provider_session_id") {
		can = append(can, plug.CanResume)
	}
	if slices.Contains(m.Types(), event.TypeComponentUpdate) {
		can = append(can, plug.CanComponents)
	}
	p.Dialect.Adapt(declared, can...)
}

func (p *mapped) supports(what string, d *plug.Declaration) bool {
	if what == "open.mode" && d.Require(plug.CanAnswer) != nil {
		return false // a small program may have one mode
	}
	return p.Expects(what) && p.Supports(what, d)
}

// isProtocol reports whether a line of a program with another vocabulary is one of the
// protocol: an object with one member, which is an object.
func isProtocol(line []byte) bool {
	var m map[string]jsontext.Value
	if json.Unmarshal(line, &m, plug.Lenient) != nil || len(m) != 1 {
		return false
	}
	for name, v := range m {
		return slices.Contains([]string{"hello", "reply", "event", "call", "cancel"}, name) && v.Kind() == '{'
	}
	return false
}

// handleMapped handles a line in the vocabulary of the program.
func (x *session) handleMapped(b []byte) *plug.Error {
	if end := x.plain.Dialect.Mapping.EndOfStream; end != "" && string(bytes.TrimSpace(b)) == end {
		return nil
	}
	if jsontext.Value(b).Kind() != '{' || !jsontext.Value(b).IsValid() {
		return plug.Errorf("line %d of stdout is no JSON object: %s", x.lines, plug.Clip(string(b))).Advise(oneObject)
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.beginMapped()
	return x.plain.Handle(string(b), fmt.Sprintf("line %d of stdout", x.lines))
}

// beginMapped begins the turn of the message that was sent, if none has begun.
func (x *session) beginMapped() {
	if p := x.plain; p != nil && p.message != nil {
		p.BeginMessage(*p.message)
		p.message = nil
	}
}

// sendMapped sends a message. The program cannot report the turn, so it begins with the reply, or
// with an event that comes before the reply.
func (x *session) sendMapped(ctx context.Context, m adapters.Message, c command) error {
	x.Mu.Lock()
	if x.Running || x.plain.message != nil {
		x.Mu.Unlock()
		return plug.Unsupported("a message while a turn runs")
	}
	x.plain.message = &m
	x.Mu.Unlock()
	err := x.send(ctx, &c)
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if err == nil {
		x.beginMapped()
	}
	x.plain.message = nil
	return err
}

// holdReady holds session_ready back until the program is ready.
func (x *session) holdReady(o conformance.Open) {
	if x.plain == nil {
		return
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.plain.HoldReady(event.SessionReady{SessionID: o.SessionID, Runtime: x.Program.Of, Resumed: o.Resume != "", Mode: plug.Mode(o)})
}

// releaseReady emits session_ready after the reply to open, unless the program reports the
// runtime's id of the session later.
func (x *session) releaseReady() {
	if x.plain == nil || x.plain.Dialect.Mapping.Names(event.TypeSessionReady, "provider_session_id") {
		return
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.plain.Release()
}

func (x *session) noteAnswer(id string) {
	if x.plain == nil {
		return
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.plain.NoteAnswer(id)
}

func (x *session) noteStop() {
	if x.plain == nil {
		return
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	x.plain.Stopped = x.Running
}

// endMapped ends a session whose program cannot report its end.
func (x *session) endMapped() {
	if x.plain == nil {
		return
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if x.plain.Dialect.Read > 0 {
		x.plain.Dialect.End()
	}
	x.EndSession(x.Closing, "the program ended", x.plain.Interrupt)
}

// Probes implements conformance.Prober.
func (x *session) Probes() []conformance.Probe {
	if x.plain == nil {
		return nil
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	return x.plain.Dialect.Probes()
}
