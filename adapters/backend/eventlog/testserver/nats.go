package testserver

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// NATS is a running NATS server with JetStream, in this program.
type NATS struct {
	t       *testing.T
	options server.Options
	server  *server.Server
	names   atomic.Int64
}

// StartNATS starts a server.
func StartNATS(t *testing.T) *NATS {
	t.Helper()
	return StartNATSWithRoom(t, 0)
}

// StartNATSWithRoom starts a server whose streams may take up so many bytes: any number if 0.
func StartNATSWithRoom(t *testing.T, bytes int64) *NATS {
	t.Helper()
	n := &NATS{t: t, options: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, JetStreamMaxStore: bytes, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	}}
	n.Start()
	t.Cleanup(n.Stop)
	return n
}

// Start starts the server after Stop, at the same port, and returns when it accepts
// connections.
func (n *NATS) Start() {
	n.t.Helper()
	options := n.options
	s, err := server.NewServer(&options)
	if err != nil {
		n.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(startLimit) {
		n.t.Fatal("NATS did not start")
	}
	n.options.Port = options.Port
	n.server = s
}

// Stop ends the server.
func (n *NATS) Stop() {
	n.server.Shutdown()
	n.server.WaitForShutdown()
}

// URL returns the address of the server.
func (n *NATS) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", n.options.Port) }

// NewName returns a name of streams that was not used before.
func (n *NATS) NewName() string { return fmt.Sprint("test_", n.names.Add(1)) }
