package adapters

// Mapped describes how an adapter maps one kind of message: to an event, or to
// nothing, with the reason. An adapter's table of them covers all published types
// of its runtime.
type Mapped struct {
	Kind    string // of name: message, system, stream, item, method …
	Name    string
	Event   string // the event that it becomes, or ""
	Ignored string // why it is ignored; "" if it becomes an event
}
