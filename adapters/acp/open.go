package acp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// liveSession is a session with the optional abilities of this runtime.
type liveSession struct {
	*session.Session
	c *client
}

var (
	_ adapters.Session     = liveSession{}
	_ adapters.Backlogger  = liveSession{}
	_ adapters.ModelSetter = liveSession{}
	_ adapters.ModeSetter  = liveSession{}
	_ adapters.Transcriber = Adapter{}
)

// Steer returns an error: the protocol has no such request.
func (s liveSession) Steer(context.Context, adapters.Message) error {
	return fmt.Errorf("steer: %w", adapters.ErrUnsupported)
}

// initializeParams are the parameters of initialize. Agents ask the user with a form only if
// the client offers that.
type initializeParams struct {
	ProtocolVersion int                `json:"protocolVersion"`
	Capabilities    clientCapabilities `json:"clientCapabilities"`
	Info            clientInfo         `json:"clientInfo"`
}

type clientCapabilities struct {
	FS struct {
		Read  bool `json:"readTextFile"`
		Write bool `json:"writeTextFile"`
	} `json:"fs"`
	Terminal    bool `json:"terminal"`
	Elicitation struct {
		Form struct{} `json:"form"`
	} `json:"elicitation"`
}

type clientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// openParams are the parameters of a request that opens a session.
type openParams struct {
	SessionID string      `json:"sessionId,omitempty"`
	Cwd       string      `json:"cwd"`
	Servers   []mcpServer `json:"mcpServers"`
	Dirs      []string    `json:"additionalDirectories,omitempty"`
}

// mcpServer is a server over stdio, or over HTTP if it has a type.
type mcpServer struct {
	Type    string       `json:"type,omitempty"`
	Name    string       `json:"name"`
	Command string       `json:"command,omitempty"`
	Args    []string     `json:"args,omitzero"`
	Env     []namedValue `json:"env,omitzero"`
	URL     string       `json:"url,omitempty"`
	Headers []namedValue `json:"headers,omitzero"`
}

// namedValue is a variable or a header.
type namedValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Start implements session.Protocol: initialize, the session, its settings.
func (c *client) Start() {
	p := initializeParams{ProtocolVersion: 1, Info: clientInfo{"turnspec", "1"}}
	p.Capabilities.FS.Read, p.Capabilities.FS.Write, p.Capabilities.Terminal = c.offered.Files, c.offered.Files, c.offered.Terminals
	c.send("initialize", p, true, func(v jsontext.Value, err error) {
		c.info = lenient.Decode[initResult](v)
		c.t.agent = agentOf(&c.info)
		if err == nil && c.info.ProtocolVersion != 1 {
			err = fmt.Errorf("initialize: the agent speaks version %v of the protocol, this adapter speaks version 1", c.info.ProtocolVersion)
		}
		if err != nil {
			c.openFailed("handshake", err)
			return
		}
		c.openSession()
	})
}

// openSession sends the request that opens the session. What an agent replays of a session
// that it loads is history.
func (c *client) openSession() {
	p := openParams{SessionID: c.o.Resume, Cwd: c.dir, Servers: servers(c.o.MCP), Dirs: c.o.ExtraDirs}
	method := "session/new"
	_, resumes := c.info.Capabilities.Session["resume"]
	_, forks := c.info.Capabilities.Session["fork"]
	if err := c.checkServers(); err != nil {
		c.openFailed("mcp", err)
		return
	}
	_, addsDirs := c.info.Capabilities.Session["additionalDirectories"]
	switch {
	case len(c.o.ExtraDirs) > 0 && !addsDirs:
		c.openFailed("extra dirs", fmt.Errorf("extra dirs: the agent takes none: %w", adapters.ErrUnsupported))
		return
	case c.o.Fork && !forks:
		c.openFailed("fork", fmt.Errorf("fork: %w", adapters.ErrUnsupported))
		return
	case c.o.Fork:
		method = "session/fork"
	case c.o.Resume == "":
	case lenient.IsTrue(c.info.Capabilities.LoadSession):
		method = "session/load"
	case resumes:
		method = "session/resume"
	default:
		c.openFailed("resume", fmt.Errorf("resume: %w", adapters.ErrUnsupported))
		return
	}
	c.send(method, p, true, func(v jsontext.Value, err error) {
		if err != nil {
			c.openFailed(method[len("session/"):], err)
			return
		}
		r := lenient.Decode[openResult](v)
		id := string(r.SessionID)
		if p.SessionID != "" && !c.o.Fork {
			id = p.SessionID
		}
		if id == "" {
			c.openFailed("handshake", fmt.Errorf("%s: the reply names no session", method))
			return
		}
		for _, m := range r.Modes.Available {
			c.modes = append(c.modes, string(m.ID))
		}
		if err := c.checkPermissions(); err != nil {
			c.openFailed("mode", err)
			return
		}
		c.t.sessionOpened(id, r)
		c.option = modeOptionOf(r.ConfigOptions)
		if c.effort = optionOf(r.ConfigOptions, "thought_level"); c.effort == "" && c.o.Effort != "" {
			c.openFailed("effort", fmt.Errorf("effort: the agent has no option for it: %w", adapters.ErrUnsupported))
			return
		}
		c.applySettings(c.settings())
	})
}

