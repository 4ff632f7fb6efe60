// Package nats stores the events of sessions in NATS JetStream.
//
// A Log is an eventlog.Log in streams of a NATS server or cluster, version 2.11 or newer,
// which any number of programs on any number of machines may use at once. Open creates
// the streams if there are none: NAME_events, with one subject a session, NAME_snapshots,
// NAME_media and NAME_leases, which also has the owners of sessions.
//
// # Appends
//
// An Append stores the events of a session as one message, or as several if they are
// large, and each names the message that must be the subject's last. So of two programs
// that append different events to a session, one receives an *eventlog.ConflictError. An
// event larger than a message of the server is stored in parts, which readers join; what
// a program that was killed left behind is skipped. The header of each message holds the
// session's eventlog.Info, so that a list reads no events.
//
// Snapshots and media are stored in parts too, if they are larger than a message.
//
// Append returns after the server has acknowledged the events. A server that is not a
// cluster acknowledges before it flushes its disk, unless it is configured with
// sync_interval: always. With Options.Replicas, a majority of the servers holds the
// events.
//
// # Reads
//
// With replicas, a read may be answered by a server that is behind. So a program may
// receive the last events of another with a delay, but never with a gap: a follower
// reads again when the server has stored more.
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
// Log.Expire deletes whole sessions, because the events of a session have no gap. Do not
// set limits of age or size on the streams: they would delete the beginnings of sessions.
package nats
