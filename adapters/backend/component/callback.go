package component

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// Callback is a user's action in a component. The agent receives it as a message or,
// if the component is that of an open interrupt, as the answer.
type Callback struct {
	ComponentID string    `json:"component_id"`
	Action      string    `json:"action"`
	Payload     event.Raw `json:"payload,omitzero"`
}

// Message returns the callback as a message with this id. Its text is
//
//	{"type":"component_callback","component_id":…,"action":…,"payload":…}
func (c Callback) Message(id string) (adapters.Message, error) {
	b, err := json.Marshal(struct {
		Type string `json:"type"`
		Callback
	}{"component_callback", c})
	if err != nil {
		return adapters.Message{}, fmt.Errorf("callback: %w", err)
	}
	return adapters.Message{ID: id, Text: string(b)}, nil
}

// Answer returns the callback as the answer to an interrupt. The value is
//
//	{"action":…,"payload":…}
func (c Callback) Answer() (adapters.Answer, error) {
	b, err := json.Marshal(struct {
		Action  string    `json:"action"`
		Payload event.Raw `json:"payload,omitzero"`
	}{c.Action, c.Payload})
	if err != nil {
		return adapters.Answer{}, fmt.Errorf("callback: %w", err)
	}
	return adapters.Answer{Value: b, By: event.ByUser}, nil
}