func servers(list []adapters.MCPServer) []mcpServer {
	out := make([]mcpServer, 0, len(list))
	for _, s := range list {
		if s.URL != "" {
			out = append(out, mcpServer{Type: transportOf(s), Name: s.Name, URL: s.URL, Headers: namedValues(s.Headers)})
			continue
		}
		out = append(out, mcpServer{Name: s.Name, Command: s.Command, Args: append([]string{}, s.Args...), Env: namedValues(s.Env)})
	}
	return out
}

// transportOf names how an agent reaches a server that runs already.
func transportOf(s adapters.MCPServer) string {
	if s.SSE {
		return "sse"
	}
	return "http"
}

func namedValues(values map[string]string) []namedValue {
	out := []namedValue{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, namedValue{name, values[name]})
	}
	return out
}

// checkServers returns an error for a server that the agent cannot reach.
func (c *client) checkServers() error {
	for _, s := range c.o.MCP {
		if s.URL == "" && c.t.agent.reachesURLsOnly {
			return fmt.Errorf("mcp: server %s: the agent takes servers over HTTP alone: %w", s.Name, adapters.ErrUnsupported)
		}
		if t := transportOf(s); s.URL != "" && !lenient.IsTrue(c.info.Capabilities.MCP[t]) {
			return fmt.Errorf("mcp: server %s: the agent does not support %s: %w", s.Name, t, adapters.ErrUnsupported)
		}
	}
	return nil
}

// openFailed ends the opening with an error.
func (c *client) openFailed(op string, err error) {
	if refused, ok := errors.AsType[rpcError](err); ok && refused.Code == codeAuthRequired {
		c.host.Ready(&adapters.OpenError{Code: event.ErrorAuth, Op: op, Err: err})
		return
	}
	session.FailOpen(c.host, op, err)
}

// setting is a request that follows the opening.
type setting struct {
	name   string
	method string
	params any
}

// settings are the requests for what the caller has chosen.
func (c *client) settings() (out []setting) {
	for _, name := range slices.Sorted(maps.Keys(c.o.Config)) {
		out = append(out, setting{"config " + name, "session/set_config_option", configParams{c.t.session, name, c.o.Config[name]}})
	}
	if c.o.Model != "" {
		out = append(out, setting{"model", "session/set_config_option", configParams{c.t.session, "model", c.o.Model}})
	}
	if c.o.Effort != "" {
		out = append(out, setting{"effort", "session/set_config_option", configParams{c.t.session, c.effort, c.o.Effort}})
	}
	switch {
	case c.hasByOption(c.o.Mode):
		out = append(out, setting{"mode", "session/set_config_option", configParams{c.t.session, c.option.id, c.option.on}})
	case c.o.Mode != "":
		id, _ := c.modeID(c.o.Mode) // opencode was started for the mode
		if id != c.t.mode {
			out = append(out, setting{"mode", "session/set_mode", modeParams{c.t.session, id}})
		}
	}
	return out
}

type configParams struct {
	SessionID string `json:"sessionId"`
	ConfigID  string `json:"configId"`
	Value     string `json:"value"`
}

type modeParams struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
}

// applySettings sends the requests one after the other. The session is ready when the last
// has its reply.
func (c *client) applySettings(list []setting) {
	if len(list) == 0 {
		c.ready()
		return
	}
	s := list[0]
	c.send(s.method, s.params, true, func(v jsontext.Value, err error) {
		if err != nil {
			c.openFailed(s.name, fmt.Errorf("%s: %w", s.name, err))
			return
		}
		if p, ok := s.params.(modeParams); ok {
			c.t.mode = p.ModeID
		}
		if p, ok := s.params.(configParams); ok && c.option.id != "" && p.ConfigID == c.option.id {
			c.t.switched = p.Value == c.option.on
		}
		c.t.configChanged(lenient.Decode[openResult](v).ConfigOptions)
		c.applySettings(list[1:])
	})
}

func (c *client) ready() {
	d := event.SessionReady{
		Runtime: runtimeName, RuntimeVersion: c.info.version(), ProviderSessionID: c.t.session,
		Model: c.t.model, Mode: c.t.modeInForce(),
	}
	if c.o.Fork {
		d.ForkedFrom = c.o.Resume
	} else {
		d.Resumed = c.o.Resume != ""
	}
	c.t.ready, c.t.shownMode = true, c.t.modeInForce()
	c.host.Ledger().SessionReady(d)
	c.host.Ready(nil)
}
