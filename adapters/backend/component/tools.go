package component

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// Tools returns the tools that an agent is offered, without their Call.
func (r *Registry) Tools() []adapters.Tool {
	list := r.tools(nil)
	for i := range list {
		list[i].Call = nil
	}
	return list
}

func (r *Registry) tools(s *session) []adapters.Tool {
	surfaces := jsonOf(r.def.Surfaces)
	var names, known []string
	for _, c := range r.def.Components {
		names = append(names, c.Name)
		known = append(known, "- "+c.Name+" on "+strings.Join(c.Surfaces, ", ")+describeComponent(c))
	}
	where := fmt.Sprintf(`"component":{"type":"string","enum":%s},"surface":{"type":"string","enum":%s},"props":{"type":"object"}`, jsonOf(names), surfaces)
	list := "\nComponents:\n" + strings.Join(known, "\n")
	return []adapters.Tool{
		{
			Name:        adapters.ToolShowComponent,
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
				if err := decodeInput(c, &in); err != nil {
					return toolFailure(err), nil
				}
				if in.ID == "" {
					return toolFailure(errors.New("the id is missing")), nil
				}
				return toolAnswer(ctx, "shown", s.updateComponent(ctx, caller{true, c.ID}, event.ComponentUpdate{
					ComponentID: in.ID, ComponentName: in.Component, Surface: in.Surface, Props: in.Props, Merge: in.Merge,
				}))
			},
		},
		{
			Name:        adapters.ToolRemoveComponent,
			Description: "Removes the component that has this id. Removing one that is not there changes nothing.",
			Schema:      event.Raw(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
			Call: func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
				var in struct {
					ID string `json:"id"`
				}
				if err := decodeInput(c, &in); err != nil {
					return toolFailure(err), nil
				}
				return toolAnswer(ctx, "removed", s.removeComponent(ctx, caller{true, c.ID}, in.ID))
			},
		},
		{
			Name:        adapters.ToolAskComponent,
			Description: "Asks the user by a component and waits for what they choose." + list,
			Schema:      event.Raw(`{"type":"object","properties":{` + where + `},"required":["component","surface","props"]}`),
			Call: func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
				var in struct {
					Component string    `json:"component"`
					Surface   string    `json:"surface"`
					Props     event.Raw `json:"props"`
				}
				if err := decodeInput(c, &in); err != nil {
					return toolFailure(err), nil
				}
				v, err := s.askUser(ctx, caller{true, c.ID}, event.Interrupt{ComponentName: in.Component, Props: in.Props, Surface: in.Surface})
				return toolAnswer(ctx, string(v), err)
			},
		},
		{
			Name: adapters.ToolUpdateState,
			Description: "Changes the state that you share with the user: merge is a JSON merge patch (RFC 7396), patch a JSON patch (RFC 6902), one of the two. " +
				"With version, the one that you have read and one more for each change of yours since, a change of the user's meanwhile is a conflict and nothing changes.",
			Schema: event.Raw(`{"type":"object","properties":{"version":{"type":"integer"},"merge":{"type":"object"},"patch":{"type":"array","items":{"type":"object"}}}}`),
			Call: func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
				var in Change
				if err := decodeInput(c, &in); err != nil {
					return toolFailure(err), nil
				}
				_, err := s.changeState(ctx, caller{true, c.ID}, in)
				return toolAnswer(ctx, "updated", err)
			},
		},
		{
			Name:        adapters.ToolReadState,
			Description: "Reads the state that you share with the user, with its version.",
			ReadOnly:    true,
			Schema:      event.Raw(`{"type":"object","properties":{}}`),
			Call: func(ctx context.Context, _ adapters.ToolCall) (adapters.ToolAnswer, error) {
				st, err := s.readState(ctx)
				return toolAnswer(ctx, fmt.Sprintf(`{"version":%d,"state":%s}`, st.Version, st.doc()), err)
			},
		},
	}
}

// describeComponent returns the description of a component for the model.
func describeComponent(c Component) string {
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
		return "[]" // unreachable: strings always encode
	}
	return string(b)
}

func decodeInput(c adapters.ToolCall, into any) error {
	in := c.Input
	if len(in) == 0 {
		in = event.Raw("{}")
	}
	if err := json.Unmarshal(in, into); err != nil {
		return fmt.Errorf("the input does not match its schema: %w", err)
	}
	return nil
}

// toolAnswer returns the model's answer: text, or the error as a failure. If the call
// was cancelled or the session has ended, it returns an error.
func toolAnswer(ctx context.Context, text string, err error) (adapters.ToolAnswer, error) {
	switch {
	case ctx.Err() != nil:
		return adapters.ToolAnswer{}, ctx.Err()
	case errors.Is(err, adapters.ErrClosed):
		return adapters.ToolAnswer{}, err
	case err != nil:
		return toolFailure(err), nil
	}
	return adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: text}}}, nil
}

func toolFailure(err error) adapters.ToolAnswer {
	return adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: err.Error()}}, IsError: true}
}
