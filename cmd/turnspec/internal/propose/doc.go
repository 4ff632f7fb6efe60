// Package propose proposes the mapping of a vocabulary from a sample of its messages.
//
// A sample is a file of JSON lines, the messages of one or more turns. From compares it with the
// vocabularies that are known, and goes by the names of types and members and by their values for
// the rest: a call and its result share an id, the last text repeats the pieces before it. Each
// rule has a note that says why it was chosen; what could not be placed is listed with an example.
package propose
