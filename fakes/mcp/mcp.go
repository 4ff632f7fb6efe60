// Package mcp runs the MCP servers of a scenario. It is not part of the stable interface.
//
// Real runtimes start a server as a child. It is this program under another name: Install
// puts a link named turnspec-mcp-SERVER into a folder, with a file of the server's
// tools, and a program that has such a link calls Main first. So a runtime's command
// line holds a name and no path, and the server runs in the isolation of the runtime.
//
// A server waits for files and makes them, relative to its working directory, which is the
// runtime's. With them a scenario holds it within a call.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"encoding/base64"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnspec/turnspec/fixtures"
)

// Install puts the servers into a folder, which must come first in the PATH of the
// runtime.
func Install(dir string, servers []fixtures.Server) error {
	if len(servers) == 0 {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range servers {
		if s.Remote.Transport != "" {
			continue // Listen serves it
		}
		b, err := json.Marshal(s)
		if err != nil {
			return err
		}
		link := filepath.Join(dir, fixtures.ServerCommand(s.Name))
		if err := errors.Join(os.WriteFile(link+".json", b, 0o644), os.Symlink(self, link)); err != nil {
			return err
		}
	}
	return nil
}

// Main runs the server if the program was started as one. args are the program's, with its
// name.
func Main(args []string) (handled bool, code int) {
	if !strings.HasPrefix(filepath.Base(args[0]), fixtures.ServerCommand("")) {
		return false, 0
	}
	if err := serve(args[0]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return true, 1
	}
	return true, 0
}

var (
	errBroken = errors.New("this server does not start")
	errDied   = errors.New("this server has exited")
)

func serve(name string) error {
	link, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(link + ".json")
	if err != nil {
		return err
	}
	var s fixtures.Server
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if err := startError(&s, os.Getenv); err != nil {
		return err
	}
	return New(&s).Run(context.Background(), &mcp.StdioTransport{})
}

// startError returns why a server exits before it writes anything, or nil.
func startError(s *fixtures.Server, getenv func(string) string) error {
	if s.Broken {
		return errBroken
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if getenv(name) != s.Env[name] {
			return fmt.Errorf("the variable %s is missing or wrong", name)
		}
	}
	return nil
}

// withoutRequests is the first version of the protocol in which a server cannot send
// requests to its client, and so cannot withdraw a question.
const withoutRequests = "2026-07-28"

// New makes a server of a scenario that runs in a process of its own.
func New(s *fixtures.Server) *mcp.Server {
	return newServer(s, world{
		make:  func(file string) error { return os.WriteFile(file, nil, 0o644) },
		await: awaitFile,
		die:   func() { os.Exit(1) },
	})
}

// world is what a server acts upon besides its client.
type world struct {
	make  func(file string) error
	await func(ctx context.Context, file string) error
	die   func()
}

func newServer(s *fixtures.Server, w world) *mcp.Server {
	var o mcp.ServerOptions
	if slices.ContainsFunc(s.Tools, func(t fixtures.Tool) bool { return t.Asks != nil && t.Asks.Until != "" }) {
		o.SupportedProtocolVersions = slices.DeleteFunc(mcp.SupportedProtocolVersions(), func(v string) bool { return v >= withoutRequests })
	}
	srv := mcp.NewServer(&mcp.Implementation{Name: s.Name, Version: "1"}, &o)
	for i := range s.Tools {
		t := &s.Tools[i]
		schema := t.Schema
		if schema == nil {
			schema = jsontext.Value(`{"type":"object"}`)
		}
		srv.AddTool(&mcp.Tool{
			Name: t.Name, Description: t.Description, InputSchema: schema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly},
		}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return w.callTool(ctx, t, req)
		})
	}
	return srv
}

func (w world) callTool(ctx context.Context, t *fixtures.Tool, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answer, asked := req.Params.InputResponses[question]
	switch {
	case t.Asks != nil && t.Asks.Until != "":
		if err := w.askUntil(ctx, t.Asks, req.Session); err != nil {
			return nil, err
		}
	case t.Asks != nil && !asked:
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{question: elicitParams(t.Asks)}}, nil
	}
	for i, text := range t.Progress {
		if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: req.Params.GetProgressToken(), Message: text, Progress: float64(i + 1), Total: float64(len(t.Progress)),
		}); err != nil {
			return nil, err
		}
	}
	if t.Makes != "" {
		if err := w.make(t.Makes); err != nil {
			return nil, err
		}
	}
	if t.Awaits != "" {
		if err := w.await(ctx, t.Awaits); err != nil {
			return nil, err
		}
	}
	if t.Dies {
		w.die()
		return nil, errDied
	}
	if t.Fail != "" {
		return nil, &jsonrpc.Error{Code: -32000, Message: t.Fail}
	}
	r := &mcp.CallToolResult{IsError: t.IsError, Content: []mcp.Content{}}
	if t.Structured != nil {
		r.StructuredContent = t.Structured
	}
	for _, c := range t.Result {
		if c.Image == "" {
			r.Content = append(r.Content, &mcp.TextContent{Text: c.Text})
			continue
		}
		data, err := base64.StdEncoding.DecodeString(c.Image)
		if err != nil {
			return nil, err
		}
		r.Content = append(r.Content, mediaContent(c, data))
	}
	if asked {
		text, err := answerText(answer)
		if err != nil {
			return nil, err
		}
		r.Content = append(r.Content, &mcp.TextContent{Text: text})
	}
	return r, nil
}

// mediaContent returns an image, a sound or an embedded resource.
func mediaContent(c fixtures.Content, data []byte) mcp.Content {
	mime := cmp.Or(c.MIME, "image/png")
	switch {
	case c.URI != "":
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: c.URI, MIMEType: mime, Blob: data}}
	case strings.HasPrefix(mime, "audio/"):
		return &mcp.AudioContent{Data: data, MIMEType: mime}
	}
	return &mcp.ImageContent{Data: data, MIMEType: mime}
}

// question is the id of a tool's question to the user.
const question = "q1"

// elicitParams is a question to the user. In the result of a call it asks the user
// first: the client then makes the call again, with the answer. The library asks clients
// of older protocols by a request instead.
func elicitParams(q *fixtures.Elicitation) *mcp.ElicitParams {
	p := &mcp.ElicitParams{Mode: "form", Message: q.Message}
	if q.URL != "" {
		p.Mode, p.URL, p.ElicitationID = "url", q.URL, "e1"
	} else {
		p.RequestedSchema = q.Schema
	}
	return p
}

// askUntil asks the user by a request, and cancels it when the file of the question
// exists. An answer that comes first is ignored.
func (w world) askUntil(ctx context.Context, q *fixtures.Elicitation, s *mcp.ServerSession) error {
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	awaited := make(chan error, 1)
	go func() {
		defer cancel()
		awaited <- w.await(asking, q.Until)
	}()
	_, err := s.Elicit(asking, elicitParams(q))
	if asking.Err() != nil && ctx.Err() == nil {
		return <-awaited
	}
	return err
}

// answerText is the user's answer as JSON.
func answerText(answer mcp.InputResponse) (string, error) {
	res, ok := answer.(*mcp.ElicitResult)
	if !ok {
		return "", fmt.Errorf("the answer is a %T", answer)
	}
	b, err := json.Marshal(struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content,omitempty"`
	}{res.Action, res.Content}, json.Deterministic(true))
	return string(b), err
}

// pollEvery is how often a server looks for the file that it waits for.
const pollEvery = 5 * time.Millisecond

func awaitFile(ctx context.Context, path string) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
