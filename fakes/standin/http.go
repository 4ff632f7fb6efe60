package standin

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnspec/turnspec/adapters/httplines"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// httpFront serves HTTP for a runtime that is an HTTP server: it carries each request as a
// line to the play, and the lines of the play as replies. The play reads requests and writes
// replies.
type httpFront struct {
	requests *io.PipeReader
	replies  *io.PipeWriter

	lines      *io.PipeWriter // the other end of requests
	server     *http.Server
	served     chan struct{}
	terminated atomic.Bool
}

// listenHTTP starts a front on the port that the command line asks for, on loopback. It
// prints where it listens, as the runtime does, when the play does.
func listenHTTP(rt *wire.Runtime, version string, argv []string, stdout io.Writer) (*httpFront, error) {
	launched := rt.Launched(version, argv, nil)
	if launched.Listens == "" {
		return nil, fmt.Errorf("%s: %s serves no HTTP", EnvHTTP, rt.Name)
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", cmp.Or(launched.Port, "0")))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", EnvHTTP, err)
	}
	f := &httpFront{served: make(chan struct{})}
	var answers *io.PipeReader
	f.requests, f.lines = io.Pipe()
	answers, f.replies = io.Pipe()
	transport := httplines.NewTransport(func(line []byte) error {
		_, err := f.lines.Write(line)
		return err
	})
	var announce sync.Once
	// The first line of such a recording is no reply: the server listens.
	transport.BadLine = func([]byte, error) {
		announce.Do(func() { fmt.Fprintf(stdout, launched.Listens+"\n", "http://"+l.Addr().String()) })
	}
	f.server = &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
		Handler: &httputil.ReverseProxy{
			Transport:     transport,
			Rewrite:       func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Host },
			FlushInterval: -1, // each event at once
			// A reply that the play does not complete is cut.
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
			ErrorLog:     log.New(io.Discard, "", 0),
		},
	}
	go func() {
		defer close(f.served)
		_ = f.server.Serve(l) // close ends it
	}()
	go func() { _ = transport.Read(answers) }() // the end of the play ends it
	return f, nil
}

// endAtTERM passes signals on. SIGTERM ends the requests instead, because that is how a
// recording of a server ends.
func (f *httpFront) endAtTERM(sent <-chan proc.Signal) <-chan proc.Signal {
	out := make(chan proc.Signal)
	go func() {
		for {
			select {
			case <-f.served:
				return
			case s := <-sent:
				if s == proc.SIGTERM {
					f.terminated.Store(true)
					_ = f.lines.Close()
					continue
				}
				select {
				case out <- s:
				case <-f.served:
					return
				}
			}
		}
	}()
	return out
}

// close ends the front after the play has ended as e, and returns how the program ends.
func (f *httpFront) close(e proc.Exit) proc.Exit {
	_ = f.replies.Close()
	_ = f.server.Close()
	<-f.served
	if f.terminated.Load() && e == (proc.Exit{}) {
		return proc.Exit{Code: -1, Signal: proc.SIGTERM}
	}
	return e
}
