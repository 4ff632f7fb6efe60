// Package eventlog answers one question: where do the events of a session stay?
//
// A Log is append-only and orders events by (session_id, seq), by nothing else:
// models stream several deltas within a millisecond, so a time cannot order
// them. It stores normalized events and never a runtime's wire.
//
// Memory is a Log that ends with the program; package sqlite keeps one in a
// file; a Recorder tees the events of a live session into either; package
// logtest holds any other implementation to the contract below.
//
// # Contract
//
// The events of a session are gapless from seq 1. An event that is appended
// again, byte for byte the same in its JSON form, changes nothing, so that
// whoever does not know whether an Append came through repeats it. Another event
// under a seq that is taken is a *ConflictError, a seq that leaves some out a
// *GapError, an event that could not be read back an *InvalidError: each leaves
// what is there as it was.
//
// When Append returns nil the events are stored, and every Read that begins then
// sees them. When it fails, none of them or the first ones are: never one
// without those before it in the call.
//
// A Log keeps nothing of what it is given and gives nothing that it keeps. Its
// methods may be called from any goroutine.
//
// # Going on with a session
//
// After a restart Log.Session has all that adapters.Options needs:
//
//	info, err := log.Session(ctx, id)
//	…
//	adapter.Open(ctx, adapters.Options{SessionID: id, Resume: info.ProviderSessionID, After: info.Last})
package eventlog
