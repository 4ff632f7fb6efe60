package conformance

import (
	"context"

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

// Session is one conversation. What it can do beside the methods of this interface
// is found with adapters.As: a step that it has no method for is not expressible.
type Session = adapters.Session

// Answer is the reply to a permission request or an interrupt.
type Answer = adapters.Answer

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
	return sess, nil
}
