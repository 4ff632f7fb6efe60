// Package window shows the end of a long chat without reading all its events. It is not
// part of the stable interface.
//
// Keep stores snapshots of the reducer's state in a log. Open starts from the
// last snapshot and reads only the events after it. The cost of Open depends on
// the newest messages and on what is still open, not on the session's length.
//
// # Size of snapshots
//
// Keep stores a snapshot if the events since the last one take at least 64 KiB
// and twice the bytes of that snapshot. So all snapshots of a session together
// take at most a constant factor of its events, and Open reads at most a constant
// factor of the last snapshot.
//
// # Failures
//
// If a snapshot cannot be read or is of another version of package replay, Open
// uses an earlier one, or reads all events. If a snapshot cannot be stored, Keep
// goes on without it.
package window
