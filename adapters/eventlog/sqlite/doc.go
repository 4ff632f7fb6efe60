// Package sqlite answers one question: how does a file keep the events of
// sessions?
//
// It is an eventlog.Log in one SQLite database, with no C code. Appends of all
// goroutines go to one writer, which commits what waits in one transaction; an
// Append returns when its transaction is committed. Reads run beside it, and
// other programs may read and write the same file meanwhile: a Follow sees what
// they wrote within Options.Poll.
//
// # What is kept when
//
// A program that ends or is killed at any moment loses no event whose Append
// returned. With the default, each commit is on the disk before it is told
// (synchronous=FULL): a power cut loses nothing that was acknowledged or that a
// Follow has shown either, as far as disk and file system keep their word.
// Options.Relaxed leaves out that wait: the file stays whole, but a power cut
// may take the events since the last checkpoint with it, some 4 MB, and a
// session that is resumed then counts anew from where the file ends. An Append
// that has not returned may be stored or not; what is stored is always a prefix
// of each session.
//
// On macOS a disk may answer before it has written; SQLite's fullfsync is not
// switched on.
//
// # The file
//
// It is made for its owner only (0600), since chats hold secrets. Beside it,
// while it is open, lie FILE-wal and FILE-shm: copy all three or none, or close
// it first. It must not lie on a network file system. Its tables may be read
// with any SQLite:
//
//	sqlite3 chats.db "SELECT seq, event->>'type' FROM events WHERE session = 1"
//
// # Errors
//
// They wrap those of eventlog: ErrBusy, ErrFull, ErrReadOnly, ErrCorrupt,
// ErrNotLog, ErrNewer, and say what to do. After ErrBusy and ErrFull the log
// goes on where it was: append the same again.
package sqlite
