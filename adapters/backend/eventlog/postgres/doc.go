// Package postgres stores the events of sessions in PostgreSQL.
//
// A Log is an eventlog.Log in one PostgreSQL database, version 12 or newer, which any
// number of programs on any number of machines may use at once. Its tables begin with
// turnspec_; Open creates and migrates them. They may share a database with others.
//
// # Appends
//
// The appends of all goroutines of a program go to one connection, which commits all
// waiting ones in one transaction. A transaction locks the rows of its sessions, in the
// order of their ids, so only one program appends to a session at a time, and the seq of
// each event is compared with what is stored: of two programs that append different
// events to a session, one receives a *eventlog.ConflictError. Append returns after its
// transaction is committed.
//
// # Followers
//
// Each transaction notifies the programs that follow one of its sessions (LISTEN and
// NOTIFY), so that followers read only if there is something to read. They hold one
// connection for all of a program. LISTEN does not work through a pooler that shares
// connections between transactions: connect to the server itself.
//
// # Failures
//
// If the server restarts or the connection breaks, each method tries again for
// Options.Busy and then returns an error that is an eventlog.ErrBusy. Followers continue
// after the last event that they emitted. An Append whose connection broke may be
// stored or not, and is repeated, which changes nothing if it was.
//
// # Retention
//
// Log.Expire deletes whole sessions, because the events of a session have no gap. Call it
// from one program, about once a day.
package postgres
