// Package component lets the agents of any adapter show UI components from a registry
// and share a state with the user.
//
// A Registry holds the components by name: the JSON schema (draft 2020-12 or draft-07)
// of the props, the surfaces where a component may appear, the actions of a user in it,
// the tools whose calls it shows, and the part of the shared state that it shows. Adapter offers them to the
// agents of another adapter. The events hold everything that is shown, so stored
// events are enough to show it again: replay.Reduce for a chat, a Stage for the rest.
//
// # Events, blocks and surfaces
//
//	what happens                 events                           in the chat (package replay)
//	show_component               component_update                 surface chat: a block component in the turn's message; else in Chat.Components
//	show_component of a known id component_update                 the same component, in its place; another surface: it moves
//	… with merge                 component_update, merge          its props, with those members merged in
//	remove_component             component_remove                 removed; no event if there is no such id
//	ask_component                interrupt                        a block interrupt, pending; in Chat.Surface of another surface too
//	Answer, Callback to it       interrupt_resolved by user       answered, and the call returns the answer
//	its call, turn or session ends   interrupt_resolved by withdrawn  withdrawn
//	update_state, UpdateState    component_update of the id state Chat.Components has {"version","state","by"} on the surface state
//	… under a projection         component_update or _remove      the component of the projection
//	a linked tool                tool_start, tool_result alone    WithRegistry: a component, loading, then ready or error
//	rejected by the registry     none                             the agent's tool fails, a method returns an error; in other events: a notice
//
// # Order
//
// The events of an agent's call carry the turn and the sub-agent of its tool_start
// and follow it. The call returns when the events have been read, so they precede its
// tool_result, and a slow reader slows the agent down. A change by the user or the
// host belongs to the running turn or, if there is none, to the session. All events
// share one seq, which goes on after Options.After. ts is the time of the change, but
// never less than that of the preceding event; if an event of the inner session
// waited meanwhile, its ts is raised in the same way.
//
// # Shared state
//
// A session has one JSON object of at most MaxState bytes. Agent and user change it
// with merge patches and JSON patches. Each change emits the whole state, as a
// component with the reserved name, surface and id state, so a reader needs only the
// last of these events. If a change names a version and the state has another one,
// the result is a *ConflictError. A change that is invalid, or after which the state
// or a projection would not match its schema, returns an error and changes nothing.
//
// # From the user to the agent
//
// A Callback is an action of the user in a component. If the component is that of an
// open interrupt, the callback becomes the result of the agent's ask_component
// (Session.Answer). Else it becomes a user's message (Session.Send) with its JSON as
// the text.
//
// # Resume
//
// WithHistory supplies the stored events of a resumed session, so that merges and the
// state's version continue. A runtime that keeps the tools of a session's beginning
// (Codex) must have begun the session with this adapter.
package component
