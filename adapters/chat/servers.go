package chat

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/proc"
)

// clientTool is a tool that the adapter runs: one of the client, or of an MCP server.
type clientTool struct {
	adapters.Tool
	offered string // its name in requests
}

// maxToolName is how many letters the API takes in the name of a tool.
const maxToolName = 64

// notInToolNames are the signs that the API does not take in the name of a tool.
var notInToolNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// addServerTools offers the tools of a server, under names that the API takes.
func (c *client) addServerTools(tools []adapters.Tool) {
	for _, t := range tools {
		name := notInToolNames.ReplaceAllString(t.Name, "_")
		offered := name[:min(len(name), maxToolName)]
		for n := 2; c.toolOffered(offered) != nil; n++ {
			suffix := "_" + strconv.Itoa(n)
			offered = name[:min(len(name), maxToolName-len(suffix))] + suffix
		}
		c.tools = append(c.tools, clientTool{t, offered})
	}
}

// toolOffered returns the tool by its name in requests, or nil.
func (c *client) toolOffered(name string) *clientTool {
	i := slices.IndexFunc(c.tools, func(t clientTool) bool { return t.offered == name })
	if i < 0 {
		return nil
	}
	return &c.tools[i]
}

// checkMCP rejects a server that names neither a program nor an address.
func checkMCP(servers []adapters.MCPServer) error {
	for _, s := range servers {
		if s.Command == "" && s.URL == "" {
			return fmt.Errorf("mcp: server %s: needs a command or a URL", s.Name)
		}
	}
	return nil
}

// startedServer is what became of the start of a server.
type startedServer struct {
	name  string
	tools []adapters.Tool
	err   error
}

// startServers starts the MCP servers and calls then, in the session's goroutine, when each
// runs or has failed. One goroutine per server holds the connection until the session ends.
func (c *client) startServers(then func([]startedServer)) {
	started := make([]chan startedServer, len(c.o.MCP))
	limit := c.host.Limits().Request
	for i, server := range c.o.MCP {
		started[i] = make(chan startedServer, 1)
		c.host.Go(func(ctx context.Context) func() {
			c.serve(ctx, server, limit, func(s startedServer) { started[i] <- s })
			return func() {}
		})
	}
	c.host.Go(func(ctx context.Context) func() {
		all := make([]startedServer, 0, len(started))
		for _, s := range started {
			select {
			case x := <-s:
				all = append(all, x)
			case <-ctx.Done():
				return func() {}
			}
		}
		return func() { then(all) }
	})
}

// serve connects to a server, reports its tools, and closes the connection when ctx is done.
func (c *client) serve(ctx context.Context, server adapters.MCPServer, limit time.Duration, report func(startedServer)) {
	conn, err := c.connectServer(ctx, server)
	if err != nil {
		report(startedServer{name: server.Name, err: err})
		return
	}
	defer conn.end()
	opening, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within the limit of %v", limit))
	defer cancel()
	session, tools, err := conn.open(opening, server.Name)
	if err != nil {
		err = causeOr(opening, err)
		conn.end() // after that stderr is complete
		if words := strings.TrimSpace(conn.stderr.String()); words != "" {
			err = fmt.Errorf("%w: %s", err, words)
		}
		report(startedServer{name: server.Name, err: err})
		return
	}
	report(startedServer{name: server.Name, tools: tools})
	<-ctx.Done()
	_ = session.Close() // the server may have ended before
}

// causeOr returns why ctx has ended, or err if it has not.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// connection is the way to a server: a process, or an address.
type connection struct {
	transport mcp.Transport
	stderr    *proc.Tail // of the process
	end       func()     // ends the process
}

// maxServerWords bounds what an error repeats of a server's stderr.
const maxServerWords = 2000

// connectServer starts the process of a server, or prepares the requests to its address.
func (c *client) connectServer(ctx context.Context, s adapters.MCPServer) (*connection, error) {
	conn := &connection{stderr: proc.NewTail(maxServerWords), end: func() {}}
	if s.URL != "" {
		t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one, unless a program replaces it
		if d, ok := c.servers.(proc.Dialer); ok {
			t.DialContext, t.Proxy = d.DialContext, nil
		}
		conn.end = t.CloseIdleConnections
		h := &http.Client{Transport: headerTransport{s.Headers, t}}
		if s.SSE {
			conn.transport = &mcp.SSEClientTransport{Endpoint: s.URL, HTTPClient: h}
		} else {
			conn.transport = &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: h, DisableStandaloneSSE: true}
		}
		return conn, nil
	}
	env := slices.Clone(proc.Environ(c.o.Env))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env = append(env, name+"="+s.Env[name])
	}
	p, err := c.servers.Launch(context.WithoutCancel(ctx), proc.Command{Argv: append([]string{proc.LookPath(env, s.Command)}, s.Args...), Dir: c.o.Dir, Env: env})
	if err != nil {
		return nil, err
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = conn.stderr.ReadFrom(p.Stderr())
	}()
	conn.transport = &mcp.IOTransport{Reader: io.NopCloser(p.Stdout()), Writer: p.Stdin()}
	limits := c.o.Limits.WithDefaults()
	conn.end = sync.OnceFunc(func() {
		proc.End(p, proc.Grace{Stdin: limits.CloseStdin, Term: limits.Term})
		<-drained
	})
	return conn, nil
}

