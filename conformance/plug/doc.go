// Package plug offers the common parts of subjects that are separate programs,
// independent of their protocol. It is not part of the stable interface. Packages jsonl,
// acp and sse build on it.
//
// A Program describes the program under test, a Process is that program while it
// runs, and a Session is the base of a session with it: it queues events, fills
// in what the protocol leaves out, and keeps the first protocol error. An Error
// describes what is wrong with the program and what its author should do next.
package plug
