package adapters

// Mapped says what an adapter makes of one kind of message: an event, or nothing
// and why. A table of them is an adapter's whole answer to its runtime's
// published types.
type Mapped struct {
	Kind    string // of name: message, system, stream, item, method …
	Name    string
	Event   string // what it becomes; ""
	Ignored string // why it becomes nothing; "" if it becomes an event
}
