package conformance_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
)

// opener is an adapter that stores the options of Open.
type opener struct {
	declared adapters.Capabilities
	opened   *adapters.Options
}

var errOpened = errors.New("the adapter was opened")

func (a opener) Capabilities() adapters.Capabilities { return a.declared }

func (a opener) Open(_ context.Context, o adapters.Options) (adapters.Session, error) {
	*a.opened = o
	return nil, errOpened
}

// openAdapter opens a session of an adapter and returns the options that the adapter got.
func openAdapter(t *testing.T, c adapters.Capabilities, o conformance.Open) (adapters.Options, error) {
	t.Helper()
	var opened adapters.Options
	_, err := conformance.Adapter("a", opener{c, &opened}, conformance.WithComponents(wrapAdapter)).Open(t.Context(), o)
	if errors.Is(err, errOpened) {
		return opened, nil
	}
	return opened, err
}

// wrapAdapter stands for the wrapper that offers the tools for components.
func wrapAdapter(a adapters.Adapter, _ jsontext.Value) (adapters.Adapter, error) {
	return wrapped{a}, nil
}

type wrapped struct{ adapters.Adapter }

func (w wrapped) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	o.Tools = append(o.Tools, adapters.Tool{Name: adapters.ToolShowComponent})
	return w.Adapter.Open(ctx, o)
}

// TestAdapterRefusesWhatItDoesNotDeclare checks that an option reaches an adapter that declares
// its ability, and no other.
func TestAdapterRefusesWhatItDoesNotDeclare(t *testing.T) {
	opening := func(o op.Opening) conformance.Open { return conformance.Open{Opening: o} }
	for name, x := range map[string]struct {
		open conformance.Open
		can  string
		with []string // abilities that it needs besides
	}{
		"effort":               {opening(op.Opening{Effort: "high"}), "effort", nil},
		"no setting sources":   {opening(op.Opening{SettingSources: []string{}}), "setting_sources", nil},
		"instructions":         {opening(op.Opening{Instructions: "Sing."}), "instructions", nil},
		"replace instructions": {opening(op.Opening{Instructions: "Sing.", ReplaceInstructions: true}), "instructions", nil},
		"checkpoints":          {opening(op.Opening{Checkpoints: true}), op.Rewind.Name, nil},
		"unarchive":            {opening(op.Opening{Unarchive: true, Resume: "s0"}), op.Archive.Name, []string{"resume"}},
		"tools":                {conformance.Open{Tools: []adapters.Tool{{Name: "look"}}}, "tools", nil},
		"hooks":                {conformance.Open{Hooks: []adapters.Hook{{Event: "Stop"}}}, "hooks", nil},
		"schema":               {conformance.Open{Schema: jsontext.Value(`{}`)}, "schema", nil},
		// The wrapper that offers components to an agent needs its tools.
		"components": {conformance.Open{Components: jsontext.Value(`{"surfaces":["chat"],"components":[]}`)}, "tools", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := openAdapter(t, adapters.Capabilities{Runtime: "claude", Can: append(op.Set{x.can}, x.with...)}, x.open); err != nil {
				t.Errorf("declared: %v", err)
			}
			if _, err := openAdapter(t, adapters.Capabilities{Runtime: "claude"}, x.open); !errors.Is(err, adapters.ErrUnsupported) {
				t.Errorf("undeclared: %v", err)
			}
		})
	}
}

// TestAdapterIgnoresSoftOptions checks that an adapter that cannot emit inputs in pieces is opened
// without the option.
func TestAdapterIgnoresSoftOptions(t *testing.T) {
	open := conformance.Open{Opening: op.Opening{StreamToolInput: true}}
	for _, can := range []op.Set{nil, {"stream_tool_input"}} {
		o, err := openAdapter(t, adapters.Capabilities{Runtime: "claude", Can: can}, open)
		if err != nil || o.StreamToolInput != (can != nil) {
			t.Errorf("%v: %v, %v", can, o.StreamToolInput, err)
		}
	}
}

// TestModeOfAdapter checks the mode that an adapter gets: the one of the opening, or the one that
// Ask means. Codex in mode never declines the questions of MCP servers, so another is chosen if
// they may ask.
func TestModeOfAdapter(t *testing.T) {
	for _, x := range []struct {
		runtime        string
		mode           string
		ask, questions bool
		want           string
	}{
		{"claude", "", false, false, adapters.ModeNever},
		{"claude", "", true, false, adapters.ModeAsk},
		{"claude", adapters.ModePlan, true, false, adapters.ModePlan},
		{"claude", adapters.ModeNever, false, true, adapters.ModeNever},
		{"codex", adapters.ModeNever, false, false, adapters.ModeNever},
		{"codex", adapters.ModeNever, false, true, adapters.ModeAcceptEdits},
	} {
		o, err := openAdapter(t, adapters.Capabilities{Runtime: x.runtime}, conformance.Open{Opening: op.Opening{Mode: x.mode}, Ask: x.ask, Questions: x.questions})
		if err != nil || o.Mode != x.want {
			t.Errorf("%+v: mode %q, %v", x, o.Mode, err)
		}
	}
}

// TestComponentsAreTools checks that an adapter gets the tools for components.
func TestComponentsAreTools(t *testing.T) {
	o, err := openAdapter(t, adapters.Capabilities{Runtime: "claude", Can: op.Set{"tools"}}, conformance.Open{Components: jsontext.Value(`{"surfaces":["chat"],"components":[]}`)})
	if err != nil || !slices.ContainsFunc(o.Tools, func(tool adapters.Tool) bool { return tool.Name == adapters.ToolShowComponent }) {
		t.Errorf("the tools are %v: %v", o.Tools, err)
	}
}
