package sse

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// notInParams are the options of op.Opening that have another place in the body than params, or that
// the server chooses.
var notInParams = []string{"session_id", "dir", "command", "args", "mode", "resume"}

// withPlaces are the abilities of the other options that a server gets.
var withPlaces = []string{plug.CanResume, plug.CanMCP, plug.CanSchema, plug.CanComponents, plug.CanTools, plug.CanHooks}

// paramOptions returns the options of op.Opening that params holds by their names, if the server declares
// them.
func paramOptions() []op.Option {
	return slices.DeleteFunc(slices.Clone(op.Options(reflect.TypeFor[op.Opening]())), func(o op.Option) bool {
		return slices.Contains(notInParams, o.Name)
	})
}

// ability returns what a server declares to get an option in params. For one that each adapter has,
// such as model, it is the name: a small server need not have it.
func ability(o op.Option) string { return cmp.Or(o.With, o.Can, o.Name) }

// optionAbilities returns the abilities of all options in params, but for those of operations.
func optionAbilities() (out []string) {
	for _, o := range paramOptions() {
		if can := ability(o); op.Named(can) == nil && !slices.Contains(out, can) {
			out = append(out, can)
		}
	}
	return append(out, plug.CanSchema, plug.CanComponents, plug.CanTools, plug.CanHooks)
}

// withoutPlace returns the first option of an opening that no server gets, or "".
func withoutPlace(o conformance.Open) string {
	for _, w := range op.Wants(o) {
		has := slices.ContainsFunc(paramOptions(), func(p op.Option) bool { return p.Name == w.Name })
		if !has && w.Soft == "" && !slices.Contains(withPlaces, w.Can) {
			return w.Key
		}
	}
	if len(o.Args) > 0 {
		return "arguments of the runtime"
	}
	return ""
}

// takeOptions puts the options of an opening into params. It returns an error if the server does not
// declare one that is not soft.
func (x *session) takeOptions(p *params, o conformance.Open) error {
	op.DropSoft(&o, x.health.Can)
	for _, w := range op.Wants(o) {
		if w.Can == plug.CanResume {
			continue // each server has it
		}
		if err := x.health.Require(ability(w)); err != nil {
			return err
		}
	}
	for ability, wanted := range map[string]bool{"model": o.Model != "", plug.CanQuestion: o.Questions} {
		if !wanted {
			continue
		}
		if err := x.health.Require(ability); err != nil {
			return err
		}
	}
	p.Opening, p.Schema, p.Components = o.Opening, o.Schema, o.Components
	p.Tools, p.Hooks = plug.ClientTools(o), plug.ClientHooks(o)
	p.SessionID, p.Dir, p.Command, p.Args, p.Mode, p.Resume = "", "", nil, nil, "", ""
	return nil
}

// asksForToolInput reports whether the server gets the option for inputs of tools in pieces.
func (x *session) asksForToolInput() bool {
	return slices.ContainsFunc(paramOptions(), func(o op.Option) bool {
		return event.Type(o.Soft) == event.TypeToolInput && x.health.Require(ability(o)) == nil
	})
}
