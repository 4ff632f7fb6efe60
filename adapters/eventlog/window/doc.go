// Package window answers one question: how is the end of a long chat shown
// without reading all of it?
//
// Keep stores snapshots of the reducer's state beside the events of a log; Open
// begins at the last of them and reads only the events behind it. What Open
// reads is so bounded by what the newest messages hold and by what is still
// open, however long the session is.
//
// # What snapshots cost
//
// A snapshot is stored when the events since the last have at least 64 KiB, and
// twice the bytes of the last. All snapshots of a session together are so a
// constant factor of its events, and what Open reads behind the last one is a
// constant factor of that snapshot.
//
// # What is not an error
//
// A snapshot that cannot be read, or is of another version of package replay,
// is passed over for the one before it; without any that fits all events are
// read. A snapshot that cannot be stored is left out.
package window
