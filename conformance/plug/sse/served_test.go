package sse_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
)

// envLogs is the folder with the event logs of servers. A session that is resumed in a
// new process is in the log of the old one.
const envLogs = "TURNSPEC_TEST_LOGS"

// serveReference serves a reference adapter with the sidecar package, perhaps behind a
// handler with a defect, until the process is signalled.
func serveReference(runtime string, wrap func(http.Handler) http.Handler) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	serveUntil(ctx, runtime, filepath.Join(os.Getenv(envLogs), runtime+".db"), wrap)
}

// serveUntil serves a reference adapter, with this file as its log, until ctx is done.
func serveUntil(ctx context.Context, runtime, file string, wrap func(http.Handler) http.Handler) {
	log, err := sqlite.Open(ctx, file, sqlite.Options{Relaxed: true})
	if err != nil {
		panic(err)
	}
	s := sidecar.New(sidecar.Config{Log: log, Adapters: map[string]adapters.Adapter{runtime: underTest{reference.Of(runtime)}}})
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	server := &http.Server{Handler: s}
	if wrap != nil {
		server.Handler = wrap(s)
	}
	go func() { _ = server.Serve(l) }()
	<-ctx.Done()
	if err := s.Shutdown(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "shutdown:", err)
	}
	if err := log.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "close the log:", err)
	}
}

// underTest is an adapter that opens sessions as the suite does.
type underTest struct{ adapters.Adapter }

// Open implements adapters.Adapter.
func (u underTest) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	return backend.Adapter(u.Capabilities().Runtime, handsOver{u.Adapter, o.Media}).Open(ctx, conformance.Open{
		Opening: o.Opening,
		After:   o.After, MCP: o.MCP, Limits: o.Limits, Schema: o.Schema, Tools: o.Tools, Hooks: o.Hooks,
	})
}

// handsOver is an adapter whose sessions hand over media, for which the suite does not ask.
type handsOver struct {
	adapters.Adapter
	media func(event.Media, []byte)
}

// Open implements adapters.Adapter.
func (h handsOver) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	o.Media = h.media
	return h.Adapter.Open(ctx, o)
}
