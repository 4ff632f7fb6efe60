// Package component answers one question: which components may an agent show,
// where, and with what state?
//
// A Registry holds the components by name, each with the JSON schema of its props,
// the surfaces where it may stand and what a user can do in it; which tools it
// shows the calls of, and which part of the shared state. Adapter lets the agents
// of any other adapter show them. All that is shown is in the events, so what
// was stored shows it again: replay.Reduce for a chat, a Stage for the rest.
//
// # Events, blocks and surfaces
//
//	what happens                 events                           in the chat (package replay)
//	show_component               component_update                 surface chat: a block component in the turn's message; else in Chat.Components
//	show_component of a known id component_update                 the same component, where it stands; another surface: it moves
//	… with merge                 component_update, merge          its props with those members laid over them
//	remove_component             component_remove                 gone; without such an id no event
//	ask_component                interrupt                        a block interrupt, pending; in Chat.Surface of another surface too
//	Answer, Callback to it       interrupt_resolved by user       answered, and the call has its answer
//	its call, turn or session ends   interrupt_resolved by withdrawn  withdrawn
//	update_state, UpdateState    component_update of the id state Chat.Components has {"version","state","by"} on the surface state
//	… under a projection         component_update or _remove      the component of the projection
//	a linked tool                tool_start, tool_result alone    WithRegistry: a component, loading, then ready or error
//	what the registry refuses    none                             the agent's tool fails, a method returns an error; in events of others: a notice
//
// # Place
//
// The events of an agent's call carry the turn and the sub-agent of its
// tool_start, which they follow, and the call is answered when they were read: so
// they come before its tool_result, and a slow reader slows the agent down. What
// the user or the host changes belongs to the turn that runs, or to the session.
// seq counts on over all of it, also behind Options.After. ts is the time of the
// change, and never before the event before it; an event that waited meanwhile
// gets the ts of the one that was put before it.
//
// # Shared state
//
// One JSON object a session, of at most MaxState bytes, changed by merge patches
// and JSON patches of either side. Each change is told whole, as a component of
// the reserved name, surface and id state: a stream that is cut anywhere, or begun
// amid, needs no other event to tell the state. A change that names the version
// which it was made from is a *ConflictError when there is another by now; an
// invalid one, or one after which the state or a projection does not fit its
// schema, changes nothing and says why.
//
// # From the user to the agent
//
// A Callback is what a user did in a component. As the answer to an interrupt it
// becomes the result of the agent's ask_component (Session.Answer); else it is a
// message of the user's (Session.Send), whose text is its JSON.
//
// # Resume
//
// WithHistory tells the stored events of a session that goes on, so that merges
// and the state's version go on too. A runtime that keeps the tools which a session
// began with (Codex) must have begun it with this adapter.
package component
