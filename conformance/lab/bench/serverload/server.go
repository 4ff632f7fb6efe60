package serverload

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/window"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance/lab/bench/internal/load"
)

// envServer holds the configuration of this program if it is the server of a run.
const envServer = "TURNSPEC_BENCH_SERVER"

// Open opens a log in a folder. The program passes those that need a library.
type Open func(ctx context.Context, dir string) (eventlog.Log, error)

// Main serves, and does not return, if a run started this program for it. logs opens the
// logs that a configuration may name, besides memory.
func Main(logs map[string]Open) {
	text, is := os.LookupEnv(envServer)
	if !is {
		return
	}
	var c Config
	err := json.Unmarshal([]byte(text), &c)
	if err == nil {
		err = serve(c, logs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve serves until stdin ends.
func serve(c Config, logs map[string]Open) error {
	log, err := openLog(c, logs)
	if err != nil {
		return err
	}
	p := newPaced()
	plain := &broadcaster{sessions: map[string]map[chan []byte]bool{}}
	s := sidecar.New(sidecar.Config{
		Adapters: map[string]adapters.Adapter{"paced": p}, Log: window.Keep(log),
		MaxSessions: c.Sessions + 100, MaxListeners: c.Sessions*c.Listeners + c.Idle + 100,
	})
	mux := http.NewServeMux()
	mux.Handle("/", s)
	mux.HandleFunc("GET /bench/delays", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, p.take()) })
	mux.HandleFunc("GET /bench/usage", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, usageNow()) })
	mux.HandleFunc("POST /bench/plain/{id}", func(w http.ResponseWriter, r *http.Request) {
		session, err := plain.adapter(p).Open(r.Context(), adapters.Options{Opening: op.Opening{SessionID: r.PathValue("id")}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		go drain(session.Events())
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = session.Send(r.Context(), adapters.Message{ID: "m", Text: string(text)})
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	mux.HandleFunc("GET /bench/plain/{id}/events", plain.serve)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if c.Profile != "" {
		f, err := os.Create(c.Profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // until it is closed
	if _, err := fmt.Fprintln(os.Stdout, l.Addr()); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // the run is over
	_ = server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		return err
	}
	return log.Close()
}

func openLog(c Config, logs map[string]Open) (eventlog.Log, error) {
	open := logs[c.Log]
	switch {
	case c.Log == "memory":
		return &eventlog.Memory{}, nil
	case open == nil:
		return nil, fmt.Errorf("no log %q: use %s or memory", c.Log, strings.Join(slices.Sorted(maps.Keys(logs)), ", "))
	}
	return open(context.Background(), c.Dir)
}

func drain(events <-chan event.Event) {
	for range events {
	}
}

func writeJSON(w http.ResponseWriter, v any) { _ = json.MarshalWrite(w, v) } // the run may have ended

// usage is what the process has used.
type usage struct {
	CPU      float64 // seconds
	InUse    float64 // bytes of heap and stacks, after a collection
	Resident float64 // bytes; 0 if the system does not report it
}

func usageNow() usage {
	var m runtime.MemStats
	u := usage{CPU: time.Duration(load.CPUTime()).Seconds()}
	debug.FreeOSMemory()
	runtime.ReadMemStats(&m)
	u.InUse = float64(m.HeapInuse + m.StackInuse)
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(b)); len(fields) > 1 {
			pages, _ := strconv.ParseFloat(fields[1], 64) // the system writes numbers
			u.Resident = pages * float64(os.Getpagesize())
		}
	}
	return u
}

// broadcaster is the control: it writes events to listeners as they are emitted, and
// stores nothing.
type broadcaster struct {
	mu       sync.Mutex
	sessions map[string]map[chan []byte]bool
}

// adapter returns the adapter whose events the broadcaster receives.
func (b *broadcaster) adapter(p *paced) adapters.Adapter {
	return &watched{p, b}
}

// watched is paced, with a broadcaster as its listener.
type watched struct {
	*paced
	b *broadcaster
}

// Open implements adapters.Adapter.
func (w *watched) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	s, err := w.paced.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	out := make(chan event.Event)
	go func() {
		defer close(out)
		for e := range s.Events() {
			w.b.send(e)
			out <- e
		}
	}()
	return broadcast{s, out}, nil
}

// broadcast is a session whose events were written to the listeners.
type broadcast struct {
	adapters.Session
	out chan event.Event
}

// Events implements adapters.Session.
func (b broadcast) Events() <-chan event.Event { return b.out }

func (b *broadcaster) send(e event.Event) {
	text, err := json.Marshal(e)
	if err != nil {
		return
	}
	frame := fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Type(), text)
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.sessions[e.SessionID] {
		c <- frame
	}
}

func (b *broadcaster) serve(w http.ResponseWriter, r *http.Request) {
	c, id := make(chan []byte, 4096), r.PathValue("id")
	b.mu.Lock()
	if b.sessions[id] == nil {
		b.sessions[id] = map[chan []byte]bool{}
	}
	b.sessions[id][c] = true
	b.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	if _, err := io.WriteString(w, ": connected\n\n"); err != nil || out.Flush() != nil {
		return
	}
	for {
		select {
		case frame := <-c:
			if _, err := w.Write(frame); err != nil || out.Flush() != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
