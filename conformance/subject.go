package conformance

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/component"
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

	Launch proc.Launcher  // starts the runtime, or the stand-in
	Env    []string       // its whole environment; nil: the parent's
	Ask    bool           // tools ask for permission; false: nothing is asked
	After  event.Position // where the stream of a resumed session left off

	// Policy is the tool policy of the session, in the form of package
	// adapters/backend/policy. Judge is the same policy, for subjects that take a function.
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

	// Components are what the agent may show: a component.Definition. The subject
	// offers the tools for it (package component has their names) and emits events for
	// what is shown.
	Components jsontext.Value `can:"components"`
}

// Adapter makes a Subject of an adapter.
func Adapter(name string, a adapters.Adapter) Subject { return &adapterSubject{name, a} }

type adapterSubject struct {
	name    string
	adapter adapters.Adapter
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
	options.Mode = o.mode(c.Runtime)
	op.DropSoft(&options, c.Can)
	if err := c.Refuse(options); err != nil {
		return nil, err
	}
	adapter := s.adapter
	if o.Components != nil {
		registry, err := component.Parse(o.Components)
		if err != nil {
			return nil, err
		}
		adapter = component.Adapter(adapter, registry) // it refuses an adapter without tools
	}
	return adapter.Open(ctx, options)
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
