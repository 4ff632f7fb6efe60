package chat_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// serverEnv makes the test program an MCP server over stdio.
const serverEnv = "TURNSPEC_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(serverEnv) {
	case "":
		os.Exit(m.Run())
	case "calc":
		if err := calculator().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		fmt.Fprintln(os.Stderr, "this server does not start")
		os.Exit(1)
	}
}

// calculator is a server with a tool that adds, one that dies, and one that waits until its
// call is cancelled.
func calculator() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "calc", Version: "1"}, nil)
	schema := map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "number"}}}
	add := func(name string, handle func(ctx context.Context, args string) (string, error)) {
		s.AddTool(&mcp.Tool{Name: name, Description: "It is the tool " + name + ".", InputSchema: schema}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, err := handle(ctx, string(r.Params.Arguments))
			if err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	}
	add("sum.up", func(_ context.Context, args string) (string, error) { return "summed " + args, nil })
	add("refuse", func(context.Context, string) (string, error) { return "", errors.New("no sums today") })
	add("exit", func(context.Context, string) (string, error) { os.Exit(3); return "", nil })
	add("wait", func(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() })
	s.AddTool(&mcp.Tool{Name: "draw", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "drawn"},
			&mcp.ImageContent{Data: []byte("dots"), MIMEType: "image/png"}, &mcp.AudioContent{Data: []byte("pling"), MIMEType: "audio/wav"}}}, nil
	})
	return s
}

func stdioServer(kind string) adapters.MCPServer {
	return adapters.MCPServer{Name: "calc", Command: os.Args[0], Env: map[string]string{serverEnv: kind}}
}

// The tools of a server are offered to the model under names that its API takes, and called
// when it calls them, over each transport.
func TestServersAreReachedOverEachTransport(t *testing.T) {
	var header string
	withHeader := func(h http.Handler) *httptest.Server {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			header = r.Header.Get("X-Room")
			h.ServeHTTP(w, r)
		}))
		t.Cleanup(srv.Close)
		return srv
	}
	get := func(*http.Request) *mcp.Server { return calculator() }
	streamable, sse := withHeader(mcp.NewStreamableHTTPHandler(get, nil)), withHeader(mcp.NewSSEHandler(get, nil))
	for name, server := range map[string]adapters.MCPServer{
		"stdio": stdioServer("calc"),
		"http":  {Name: "calc", URL: streamable.URL, Headers: map[string]string{"X-Room": "7"}},
		"sse":   {Name: "calc", URL: sse.URL, SSE: true, Headers: map[string]string{"X-Room": "7"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newModel(t, calls("mcp__calc__sum_up", `{"a":2}`))
			s := open(t, m, adapters.Options{MCP: []adapters.MCPServer{server}})
			g.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Add."})).To(Succeed())
			events := readUntil(t, s, event.TypeDone)
			starts, results := dataOf[event.ToolStart](events), dataOf[event.ToolResult](events)
			g.Expect(starts).To(HaveLen(1))
			g.Expect(starts[0].Tool).To(Equal("mcp__calc__sum.up"), "the names of the server and of its tool")
			g.Expect(results).To(HaveLen(1))
			g.Expect(results[0]).To(And(HaveField("Output", `summed {"a":2}`), HaveField("Status", event.ToolOK)))
			g.Expect(m.body(0)).To(And(ContainSubstring(`"name":"mcp__calc__sum_up"`), ContainSubstring(`"description":"It is the tool sum.up."`), ContainSubstring(`"a":{"type":"number"}`)))
			g.Expect(m.body(1)).To(ContainSubstring(`"tool_call_id":"call_1"`))
			if server.URL != "" {
				g.Expect(header).To(Equal("7"))
			}
		})
	}
}

// What a tool gives besides text is described by reference, and its bytes are handed over. The
// model gets a text, because its API takes nothing else as a result.
func TestMediaOfServersAreDescribed(t *testing.T) {
	g := NewWithT(t)
	m := newModel(t, calls("mcp__calc__draw", "{}"))
	var handed []string
	s := open(t, m, adapters.Options{MCP: []adapters.MCPServer{stdioServer("calc")}, Media: func(_ event.Media, b []byte) { handed = append(handed, string(b)) }})
	g.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Draw."})).To(Succeed())
	results := dataOf[event.ToolResult](readUntil(t, s, event.TypeDone))
	g.Expect(results).To(HaveLen(1))
	g.Expect(results[0].Output).To(Equal("drawn\n(image/png, 4 bytes)\n(audio/wav, 5 bytes)"))
	g.Expect(results[0].Media).To(Equal([]event.Media{
		event.MediaOf(event.MediaImage, "image/png", []byte("dots")), event.MediaOf(event.MediaAudio, "audio/wav", []byte("pling")),
	}))
	g.Expect(handed).To(Equal([]string{"dots", "pling"}))
	g.Expect(m.body(1)).To(ContainSubstring("(image/png, 4 bytes)"))
}

