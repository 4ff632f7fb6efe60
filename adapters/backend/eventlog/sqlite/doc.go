// Package sqlite stores the events of sessions in a file.
//
// A Log is an eventlog.Log in one SQLite database, without C code. The appends
// of all goroutines go to one writer, which commits all waiting ones in one
// transaction. Append returns after its transaction is committed. Reads run
// concurrently. Other programs may read and write the same file: Follow emits
// the events that they append within Options.Poll.
//
// # Durability
//
// If the program exits or is killed, no event is lost whose Append had returned.
// By default each commit is flushed to the disk before Append returns
// (synchronous=FULL): a power failure loses no event that was acknowledged or
// emitted by Follow, if disk and file system honour the flush.
// Options.Relaxed flushes about 200 ms later: the file stays consistent, but a
// power failure may lose the events of the last second, also those that Follow
// has emitted, and a resumed session then continues from where the file ends.
// The events of an Append that has not returned may be stored or not. The stored
// events are always a prefix of each session.
//
// On macOS a disk may acknowledge a flush before it has written; SQLite's
// fullfsync is not enabled.
//
// # The file
//
// The file is created for its owner only (0600), because chats hold secrets.
// While it is open, FILE-wal and FILE-shm exist next to it: copy all three or
// none, or close the log first. The file must not be on a network file system.
// Any SQLite can read its tables:
//
//	sqlite3 chats.db "SELECT seq, event->>'type' FROM events WHERE session = 1"
//
// Media are in the table media of the same file. While a turn runs, the row of its session in the table
// sessions may lack the last 63 events.
//
// Any number of programs may append, but a session is run by one. A server that runs
// sessions calls Own, and is refused if another one does: see OwnedError. Servers that keep to the
// sessions that they opened call Share. FILE-owner names the server that last did so.
//
// # Errors
//
// Errors wrap those of eventlog: ErrBusy, ErrFull, ErrReadOnly, ErrCorrupt,
// ErrNotLog, ErrNewer, and name the next step. After ErrBusy and ErrFull append
// the same events again.
package sqlite
