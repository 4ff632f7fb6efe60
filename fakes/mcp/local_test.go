package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/mcp"
	"github.com/turnspec/turnspec/fixtures"
)

var localServers = []fixtures.Server{
	{Name: "calc", Env: map[string]string{"RIVER": "Danube"}, Tools: []fixtures.Tool{{Name: "add", Result: []fixtures.Content{{Text: "3"}}}, {Name: "die", Dies: true}}},
	{Name: "remote", Remote: fixtures.Remote{Transport: fixtures.TransportHTTP}, Tools: []fixtures.Tool{{Name: "wait", Awaits: "go"}}},
}

// A server that a client starts answers within a bubble, refuses to start without its variables,
// and exits when its stdin ends or its tool says so.
func TestLocalServerIsAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		others := proc.LauncherFunc(func(context.Context, proc.Command) (proc.Process, error) { return nil, errors.New("another program") })
		l := mcp.NewLocal(localServers, others, nil)
		defer func() { g.Expect(l.Close()).To(Succeed()) }()
		_, err := l.Launch(t.Context(), proc.Command{Argv: []string{"chat"}})
		g.Expect(err).To(MatchError("another program"))

		start := func(env ...string) proc.Process {
			p, err := l.Launch(t.Context(), proc.Command{Argv: []string{"/bin/turnspec-mcp-calc"}, Env: env})
			g.Expect(err).NotTo(HaveOccurred())
			return p
		}
		p := start("RIVER=Rhine")
		g.Expect(p.Wait()).To(Equal(proc.Exit{Code: 1}))
		words, err := io.ReadAll(p.Stderr())
		g.Expect(string(words), err).To(ContainSubstring("the variable RIVER is missing or wrong"))

		connect := func(p proc.Process) *sdk.ClientSession {
			s, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: io.NopCloser(p.Stdout()), Writer: p.Stdin()}, nil)
			g.Expect(err).NotTo(HaveOccurred())
			return s
		}
		p = start("RIVER=Danube")
		s := connect(p)
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "add"})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Content).To(ConsistOf(HaveField("Text", "3")))
		g.Expect(s.Close()).To(Succeed())
		g.Expect(p.Wait()).To(Equal(proc.Exit{}))

		p = start("RIVER=Danube")
		s = connect(p)
		_, err = s.CallTool(t.Context(), &sdk.CallToolParams{Name: "die"})
		g.Expect(err).To(HaveOccurred())
		g.Expect(p.Wait()).To(Equal(proc.Exit{Code: 1}))
		_ = s.Close()
	})
}

// A server that runs already is reached by its address, and a call waits for its file.
func TestLocalServerIsReachedByItsAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		written := make(chan struct{})
		l := mcp.NewLocal(localServers, nil, func(_ context.Context, file string) error {
			g.Expect(file).To(Equal("go"))
			<-written
			return nil
		})
		transport := &http.Transport{DialContext: l.DialContext}
		s, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: fixtures.ServerURL("remote"), HTTPClient: &http.Client{Transport: transport}, DisableStandaloneSSE: true}, nil)
		g.Expect(err).NotTo(HaveOccurred())
		done := make(chan error, 1)
		go func() {
			_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "wait"})
			done <- err
		}()
		synctest.Wait()
		g.Expect(done).NotTo(Receive())
		close(written)
		g.Expect(<-done).NotTo(HaveOccurred())
		g.Expect(s.Close()).To(Succeed())
		transport.CloseIdleConnections()
		_, err = l.DialContext(t.Context(), "tcp", "127.0.0.1:1")
		g.Expect(err).To(MatchError(ContainSubstring("nothing listens there")))
		g.Expect(l.Close()).To(Succeed())
	})
}