// headerTransport adds headers to each request.
type headerTransport struct {
	headers map[string]string
	next    http.RoundTripper
}

func (h headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.headers {
		r.Header.Set(name, value)
	}
	return h.next.RoundTrip(r)
}

// open makes the handshake and lists the tools. The client answers no requests of a server.
func (c *connection) open(ctx context.Context, server string) (*mcp.ClientSession, []adapters.Tool, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "turnspec", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, c.transport, nil)
	if err != nil {
		return nil, nil, err
	}
	var tools []adapters.Tool
	for t, err := range session.Tools(ctx, nil) {
		if err == nil {
			var tool adapters.Tool
			if tool, err = toolOf(session, server, t); err == nil {
				tools = append(tools, tool)
				continue
			}
		}
		_ = session.Close() // the error before counts
		return nil, nil, err
	}
	return session, tools, nil
}

// toolOf returns a tool of a server as one of the client.
func toolOf(session *mcp.ClientSession, server string, t *mcp.Tool) (adapters.Tool, error) {
	schema, err := json.Marshal(t.InputSchema, lenient.Options, json.Deterministic(true))
	if err != nil {
		return adapters.Tool{}, fmt.Errorf("tool %s: its schema: %w", t.Name, err)
	}
	return adapters.Tool{
		Name: "mcp__" + server + "__" + t.Name, Description: t.Description, Schema: schema,
		ReadOnly: t.Annotations != nil && t.Annotations.ReadOnlyHint,
		Call: func(ctx context.Context, call adapters.ToolCall) (adapters.ToolAnswer, error) {
			r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: t.Name, Arguments: call.Input})
			if err != nil {
				return adapters.ToolAnswer{}, err
			}
			return answerOf(r), nil
		},
	}, nil
}

// answerOf returns the result of a tool of a server. The model gets structured content if
// there is no other.
func answerOf(r *mcp.CallToolResult) adapters.ToolAnswer {
	a := adapters.ToolAnswer{IsError: r.IsError}
	for _, x := range r.Content {
		switch x := x.(type) {
		case *mcp.TextContent:
			a.Content = append(a.Content, adapters.ToolContent{Text: x.Text})
		case *mcp.ImageContent:
			a.Content = append(a.Content, adapters.ToolContent{Image: x.Data, MIME: x.MIMEType})
		case *mcp.AudioContent:
			a.Content = append(a.Content, adapters.ToolContent{Image: x.Data, MIME: x.MIMEType}) // shown by its type and size
		case *mcp.ResourceLink:
			a.Content = append(a.Content, adapters.ToolContent{Text: x.URI})
		case *mcp.EmbeddedResource:
			switch {
			case x.Resource == nil:
			case len(x.Resource.Blob) > 0:
				a.Content = append(a.Content, adapters.ToolContent{Image: x.Resource.Blob, MIME: x.Resource.MIMEType}) // shown by its type and size
			default:
				a.Content = append(a.Content, adapters.ToolContent{Text: cmp.Or(x.Resource.Text, x.Resource.URI)})
			}
		}
	}
	if len(a.Content) == 0 && r.StructuredContent != nil {
		b, err := json.Marshal(r.StructuredContent, lenient.Options, json.Deterministic(true))
		if err == nil {
			a.Content = []adapters.ToolContent{{Text: string(b)}}
		}
	}
	return a
}

// serversStarted offers the tools of the servers and reports those that failed.
func (c *client) serversStarted(servers []startedServer) {
	c.ready()
	for _, s := range servers {
		if s.err != nil {
			c.t.l.Notice(event.LevelWarning, event.NoticeWarning, fmt.Sprintf("an MCP server failed to start: %s: %v", s.name, s.err), nil)
			continue
		}
		c.addServerTools(s.tools)
	}
	c.host.Ready(nil)
}
