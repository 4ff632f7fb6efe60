package conformance

// Bubble is a part of the chat in an HTML report, with the time in which it was emitted: a user's
// message, or a block of the assistant.
type Bubble struct {
	From   int64  `json:"from_ns"`
	To     int64  `json:"to_ns"`
	Event  int    `json:"event"` // index of the first event with its id; -1 if there is none
	Role   string `json:"role"`
	Kind   string `json:"kind,omitempty"`
	Depth  int    `json:"depth,omitzero"` // of nested sub-agents
	Status string `json:"status,omitempty"`
	Name   string `json:"name,omitempty"` // of the tool or sub-agent, or the code of a notice
	Text   string `json:"text,omitempty"`
	Size   int    `json:"size,omitzero"`
}
