package paint

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/window"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

//go:embed control.html
var controlPage string

//go:embed marks.mjs
var marksModule string

//go:embed usechat/index.html
var useChatPage string

// server is a sidecar in this process, with the control page beside its own.
type server struct {
	url     string
	sources map[string]*source // by load
	side    *sidecar.Server
	http    http.Server
}

// turnDeltas and turnGap are the deltas of the load turn: a model that says 200 a second.
const (
	turnDeltas = 100
	turnGap    = 5 * time.Millisecond
)

// startServer starts a server. It holds a stored session for each number of events and each
// contender.
func startServer(ctx context.Context, c Config) (*server, error) {
	log := window.Keep(&eventlog.Memory{})
	if err := log.Append(ctx, stored(firstID, 100)...); err != nil {
		return nil, err
	}
	for _, n := range c.Events {
		for _, contender := range c.contenders() {
			all := stored(storedID(contender.name, n), n)
			for len(all) > 0 {
				part := all[:min(len(all), 1000)]
				all = all[len(part):]
				if err := log.Append(ctx, part...); err != nil {
					return nil, err
				}
			}
		}
	}
	s := &server{sources: map[string]*source{Turn: {deltas: turnDeltas, gap: turnGap}, Flood: {deltas: c.Deltas}}}
	known := map[string]adapters.Adapter{}
	for name, a := range s.sources {
		known[name] = a
	}
	s.side = sidecar.New(sidecar.Config{Adapters: known, Log: log})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /control", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, controlPage) })
	mux.HandleFunc("GET /marks.mjs", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, marksModule)
	})
	if c.UseChat != "" {
		if _, err := os.Stat(c.UseChat); err != nil {
			return nil, err
		}
		mux.HandleFunc("GET /usechat", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, useChatPage) })
		mux.HandleFunc("GET /usechat.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, c.UseChat) })
	}
	mux.Handle("/", s.side)
	s.http.Handler = mux
	s.http.ReadHeaderTimeout = time.Minute
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.url = "http://" + l.Addr().String()
	go func() { _ = s.http.Serve(l) }() // until close
	return s, nil
}

func (s *server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(s.side.Shutdown(ctx), s.http.Close())
}

// firstID is the stored session that a page shows before it opens another one.
const firstID = "first"

func storedID(contender string, events int) string { return fmt.Sprintf("%s-%d", contender, events) }

// open opens a session for a load, and returns its id.
func (s *server) open(ctx context.Context, load string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/sessions", strings.NewReader(`{"runtime":"`+load+`"}`))
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		ID    string `json:"id"`
		Error any    `json:"error"`
	}
	if err := json.UnmarshalRead(resp.Body, &answer); err != nil {
		return "", err
	}
	if answer.ID == "" {
		return "", fmt.Errorf("open a session: %v", answer.Error)
	}
	return answer.ID, nil
}
