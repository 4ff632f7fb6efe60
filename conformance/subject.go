package conformance

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/component"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Subject is an adapter under test.
type Subject interface {
	// Name is shown in reports.
	Name() string
	// Runtime is whose wire it speaks: codex or claude.
	Runtime() string
	// Open starts the runtime through o.Launch and returns when the session is
	// ready for a message. A failure is, or wraps, an *adapters.OpenError.
	Open(ctx context.Context, o Open) (Session, error)
}

// Declarer is a Subject that declares what it can do.
type Declarer interface {
	Capabilities() adapters.Capabilities
}

// Open says what the subject is to open.
type Open struct {
	Launch  proc.Launcher  // starts the runtime (or its stand-in)
	Command []string       // the program to start; nil: the subject's usual one
	Args    []string       // further arguments for it
	Env     []string       // its whole environment; nil: the parent's
	Dir     string         // the working directory
	Model   string         // "" is the runtime's default
	Ask     bool           // tools ask for permission; false: nothing is asked
	Mode    string         // the same in more words, one of fixtures.Modes
	Resume  string         // the provider_session_id to go on with
	After   event.Position // where the stream left off before a resume

	SessionID   string // a name for the session: s1, s2 …; a resumed one has its own again
	Fork        bool   // with Resume: a new session with that history
	At          string // with Fork: the provider_turn_id of the last turn that it takes over
	Unarchive   bool   // with Resume: the session was put away
	Checkpoints bool   // copies of files are to be kept, so that they can be put back

	// Policy is the tool policy that the subject is to hold, in the form of package
	// adapters/policy; Judge is that policy, for subjects that take one. A subject
	// that cannot hold any fails with ErrUnsupported.
	Policy jsontext.Value
	Judge  adapters.Judge

	Questions bool                 // MCP servers may ask the user, though no tool asks for permission
	MCP       []adapters.MCPServer // servers that the runtime starts
	Tools     []adapters.Tool      // the client's own; a subject that cannot offer them fails with ErrUnsupported
	Hooks     []adapters.Hook      // likewise
	Schema    jsontext.Value       // of the final answer; likewise

	// Components are what the agent may show, a component.Definition. The subject
	// offers the tools for it itself (their names are those of package component)
	// and tells what is shown by events; likewise.
	Components jsontext.Value
}

// Session is one conversation. Events is read all the time, from another
// goroutine than the acts; it is closed after Close. What a runtime has no way
// to do (steer, answer a question) fails with adapters.ErrUnsupported.
type Session interface {
	Send(ctx context.Context, id, text string) error
	Steer(ctx context.Context, id, text string) error
	Answer(ctx context.Context, requestID string, a Answer) error
	Stop(ctx context.Context) error
	Close(ctx context.Context) error
	Events() <-chan event.Event
}

// Attacher is a Session whose messages can bring files. One without it refuses
// such a message with adapters.ErrUnsupported.
type Attacher interface {
	SendWith(ctx context.Context, id, text string, files []event.Attachment) error
}

// Setter is a Session that can change its model and its permission mode (one of
// fixtures.Modes). A runtime that does not know the value makes it an error.
type Setter interface {
	SetModel(ctx context.Context, model string) error
	SetMode(ctx context.Context, mode string) error
}

// Answer is a scenario's answer: a decision, or JSON for a question. The value
// holds the answers by the question's text or id: a string, or a list of them.
type Answer struct {
	Decision event.Decision
	Value    jsontext.Value
	Input    jsontext.Value // with allow: run with this input instead
	Message  string         // with deny and cancel: what the model is told
	Scope    adapters.Scope // with allow: how long it holds
}

// Adapter makes a Subject of an adapter of this module's interface.
func Adapter(name string, a adapters.Adapter) Subject { return &adapterSubject{name, a} }

type adapterSubject struct {
	name    string
	adapter adapters.Adapter
}

