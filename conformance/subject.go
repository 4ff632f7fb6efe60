package conformance

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
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

// Open holds the options of Subject.Open. A subject that cannot honour an option returns
// adapters.ErrUnsupported. Those with the tag soft are another matter: a subject that cannot
// honour one ignores it, and declares that.
type Open struct {
	// Opening.Command is the program to start, the subject's default if nil. Opening.SessionID
	// is s1, s2 and so on; a resumed session has its name again. If Opening.Mode is empty, Ask
	// decides.
	op.Opening

	Launch proc.Launcher  // starts the runtime, or the stand-in; and the MCP servers of a subject that starts them itself
	Env    []string       // its whole environment; nil: the parent's
	Ask    bool           // tools ask for permission; false: nothing is asked
	After  event.Position // where the stream of a resumed session left off

	// Policy is the tool policy of the session, in the form of package
	// adapters/backend/policy. Judge is the same policy, for a subject that takes a
	// function: see PolicyReader.
	Policy jsontext.Value `can:"policy"`
	Judge  adapters.Judge

	// Limits are those of the session, for subjects that declare that they take limits;
	// zero fields: the subject's own.
	Limits adapters.Limits

	Questions bool                 // MCP servers may ask the user, though no tool asks for permission
	MCP       []adapters.MCPServer `can:"mcp"`    // servers that the runtime starts
	Tools     []adapters.Tool      `can:"tools"`  // tools of the client
	Hooks     []adapters.Hook      `can:"hooks"`  // hooks of the client
	Schema    jsontext.Value       `can:"schema"` // a JSON schema of the final answer

	// Components are what the agent may show: a Definition of package
	// adapters/backend/component. The subject offers the tools for it, such as
	// adapters.ToolShowComponent, and emits events for what is shown.
	Components jsontext.Value `can:"components"`
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

// Open implements Subject. It drops soft options that the adapter does not declare, and refuses
// the others.
func (s *adapterSubject) Open(ctx context.Context, o Open) (adapters.Session, error) {
	c := s.Capabilities()
	options := adapters.Options{
		Opening: o.Opening, After: o.After, Env: o.Env, Launch: o.Launch, Limits: o.Limits,
		Judge: o.Judge, MCP: o.MCP, Tools: o.Tools, Hooks: o.Hooks, Schema: o.Schema,
	}
	options.Mode = o.ModeOn(c.Runtime)
	op.DropSoft(&options, c.Can)
	switch err := c.Refuse(options); {
	case err != nil:
		return nil, err
	case o.Policy != nil && o.Judge == nil, o.Components != nil && (s.wrapComponents == nil || !c.Can.Names("tools")):
		return nil, adapters.ErrUnsupported
	}
	adapter := s.adapter
	if o.Components != nil {
		var err error
		if adapter, err = s.wrapComponents(adapter, o.Components); err != nil {
			return nil, err
		}
	}
	return adapter.Open(ctx, options)
}

// ModeOn returns the permission mode of the session on a runtime, one of adapters' modes.
func (o *Open) ModeOn(runtime string) string {
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
