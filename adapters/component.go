package adapters

import "slices"

// The client tools by which an agent shows UI components and changes the state that it
// shares with the user. Who offers them answers them too, and emits the events
// component_update and component_remove; adapters/backend/component does.
const (
	ToolShowComponent   = "show_component"
	ToolRemoveComponent = "remove_component"
	ToolAskComponent    = "ask_component"
	ToolUpdateState     = "update_state"
	ToolReadState       = "read_state"
)

// StateComponentID is the id of the component that holds the shared state in the stream of
// events. Its props are {"version","state","by"}.
const StateComponentID = "state"

// IsComponentTool reports whether a client tool with this name shows components or changes
// the shared state.
func IsComponentTool(name string) bool {
	return slices.Contains([]string{ToolShowComponent, ToolRemoveComponent, ToolAskComponent, ToolUpdateState, ToolReadState}, name)
}
