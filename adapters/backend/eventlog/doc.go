// Package eventlog stores the events of sessions.
//
// A Log is append-only and orders events by (session_id, seq) alone: models
// stream several deltas within a millisecond, so that a time cannot order them.
// It stores normalized events and never a runtime's wire.
//
// Memory is a Log that ends with the program, package sqlite stores one in a
// file, and package logtest tests any other implementation against the contract
// below. A Recorder tees the events of a live session into a Log.
//
// # Contract
//
// The events of a session are gapless from seq 1. If an event is appended again,
// byte for byte the same in its JSON form, nothing changes; so a caller that does
// not know if an Append succeeded repeats it. Append returns a *ConflictError if
// another event has the seq, a *GapError if the seq leaves some out, and an
// *InvalidError if the event could not be read back. In each case the stored
// events stay as they are.
//
// If Append returns nil, the events are stored, and every Read that begins later
// returns them. If it fails, none or the first ones are stored: never one
// without those before it in the call.
//
// # Media
//
// An event refers to an image, a sound or a document by its hash. The log stores the bytes
// beside the events of the session, once for each hash. They belong to the session: a
// store that deletes a session deletes them too, and equal bytes in two sessions are stored
// twice, so that neither deleting nor reading asks for another session. A Recorder with a
// MediaQueue stores a medium before the event that refers to it. If it cannot, because the
// medium is too large or the log is full, it reports that and stores the event alone: a
// reference does not promise that the log holds the bytes.
//
// # Owners
//
// A server of several users stores whose a session is before it opens it, so that a session has an
// owner before it has events, and keeps the first one. A session without one, as in logs that were
// written otherwise, belongs to "". A store that deletes a session deletes its owner too.
//
// # Copies and concurrency
//
// A Log copies what it is given and returns copies. Its methods may be called
// from any goroutine.
//
// # Resuming a session
//
// After a restart Log.Session returns all that adapters.Options needs:
//
//	info, err := log.Session(ctx, id)
//	…
//	adapter.Open(ctx, adapters.Options{SessionID: id, Resume: info.ProviderSessionID, After: info.Last})
package eventlog
