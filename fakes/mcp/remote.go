package mcp

import (
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnspec/turnspec/fixtures"
)

// Listener serves the servers of a scenario that run already, each at a path that is its
// name.
type Listener struct {
	Addr   string // "" if the scenario has no such server
	server *http.Server
}

// Listen serves those of the servers that have a transport. addr may have port 0.
func Listen(addr string, servers []fixtures.Server) (*Listener, error) {
	servers = slices.DeleteFunc(slices.Clone(servers), func(s fixtures.Server) bool { return s.Remote.Transport == "" })
	if len(servers) == 0 {
		return &Listener{}, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	return listenOn(l, servers, New), nil
}

// listenOn serves the servers, each of which start makes.
func listenOn(l net.Listener, servers []fixtures.Server, start func(*fixtures.Server) *mcp.Server) *Listener {
	mux := http.NewServeMux()
	for i := range servers {
		s := &servers[i]
		srv := start(s)
		get := func(*http.Request) *mcp.Server { return srv }
		var h http.Handler = mcp.NewStreamableHTTPHandler(get, nil)
		if s.Remote.Transport == fixtures.TransportSSE {
			h = mcp.NewSSEHandler(get, nil)
		}
		mux.Handle("/"+s.Name, demandHeaders(s.Remote.Headers, h))
	}
	out := &Listener{Addr: l.Addr().String(), server: &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}}
	go func() { _ = out.server.Serve(l) }() // it ends by Close
	return out
}

// Close ends all connections.
func (l *Listener) Close() error {
	if l.server == nil {
		return nil
	}
	return l.server.Close()
}

// demandHeaders refuses requests without the headers.
func demandHeaders(headers map[string]string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			if r.Header.Get(name) != value {
				http.Error(w, "the header "+name+" is missing or wrong", http.StatusForbidden)
				return
			}
		}
		h.ServeHTTP(w, r)
	})
}
