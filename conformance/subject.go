package conformance

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// Subject is an adapter under test.
type Subject interface {
	// Name is the subject's name in reports.
	Name() string
	// Runtime is the runtime whose wire it reads, such as codex or claude.
	Runtime() string
	// Open starts the runtime with o.Launch and returns when the session is ready for
	// a message. A failure is, or wraps, an *adapters.OpenError.
	//
	// The suite finds optional methods of the session, such as Steer, with
	// adapters.As. The package comment lists what each returned error means.
	Open(ctx context.Context, o Open) (adapters.Session, error)
}

// Open holds the options of Subject.Open. A subject that cannot honour an option
// returns adapters.ErrUnsupported.
type Open struct {
	Launch  proc.Launcher  // starts the runtime, or the stand-in
	Command []string       // the program to start; nil: the subject's default
	Args    []string       // further arguments for it
	Env     []string       // its whole environment; nil: the parent's
	Dir     string         // the working directory
	Model   string         // "": the runtime's default
	Ask     bool           // tools ask for permission; false: nothing is asked
	Mode    string         // the permission mode, one of fixtures.Modes; "": see Ask
	Resume  string         // the provider_session_id to resume
	After   event.Position // where the stream of a resumed session left off

	SessionID   string // the name of the session: s1, s2 …; the same again if it is resumed
	Fork        bool   // with Resume: a new session with that history
	At          string // with Fork: the provider_turn_id of the last turn to take over
	Unarchive   bool   // with Resume: the session was archived
	Checkpoints bool   // keep copies of files, so that they can be restored

	Instructions        string // for the model, after the runtime's own
	ReplaceInstructions bool   // in place of the runtime's own

	Effort         string   // how much the model reasons; "": the runtime's default
	MaxRequests    int      // how often a turn may ask the model; 0: no limit
	MaxCost        float64  // what the session may cost, in US dollars; 0: no limit
	ExtraDirs      []string // folders beside Dir, absolute, in which the tools may work
	SettingSources []string // the files of settings that the runtime reads; nil: its default

	// StreamToolInput asks for events tool_input. A subject that cannot emit them ignores it,
	// and declares that: it has no capability ToolInput, or does not support the event.
	StreamToolInput bool

	// Policy is the tool policy of the session, in the form of package
	// adapters/backend/policy. Judge is the same policy, for a subject that takes a
	// function: see PolicyReader.
	Policy jsontext.Value
	Judge  adapters.Judge

	// Limits are those of the session, for subjects that declare that they take limits;
	// zero fields: the subject's own.
	Limits adapters.Limits

	Questions bool                 // MCP servers may ask the user, though no tool asks for permission
	MCP       []adapters.MCPServer // servers that the runtime starts
	Tools     []adapters.Tool      // tools of the client
	Hooks     []adapters.Hook      // hooks of the client
	Schema    jsontext.Value       // a JSON schema of the final answer

	// Components are what the agent may show: a Definition of package
	// adapters/backend/component. The subject offers the tools for it, such as
	// adapters.ToolShowComponent, and emits events for what is shown.
	Components jsontext.Value
}

// Adapter makes a Subject of an adapter. What an adapter gets from the program around it,
// the options add; without them the scenarios that need it are not expressible.
func Adapter(name string, a adapters.Adapter, options ...AdapterOption) Subject {
	s := &adapterSubject{name: name, adapter: a}
	for _, o := range options {
		o(s)
	}
	return s
}

// AdapterOption is an option of Adapter.
type AdapterOption func(*adapterSubject)

// WithPolicies lets the adapter perform scenarios with a tool policy. read returns the
// Judge of a policy in the form of package adapters/backend/policy, whose ReadJudge it may
// be.
func WithPolicies(read func(policy jsontext.Value) (adapters.Judge, error)) AdapterOption {
	return func(s *adapterSubject) { s.readPolicy = read }
}

// WithComponents lets the adapter perform scenarios with components, if it has client
// tools. wrap returns an adapter that offers the tools for them to its agents; Wrap of
// package adapters/backend/component does.
func WithComponents(wrap func(a adapters.Adapter, definition jsontext.Value) (adapters.Adapter, error)) AdapterOption {
	return func(s *adapterSubject) { s.wrapComponents = wrap }
}

type adapterSubject struct {
	name           string
	adapter        adapters.Adapter
	readPolicy     func(jsontext.Value) (adapters.Judge, error)
	wrapComponents func(adapters.Adapter, jsontext.Value) (adapters.Adapter, error)
}

// ReadPolicy implements PolicyReader.
func (s *adapterSubject) ReadPolicy(policy jsontext.Value) (adapters.Judge, error) {
	if s.readPolicy == nil {
		return nil, nil
	}
	return s.readPolicy(policy)
}

func (s *adapterSubject) Name() string    { return s.name }
func (s *adapterSubject) Runtime() string { return s.Capabilities().Runtime }

// Capabilities implements Declarer.
func (s *adapterSubject) Capabilities() adapters.Capabilities { return s.adapter.Capabilities() }

func (s *adapterSubject) Open(ctx context.Context, o Open) (adapters.Session, error) {
	c := s.Capabilities()
	if len(o.Tools) > 0 && !c.Tools || len(o.Hooks) > 0 && !c.Hooks || o.Schema != nil && !c.Schema || o.Policy != nil && o.Judge == nil {
		return nil, adapters.ErrUnsupported
	}
	adapter := s.adapter
	if o.Components != nil {
		if !c.Tools || s.wrapComponents == nil {
			return nil, adapters.ErrUnsupported
		}
		var err error
		if adapter, err = s.wrapComponents(adapter, o.Components); err != nil {
			return nil, err
		}
	}
	return adapter.Open(ctx, adapters.Options{
		SessionID: o.SessionID, Resume: o.Resume, After: o.After, Dir: o.Dir, Model: o.Model, Mode: o.mode(c.Runtime),
		Command: o.Command, Args: o.Args, Env: o.Env, Launch: o.Launch,
		Fork: o.Fork, At: o.At, Unarchive: o.Unarchive, Checkpoints: o.Checkpoints,
		Instructions: o.Instructions, ReplaceInstructions: o.ReplaceInstructions,
		Effort: o.Effort, MaxRequests: o.MaxRequests, MaxCost: o.MaxCost, ExtraDirs: o.ExtraDirs, SettingSources: o.SettingSources,
		StreamToolInput: o.StreamToolInput && c.ToolInput,
		Judge:           o.Judge, MCP: o.MCP, Tools: o.Tools, Hooks: o.Hooks, Schema: o.Schema,
		Limits: o.Limits,
	})
}

// mode returns the permission mode of the session, one of adapters' modes.
func (o *Open) mode(runtime string) string {
	switch rt := runtimes.Find(runtime); {
	case o.Questions && o.Mode == adapters.ModeNever && rt != nil && rt.NeverDeclines:
		return adapters.ModeAcceptEdits
	case o.Mode != "":
		return o.Mode
	case o.Ask:
		return adapters.ModeAsk
	}
	return adapters.ModeNever
}

// Transcribe implements adapters.Transcriber if the adapter does. If not, it
// returns nil.
func (s *adapterSubject) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	if t, ok := s.adapter.(adapters.Transcriber); ok {
		return t.Transcribe(sessionID, emit)
	}
	return nil
}
