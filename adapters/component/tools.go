package component

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// The tools that an agent is offered.
const (
	ToolShow   = "show_component"
	ToolRemove = "remove_component"
	ToolAsk    = "ask_component"
	ToolUpdate = "update_state"
	ToolRead   = "read_state"
)

// IsTool reports whether a client's tool of this name is one of this package's.
func IsTool(name string) bool {
	return slices.Contains([]string{ToolShow, ToolRemove, ToolAsk, ToolUpdate, ToolRead}, name)
}

// stager is what the tools work on: a session.
type stager interface {
	update(ctx context.Context, who caller, d event.ComponentUpdate) error
	remove(ctx context.Context, who caller, id string) error
	ask(ctx context.Context, who caller, d event.Interrupt) (event.Raw, error)
	change(ctx context.Context, who caller, c Change) (State, error)
	read(ctx context.Context) (State, error)
}

// Tools are the tools that an agent is offered, as they are told to it: without
// Call.
func (r *Registry) Tools() []adapters.Tool {
	list := r.tools(nil)
	for i := range list {
		list[i].Call = nil
	}
	return list
}

func (r *Registry) tools(s stager) []adapters.Tool {
	surfaces := jsonOf(r.def.Surfaces)
	var names, known []string
	for _, c := range r.def.Components {
		names = append(names, c.Name)
		known = append(known, "- "+c.Name+" on "+strings.Join(c.Surfaces, ", ")+describe(c))
	}
	where := fmt.Sprintf(`"component":{"type":"string","enum":%s},"surface":{"type":"string","enum":%s},"props":{"type":"object"}`, jsonOf(names), surfaces)
	list := "\nComponents:\n" + strings.Join(known, "\n")
	return []adapters.Tool{
		{
			Name:        ToolShow,
			Description: "Shows a component to the user, or changes the one that has this id. With merge the props are laid over those that it has." + list,
			Schema:      event.Raw(`{"type":"object","properties":{"id":{"type":"string"},` + where + `,"merge":{"type":"boolean"}},"required":["id","component","surface","props"]}`),
			Call: func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
				var in struct {
					ID        string    `json:"id"`
					Component string    `json:"component"`
					Surface   string    `json:"surface"`
					Props     event.Raw `json:"props"`
					Merge     bool      `json:"merge"`
				}
				if err := input(c, &in); err != nil {
					return failed(err), nil
				}
				if in.ID == "" {
					return failed(errors.New("the id is missing")), nil
				}
				return answer(ctx, "shown", s.update(ctx, caller{true, c.ID}, event.ComponentUpdate{
					ComponentID: in.ID, ComponentName: in.Component, Surface: in.Surface, Props: in.Props, Merge: in.Merge,
				}))
			},
		},
		{
			Name:        ToolRemove,
			Description: "Removes the component that has this id. Removing one that is not there changes nothing.",
			Schema:      event.Raw(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
			Call: func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
				var in struct {
					ID string `json:"id"`
				}
				if err := input(c, &in); err != nil {
					return failed(err), nil
				}
				return answer(ctx, "removed", s.remove(ctx, caller{true, c.ID}, in.ID))
			},
		},
		{
			Name:        ToolAsk,
			Description: "Asks the user by a component and waits for what they choose." + list,
			Schema:      event.Raw(`{"type":"object","properties":{` + where + `},"required":["component","surface","props"]}`),
			Call: func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
				var in struct {
					Component string    `json:"component"`
					Surface   string    `json:"surface"`
					Props     event.Raw `json:"props"`
				}
				if err := input(c, &in); err != nil {
					return failed(err), nil
				}
				v, err := s.ask(ctx, caller{true, c.ID}, event.Interrupt{ComponentName: in.Component, Props: in.Props, Surface: in.Surface})
				return answer(ctx, string(v), err)
			},
		},
		{
			Name: ToolUpdate,
			Description: "Changes the state that you share with the user: merge is a JSON merge patch (RFC 7396), patch a JSON patch (RFC 6902), one of the two. " +
				"With version, the one that you have read and one more for each change of yours since, a change of the user's meanwhile is a conflict and nothing changes.",
			Schema: event.Raw(`{"type":"object","properties":{"version":{"type":"integer"},"merge":{"type":"object"},"patch":{"type":"array","items":{"type":"object"}}}}`),
			Call: func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
				var in Change
				if err := input(c, &in); err != nil {
					return failed(err), nil
				}
				_, err := s.change(ctx, caller{true, c.ID}, in)
				return answer(ctx, "updated", err)
			},
		},
		{
			Name:        ToolRead,
			Description: "Reads the state that you share with the user, with its version.",
			ReadOnly:    true,
			Schema:      event.Raw(`{"type":"object","properties":{}}`),
			Call: func(ctx context.Context, _ adapters.ToolCall) (adapters.ToolAnswer, error) {
				st, err := s.read(ctx)
				return answer(ctx, fmt.Sprintf(`{"version":%d,"state":%s}`, st.Version, st.doc()), err)
			},
		},
	}
}

// describe is what a model must know of a component.
func describe(c Component) string {
	s := ""
	if c.Description != "" {
		s = ": " + c.Description
	}
	if len(c.Props) > 0 {
		s += " Props: " + string(c.Props)
	}
	return s
}

func jsonOf(v []string) string {
	if v == nil {
		v = []string{}
	}
	b, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return "[]" // unreachable: texts
	}
	return string(b)
}

func input(c adapters.ToolCall, into any) error {
	in := c.Input
	if len(in) == 0 {
		in = event.Raw("{}")
	}
	if err := json.Unmarshal(in, into); err != nil {
		return fmt.Errorf("the input does not fit: %w", err)
	}
	return nil
}

// answer tells the model that it is done, or why it was refused. Where nobody
// waits for the answer any more, or the session is over, it is none.
func answer(ctx context.Context, text string, err error) (adapters.ToolAnswer, error) {
	switch {
	case ctx.Err() != nil:
		return adapters.ToolAnswer{}, ctx.Err()
	case errors.Is(err, adapters.ErrClosed):
		return adapters.ToolAnswer{}, err
	case err != nil:
		return failed(err), nil
	}
	return adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: text}}}, nil
}

func failed(err error) adapters.ToolAnswer {
	return adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: err.Error()}}, IsError: true}
}
