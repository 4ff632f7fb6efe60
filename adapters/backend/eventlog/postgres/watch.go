package postgres

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// channel is the channel of notifications. A payload holds the hashes of the sessions
// that have new events, separated by commas.
const channel = "turnspec_events"

// payloadHashes is the number of hashes that fit into a payload, of at most 8000 bytes.
const payloadHashes = 400

// hashOf returns the name of a session in notifications. A session id may be longer than
// a payload. Two sessions with the same hash wake each other's followers for nothing.
func hashOf(session string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(session))
	return fmt.Sprintf("%016x", h.Sum64())
}

// payloadsOf returns the payloads of the notifications of a transaction.
func payloadsOf(hashes []string) (out []string) {
	for part := range slices.Chunk(hashes, payloadHashes) {
		out = append(out, strings.Join(part, ","))
	}
	return out
}

// quietLimit is how long the listening connection may be quiet before it is tested.
const quietLimit = 30 * time.Second

// listen wakes followers when other programs append, until the log is closed.
func (l *Log) listen() {
	config := l.config.Copy()
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		for hash := range strings.SplitSeq(n.Payload, ",") {
			l.changes.Notify(hash)
		}
	}
	pause := time.Duration(0)
	for l.base.Err() == nil {
		if l.receiveNotifications(config) {
			pause = 0
		}
		pause = min(max(2*pause, 20*time.Millisecond), 2*time.Second)
		select {
		case <-time.After(pause):
		case <-l.closing:
		}
	}
}

// receiveNotifications listens until the connection breaks. It reports whether there was
// one.
func (l *Log) receiveNotifications(config *pgconn.Config) (connected bool) {
	c, err := pgconn.ConnectConfig(l.base, config)
	if err != nil {
		return false
	}
	defer func() { _ = closeConn(c) }()
	if _, err := c.Exec(l.base, "LISTEN "+channel).ReadAll(); err != nil {
		return false
	}
	l.changes.NotifyAll() // what was appended before is not notified again
	for {
		ctx, cancel := context.WithTimeout(l.base, quietLimit)
		err := c.WaitForNotification(ctx)
		cancel()
		if err == nil {
			continue
		}
		if l.base.Err() != nil || !pgconn.Timeout(err) {
			return true
		}
		ctx, cancel = context.WithTimeout(l.base, quietLimit)
		err = c.Ping(ctx)
		cancel()
		if err != nil {
			return true
		}
	}
}