// A server that fails takes nothing else with it: the call has a result, and the history stays
// valid.
func TestServerFails(t *testing.T) {
	for name, c := range map[string]struct{ tool, want string }{
		"it refuses a call":     {"mcp__calc__refuse", "no sums today"},
		"it dies in mid-call":   {"mcp__calc__exit", ""},
		"it has no such tool":   {"mcp__calc__guess", "there is no tool mcp__calc__guess"},
		"the input has no form": {"mcp__calc__sum_up", "the arguments are not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			arguments := "{}"
			if name == "the input has no form" {
				arguments = "{"
			}
			m := newModel(t, calls(c.tool, arguments))
			s := open(t, m, adapters.Options{MCP: []adapters.MCPServer{stdioServer("calc")}})
			g.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Add."})).To(Succeed())
			results := dataOf[event.ToolResult](readUntil(t, s, event.TypeDone))
			g.Expect(results).To(HaveLen(1))
			g.Expect(results[0].Status).To(Equal(event.ToolError))
			g.Expect(results[0].Output).To(ContainSubstring(c.want))
			g.Expect(m.body(1)).To(ContainSubstring(`"tool_call_id":"call_1"`), "the model gets the result")
		})
	}
}

// A session opens without a server that does not start, and reports it.
func TestServerDoesNotStart(t *testing.T) {
	for name, server := range map[string]adapters.MCPServer{
		"it exits":      stdioServer("broken"),
		"it is missing": {Name: "calc", Command: "/nonexistent/turnspec-calc"},
		"no such host":  {Name: "calc", URL: "http://127.0.0.1:9/mcp"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newModel(t)
			s := open(t, m, adapters.Options{MCP: []adapters.MCPServer{server}})
			g.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Hello."})).To(Succeed())
			events := readUntil(t, s, event.TypeDone)
			g.Expect(events[0].Type()).To(Equal(event.TypeSessionReady))
			notices := dataOf[event.Notice](events)
			g.Expect(notices).To(HaveLen(1))
			g.Expect(notices[0].Text).To(HavePrefix("an MCP server failed to start: calc: "))
			g.Expect(m.body(0)).NotTo(ContainSubstring("tools"))
		})
	}
}

// A stop cancels the call, and the next request has a result for it.
func TestStopCancelsACallOfAServer(t *testing.T) {
	g := NewWithT(t)
	m := newModel(t, calls("mcp__calc__wait", "{}"))
	s := open(t, m, adapters.Options{MCP: []adapters.MCPServer{stdioServer("calc")}})
	g.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Wait."})).To(Succeed())
	readUntil(t, s, event.TypeToolStart)
	g.Expect(s.Stop(t.Context())).To(Succeed())
	stopped := readUntil(t, s, event.TypeDone)
	g.Expect(dataOf[event.ToolResult](stopped)).To(HaveExactElements(HaveField("Status", event.ToolInterrupted)))
	g.Expect(s.Send(t.Context(), adapters.Message{ID: "m2", Text: "Go on."})).To(Succeed())
	readUntil(t, s, event.TypeDone)
	g.Expect(m.body(1)).To(And(ContainSubstring(`"tool_calls"`), ContainSubstring(`"tool_call_id":"call_1"`)))
}

// The Judge and the user decide about the tools of servers, by the names that events have.
func TestJudgeDecidesAboutCallsOfServers(t *testing.T) {
	g := NewWithT(t)
	m := newModel(t, calls("mcp__calc__sum_up", "{}"))
	var judged []string
	s := open(t, m, adapters.Options{MCP: []adapters.MCPServer{stdioServer("calc")}, Judge: func(_ context.Context, c adapters.Call) adapters.Verdict {
		judged = append(judged, c.Tool)
		return adapters.Verdict{Effect: adapters.EffectDeny, Reason: "no sums"}
	}})
	g.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Add."})).To(Succeed())
	results := dataOf[event.ToolResult](readUntil(t, s, event.TypeDone))
	g.Expect(results).To(HaveExactElements(And(HaveField("Status", event.ToolDenied), HaveField("Output", "no sums"))))
	g.Expect(judged).To(Equal([]string{"mcp__calc__sum.up"}))
}

func TestToolNamesOfServersAreUnique(t *testing.T) {
	g := NewWithT(t)
	other := stdioServer("calc")
	m := newModel(t)
	other.Name = "ca.lc"
	third := stdioServer("calc")
	third.Name = "ca_lc"
	s := open(t, m, adapters.Options{MCP: []adapters.MCPServer{other, third}})
	g.Expect(s.Send(t.Context(), adapters.Message{ID: "m1", Text: "Hello."})).To(Succeed())
	readUntil(t, s, event.TypeDone)
	var names []string
	for part := range strings.SplitSeq(m.body(0), `"name":"`) {
		if name, _, ok := strings.Cut(part, `"`); ok && strings.HasPrefix(name, "mcp__") {
			names = append(names, name)
		}
	}
	g.Expect(names).To(HaveLen(10))
	slices.Sort(names)
	g.Expect(slices.Compact(names)).To(HaveLen(10))
}
