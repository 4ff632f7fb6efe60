package mcp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/gomega"

	fake "github.com/turnspec/turnspec/fakes/mcp"
	"github.com/turnspec/turnspec/fixtures"
)

func TestMain(m *testing.M) {
	if ok, code := fake.Main(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

var lab = fixtures.Server{Name: "lab", Tools: []fixtures.Tool{
	{Name: "say", Result: []fixtures.Content{{Text: "hi"}, {Image: "aGk="}}, Structured: []byte(`{"a":1}`)},
	{Name: "broken", Fail: "the lab is closed"},
	{Name: "bad", IsError: true, Result: []fixtures.Content{{Text: "no"}}},
	{Name: "ask", Asks: &fixtures.Elicitation{Message: "Sure?", Schema: []byte(`{"type":"object"}`)}},
}}

// connect starts the server as a runtime does: by a plain name in PATH.
func connect(t *testing.T) *mcp.ClientSession {
	t.Helper()
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "bin")
	g.Expect(fake.Install(dir, []fixtures.Server{lab, {Name: "ghost", Broken: true}})).To(Succeed())
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"yes": true}}, nil
		},
	})
	s, err := c.Connect(context.Background(), &mcp.CommandTransport{Command: command(dir, "lab")}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestServerAnswersAsScripted(t *testing.T) {
	g := NewWithT(t)
	s := connect(t)
	call := func(name string) (*mcp.CallToolResult, error) {
		return s.CallTool(context.Background(), &mcp.CallToolParams{Name: name})
	}
	r, err := call("say")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Content).To(HaveLen(2))
	g.Expect(r.Content[0].(*mcp.TextContent).Text).To(Equal("hi"))
	g.Expect(r.StructuredContent).To(Equal(map[string]any{"a": 1.0}))
	_, err = call("broken")
	g.Expect(err).To(MatchError(ContainSubstring("the lab is closed")))
	r, err = call("bad")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.IsError).To(BeTrue())
	r, err = call("ask")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Content[0].(*mcp.TextContent).Text).To(Equal(`{"action":"accept","content":{"yes":true}}`))
}

// TestServerWithdrawsItsQuestion checks that a server cancels its question when the file
// exists, and then sends the result.
func TestServerWithdrawsItsQuestion(t *testing.T) {
	g := NewWithT(t)
	gone := filepath.Join(t.TempDir(), "gone")
	srv := fake.New(&fixtures.Server{Name: "lab", Tools: []fixtures.Tool{
		{Name: "ask", Asks: &fixtures.Elicitation{Message: "Sure?", Schema: []byte(`{"type":"object"}`), Until: gone}, Result: []fixtures.Content{{Text: "too late"}}},
	}})
	here, there := mcp.NewInMemoryTransports()
	_, err := srv.Connect(t.Context(), there, nil)
	g.Expect(err).NotTo(HaveOccurred())
	withdrawn := make(chan struct{})
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if err := os.WriteFile(gone, nil, 0o600); err != nil {
				return nil, err
			}
			<-ctx.Done()
			close(withdrawn)
			return nil, ctx.Err()
		},
	})
	s, err := c.Connect(t.Context(), here, nil)
	g.Expect(err).NotTo(HaveOccurred())
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Content[0].(*mcp.TextContent).Text).To(Equal("too late"))
	<-withdrawn
}

func TestServerNeedsItsVariables(t *testing.T) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "bin")
	g.Expect(fake.Install(dir, []fixtures.Server{{Name: "river", Env: map[string]string{"RIVER": "Danube"}}})).To(Succeed())
	for value, want := range map[string]string{"": "RIVER is missing or wrong", "Rhine": "RIVER is missing or wrong", "Danube": ""} {
		c := command(dir, "river")
		c.Env = append(os.Environ(), "RIVER="+value)
		out, err := c.CombinedOutput() // its stdin is empty, so that it ends
		g.Expect(string(out)).To(ContainSubstring(want), value)
		g.Expect(err != nil).To(Equal(want != ""), "%s: %v", value, err)
	}
}

func TestBrokenServerExitsAtOnce(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(fake.Install(dir, []fixtures.Server{{Name: "ghost", Broken: true}})).To(Succeed())
	out, err := command(dir, "ghost").CombinedOutput()
	g.Expect(err).To(HaveOccurred())
	g.Expect(string(out)).To(ContainSubstring("does not start"))
}

func TestOtherProgramsAreNoServers(t *testing.T) {
	handled, _ := fake.Main([]string{"/usr/bin/turnspec", "run"})
	NewWithT(t).Expect(handled).To(BeFalse())
}

func command(dir, server string) *exec.Cmd {
	return exec.Command(filepath.Join(dir, fixtures.ServerCommand(server)))
}