func (s *adapterSubject) Name() string    { return s.name }
func (s *adapterSubject) Runtime() string { return s.Capabilities().Runtime }

func (s *adapterSubject) Capabilities() adapters.Capabilities { return s.adapter.Capabilities() }

func (s *adapterSubject) Open(ctx context.Context, o Open) (Session, error) {
	mode := o.Mode
	switch {
	case o.Questions && mode == adapters.ModeNever && s.Runtime() == "codex":
		mode = adapters.ModeAcceptEdits // where nothing is asked, questions are declined unasked
	case mode != "":
	case o.Ask:
		mode = adapters.ModeAsk
	default:
		mode = adapters.ModeNever
	}
	if c := s.Capabilities(); len(o.Tools) > 0 && !c.Tools || len(o.Hooks) > 0 && !c.Hooks || o.Schema != nil && !c.Schema {
		return nil, adapters.ErrUnsupported
	}
	adapter := s.adapter
	if o.Components != nil {
		reg, err := component.Parse(o.Components)
		if err != nil {
			return nil, err
		}
		if !s.Capabilities().Tools {
			return nil, adapters.ErrUnsupported
		}
		adapter = component.Adapter(adapter, reg)
	}
	sess, err := adapter.Open(ctx, adapters.Options{
		SessionID: o.SessionID, Resume: o.Resume, After: o.After, Dir: o.Dir, Model: o.Model, Mode: mode,
		Command: o.Command, Args: o.Args, Env: o.Env, Launch: o.Launch,
		Fork: o.Fork, At: o.At, Unarchive: o.Unarchive, Checkpoints: o.Checkpoints,
		Judge: o.Judge, MCP: o.MCP, Tools: o.Tools, Hooks: o.Hooks, Schema: o.Schema,
	})
	if err != nil {
		return nil, err
	}
	return AdapterSession{sess}, nil
}

type AdapterSession struct{ S adapters.Session }

func (s AdapterSession) Events() <-chan event.Event { return s.S.Events() }

func (s AdapterSession) Send(ctx context.Context, id, text string) error {
	return s.S.Send(ctx, adapters.Message{ID: id, Text: text})
}

func (s AdapterSession) SendWith(ctx context.Context, id, text string, files []event.Attachment) error {
	return s.S.Send(ctx, adapters.Message{ID: id, Text: text, Attachments: files})
}

func (s AdapterSession) Steer(ctx context.Context, id, text string) error {
	st, ok := adapters.As[adapters.Steerer](s.S)
	if !ok {
		return adapters.ErrUnsupported
	}
	return st.Steer(ctx, adapters.Message{ID: id, Text: text})
}

func (s AdapterSession) Answer(ctx context.Context, id string, a Answer) error {
	return s.S.Answer(ctx, id, adapters.Answer{Decision: a.Decision, Value: a.Value, Input: a.Input, Message: a.Message, Scope: a.Scope})
}

func (s AdapterSession) SetModel(ctx context.Context, model string) error {
	st, ok := adapters.As[adapters.ModelSetter](s.S)
	if !ok {
		return adapters.ErrUnsupported
	}
	return st.SetModel(ctx, model)
}

func (s AdapterSession) SetMode(ctx context.Context, mode string) error {
	st, ok := adapters.As[adapters.ModeSetter](s.S)
	if !ok {
		return adapters.ErrUnsupported
	}
	return st.SetMode(ctx, mode)
}

// Backlog implements adapters.Backlogger, as far as the adapter's session does.
func (s AdapterSession) Backlog() (depth int, oldest time.Duration) {
	if b, ok := adapters.As[adapters.Backlogger](s.S); ok {
		return b.Backlog()
	}
	return 0, 0
}

func (s AdapterSession) Stop(ctx context.Context) error  { return s.S.Stop(ctx) }
func (s AdapterSession) Close(ctx context.Context) error { return s.S.Close(ctx) }
